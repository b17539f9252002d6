//! Options that only baselines have.

use clap::Args;

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of single baselines")]
pub(crate) struct BaselineArguments {
    /// Up to which share of its features a sample counts as nothing new to i-bls [default: 1e-5]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) zero_tolerance: Option<f64>,

    /// How strongly bls-cil draws successive samples of different classes apart [default: 0.1]
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    pub(crate) separation: Option<f64>,

    /// How strongly bls-cil draws successive samples of one class together [default: 0.1]
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    pub(crate) compactness: Option<f64>,

    /// The largest step of passive-aggressive [default: 1]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) aggressiveness: Option<f64>,

    /// Hidden layers of a network [default: 2 in multilayer-perceptron, 20 in
    /// hedge-backpropagation]
    #[arg(long, value_name = "N")]
    pub(crate) hidden_layers: Option<usize>,

    /// Nodes per hidden layer [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) hidden_nodes: Option<usize>,

    /// The length of a network's gradient steps [default: 0.01]
    #[arg(long, value_name = "ETA", allow_negative_numbers = true)]
    pub(crate) learning_rate: Option<f64>,

    /// What hedge-backpropagation leaves of a classifier's share after a loss of 1 [default: 0.99]
    #[arg(long, value_name = "BETA", allow_negative_numbers = true)]
    pub(crate) discount: Option<f64>,

    /// How much of its share each classifier of hedge-backpropagation keeps [default: 0.2]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) smoothing: Option<f64>,
}
