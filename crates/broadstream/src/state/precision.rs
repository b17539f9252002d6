//! In which precision the large arrays of a state are kept.

/// How precisely a model file stores what regressions have learned.
///
/// The triangles of the regressions and their right-hand sides are most of a file. In single
/// precision they take half the bytes, and what can be computed from them is left out. The random
/// weights of the features are never rounded.
///
/// ```
/// use broadstream::{
///     Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample, Schema,
///     model_file::{self, ModelFile, Precision},
/// };
///
/// let mut model = OnlineBls::new(OnlineBlsConfig { seed: 1, ..OnlineBlsConfig::default() })?;
/// model.declare_input("x", InputKind::Numeric)?;
/// model.learn_one(Sample::dense(&[0.5]), 0, 1.0)?;
///
/// let (schema, mut exact, mut small) = (Schema::new("y"), Vec::new(), Vec::new());
/// let file = ModelFile::new(&model, &schema);
/// file.write(&mut exact)?;
/// ModelFile { precision: Precision::Single, ..file }.write(&mut small)?;
/// assert!(small.len() < exact.len());
/// assert_eq!(model_file::read(&mut small.as_slice())?.model.precision(), Precision::Single);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// All 16 digits: the model continues to the bit.
    #[default]
    Double,
    /// Seven digits. The model that is read predicts nearly the same and learns on, but it is not
    /// the model that was saved: what needs an exact one, such as merging and unlearning, is refused.
    Single,
}
