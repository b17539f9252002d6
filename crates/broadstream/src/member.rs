//! A part of a model that combines several.

/// One of the parts whose predictions a model combines, and what it is worth now.
///
/// ```
/// use broadstream::{Classifier, OnlineBls, OnlineBlsConfig};
///
/// let model = OnlineBls::new(OnlineBlsConfig::single())?;
/// let members = model.members();
/// assert_eq!(members[0].name, "100 features");
/// assert_eq!(members[0].weight, 0.2);
/// assert_eq!(members.len(), 5);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// What it is called; no two members of a model share a name.
    pub name: String,
    /// Its share in the average of predictions, by recent error; stacking starts from that average.
    /// Those of all members sum to 1.
    pub weight: f64,
}
