//! The options of a model, each defined once, the presets, and the one way from both to a
//! configuration.

mod bytes;
mod choice;
mod class_weight;
mod feature_options;
mod forgetting;
mod nodes;
mod objective;
mod online_bls;
mod options;
mod preset;
mod resolve;
mod ridge;
mod scaling;

pub(crate) use self::online_bls::check;
pub use self::{
    bytes::parse_bytes,
    choice::Named,
    class_weight::ClassWeight,
    feature_options::{EnhancementSource, WeightScale},
    forgetting::Forgetting,
    nodes::Nodes,
    online_bls::OnlineBlsConfig,
    options::{ConfigOption, Scope, Topic, Values},
    preset::Preset,
    ridge::Ridge,
};
