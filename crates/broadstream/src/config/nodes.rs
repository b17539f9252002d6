//! How many enhancement nodes a model has.

use std::fmt;

/// The number of nodes per enhancement group.
///
/// ```
/// use broadstream::{Nodes, OnlineBls, OnlineBlsConfig};
///
/// assert_eq!(OnlineBlsConfig::single().enhancement_nodes, Nodes::Fixed(1000));
/// assert_eq!(OnlineBlsConfig::default().enhancement_nodes, Nodes::Auto);
/// let model = OnlineBls::new(OnlineBlsConfig::default())?;
/// assert_eq!(model.features(), 1100, "as it begins");
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nodes {
    /// As many as pay. The model begins with a thousand nodes. It compares what its predictions
    /// would lose without the second half of a regression's nodes: if that is much, their number is
    /// doubled, up to [`most_nodes`](crate::OnlineBlsConfig::most_nodes), and if it is next to
    /// nothing, it is halved. Regressions that contribute nothing rest. Nodes drawn from pairs of
    /// the stream's first samples are tried beside random ones.
    ///
    /// A model cannot choose without stacking, with a window, with kept weights, with corrected
    /// gains, with several enhancement groups or if the nodes see the feature nodes. It then has
    /// 2000 nodes, or `most_nodes` if these are fewer.
    Auto,
    /// This many random nodes.
    Fixed(usize),
}

impl Nodes {
    /// The number of nodes, if one was given.
    pub fn fixed(self) -> Option<usize> {
        match self {
            Nodes::Auto => None,
            Nodes::Fixed(nodes) => Some(nodes),
        }
    }
}

impl fmt::Display for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Nodes::Auto => f.write_str("auto"),
            Nodes::Fixed(nodes) => nodes.fmt(f),
        }
    }
}
