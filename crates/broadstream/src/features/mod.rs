//! From scaled inputs to broad features: the random map, the labels before a sample that may join its
//! inputs, and the whole way from a sample to its features.

mod broad_features;
mod draw;
mod labels;
mod layer;
mod map;
mod recent_labels;

pub(crate) use self::{
    broad_features::{BroadFeatures, Prepared},
    map::{FeatureMap, Features, Shape},
    recent_labels::RecentLabels,
};
