//! From scaled inputs to broad features: the random map, earlier labels as further inputs, and the
//! whole path from a sample to its features.

mod broad_features;
mod coded_columns;
mod draw;
mod label_inputs;
mod layer;
mod left_out;
mod map;
mod node_kind;
mod prepared_sample;
mod recent_labels;
mod sampled_nodes;

pub use self::prepared_sample::PreparedSample;

pub(crate) use self::{
    broad_features::BroadFeatures,
    left_out::SampleColumns,
    map::{FeatureMap, Features, Shape},
    node_kind::{NodeKind, RowLayout},
    recent_labels::RecentLabels,
};
