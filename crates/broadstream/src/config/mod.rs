//! The options of a model: what each may be, its default, the presets, and their form in JSON.

mod class_weight;
mod feature_options;
mod forgetting;
mod json;
mod online_bls;
mod ridge;

pub(crate) use self::online_bls::check;
pub use self::{
    class_weight::ClassWeight,
    feature_options::{EnhancementSource, WeightScale},
    forgetting::Forgetting,
    online_bls::OnlineBlsConfig,
    ridge::Ridge,
};
