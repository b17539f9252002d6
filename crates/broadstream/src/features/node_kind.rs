//! Where the weights of enhancement nodes come from.

/// A kind of enhancement nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NodeKind {
    /// Random weights of the inputs.
    #[default]
    Random,
    /// The difference of two samples of the stream.
    Sampled,
    /// The difference of two samples in a few of their inputs.
    SampledFew,
    /// Random weights of the inputs, in which columns of codes are categories.
    Coded,
}

impl NodeKind {
    /// All kinds, in the order of their nodes in a row of features.
    pub(crate) const ALL: [NodeKind; 4] =
        [NodeKind::Random, NodeKind::Sampled, NodeKind::SampledFew, NodeKind::Coded];

    /// Its place in [`ALL`](Self::ALL), which is also its number in model files.
    pub(crate) fn index(self) -> usize {
        self as usize
    }

    /// What people call nodes of this kind.
    pub(crate) fn name(self) -> &'static str {
        match self {
            NodeKind::Random => "random nodes",
            NodeKind::Sampled => "sampled nodes",
            NodeKind::SampledFew => "sampled nodes on few inputs",
            NodeKind::Coded => "nodes on codes",
        }
    }
}

/// Which features a row holds: first the linear nodes, and then the nodes of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowLayout {
    pub(crate) linear: usize,
    /// The number of nodes of each kind.
    pub(crate) nodes: [usize; NodeKind::ALL.len()],
}

impl RowLayout {
    /// The number of features in a row.
    pub(crate) fn len(&self) -> usize {
        self.linear + self.nodes.iter().sum::<usize>()
    }

    /// Where the nodes of a kind start.
    pub(crate) fn start(&self, kind: NodeKind) -> usize {
        self.linear + self.nodes[..kind.index()].iter().sum::<usize>()
    }

    /// Appends to `out` the linear nodes of a row and the first nodes of a kind, `features` in all.
    pub(crate) fn gather(&self, row: &[f64], kind: NodeKind, features: usize, out: &mut Vec<f64>) {
        let linear = self.linear.min(features);
        out.extend_from_slice(&row[..linear]);
        out.extend_from_slice(&row[self.start(kind)..][..features - linear]);
    }

    /// Whether the first `features` features of a row are the linear nodes and nodes of that kind.
    pub(crate) fn starts_with(&self, kind: NodeKind, features: usize) -> bool {
        features <= self.linear
            || self.start(kind) == self.linear && features <= self.linear + self.nodes[kind.index()]
    }
}
