// Eigen behind a C interface: a Cholesky factor that learns a sample and solves for one vector.

#include <Eigen/Cholesky>
#include <Eigen/Core>

namespace {

using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

struct Peer {
    Eigen::LLT<Eigen::MatrixXd> factor;
};

}  // namespace

extern "C" {

// The factor of ridge * I.
Peer *eigen_new(std::ptrdiff_t order, double ridge) {
    return new Peer{Eigen::LLT<Eigen::MatrixXd>(ridge * Eigen::MatrixXd::Identity(order, order))};
}

// The factor becomes that of K + a a^T, then x becomes K^-1 x.
void eigen_learn_and_solve(Peer *peer, const double *a, double *x) {
    const Eigen::Index order = peer->factor.rows();
    peer->factor.rankUpdate(ConstVector(a, order), 1.0);
    Vector solution(x, order);
    peer->factor.solveInPlace(solution);
}

void eigen_delete(Peer *peer) { delete peer; }

// World, major and minor version as one number.
int eigen_version() {
    return EIGEN_WORLD_VERSION * 10000 + EIGEN_MAJOR_VERSION * 100 + EIGEN_MINOR_VERSION;
}
}
