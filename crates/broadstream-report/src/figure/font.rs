//! The font of figures. It is embedded in the crate, so that text has the same width everywhere.

use skrifa::{FontRef, MetadataProvider, instance::LocationRef, instance::Size};

pub(crate) const REGULAR: &[u8] = include_bytes!("../../fonts/Inter-Regular.otf");
pub(crate) const SEMI_BOLD: &[u8] = include_bytes!("../../fonts/Inter-SemiBold.otf");

/// The font's name, and fallbacks for viewers without it, all of which are narrower.
pub(crate) const FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// The width of a text in pixels.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let bytes = if bold { SEMI_BOLD } else { REGULAR };
    let Ok(font) = FontRef::new(bytes) else { return 0.6 * size * text.chars().count() as f64 };
    let metrics = font.glyph_metrics(Size::new(size as f32), LocationRef::default());
    let characters = font.charmap();
    text.chars()
        .map(|character| {
            let glyph = characters.map(character);
            // A character that the font lacks comes from a fallback, and is rarely wider than this.
            glyph.and_then(|glyph| metrics.advance_width(glyph)).map_or(size, f64::from)
        })
        .sum()
}

/// The text, shortened with an ellipsis if it is wider than allowed.
pub(crate) fn fitted(text: &str, size: f64, bold: bool, allowed: f64) -> String {
    if width(text, size, bold) <= allowed {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().take(400).collect();
    while kept.pop().is_some() {
        let cut = format!("{}…", kept.iter().collect::<String>().trim_end());
        if width(&cut, size, bold) <= allowed {
            return cut;
        }
    }
    "…".to_owned()
}
