//! From scaled inputs to broad features: the random map, earlier labels as further inputs, and the
//! whole path from a sample to its features.

mod broad_features;
mod draw;
mod label_inputs;
mod layer;
mod map;
mod recent_labels;

pub(crate) use self::{
    broad_features::{BroadFeatures, PreparedSample},
    map::{FeatureMap, Features, Shape},
    recent_labels::RecentLabels,
};
