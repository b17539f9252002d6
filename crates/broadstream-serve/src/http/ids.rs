//! Prediction ids as text.

use crate::learning::Model;

/// The id of a prediction of a model.
pub(crate) fn write(model: &Model, id: u64) -> String {
    format!("{:08x}-{id:x}", model.rules.incarnation)
}

/// The number of an id; 0, which no prediction has, if it is not one of this model.
pub(crate) fn read(model: &Model, text: &str) -> u64 {
    let number = || {
        let (incarnation, id) = text.split_once('-')?;
        let is_own = incarnation == format!("{:08x}", model.rules.incarnation);
        u64::from_str_radix(id, 16).ok().filter(|_| is_own && !id.starts_with('+'))
    };
    number().unwrap_or(0)
}
