//! The experiments that come with the program: those of the paper, and measurements of the default model.

/// Names and declarations: first those of the paper, in its order.
pub(crate) const EXPERIMENTS: &[(&str, &str)] = &[
    ("table2", include_str!("../../../../../experiments/table2.toml")),
    ("fig1", include_str!("../../../../../experiments/fig1.toml")),
    ("fig2", include_str!("../../../../../experiments/fig2.toml")),
    ("fig3", include_str!("../../../../../experiments/fig3.toml")),
    ("tables3-6", include_str!("../../../../../experiments/tables3-6.toml")),
    ("fig4", include_str!("../../../../../experiments/fig4.toml")),
    ("ablation", include_str!("../../../../../experiments/ablation.toml")),
    ("complexity", include_str!("../../../../../experiments/complexity.toml")),
    ("stability", include_str!("../../../../../experiments/stability.toml")),
    ("accuracy", include_str!("../../../../../experiments/accuracy.toml")),
    ("parts", include_str!("../../../../../experiments/parts.toml")),
    ("decisions", include_str!("../../../../../experiments/decisions.toml")),
];

/// The text of the declaration with that name.
pub(crate) fn find(name: &str) -> Option<&'static str> {
    EXPERIMENTS.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::experiment::declaration::Declaration;

    #[test]
    fn all_can_be_read() {
        for (name, text) in EXPERIMENTS {
            let declaration = Declaration::parse(text, name).unwrap();
            assert!(!declaration.views.is_empty(), "{name} shows nothing");
            assert!(!declaration.description.is_empty(), "{name} says nothing");
        }
    }
}
