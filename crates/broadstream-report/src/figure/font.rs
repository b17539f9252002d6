//! The font of figures. It is embedded in the crate, so that text has the same width everywhere.

use ttf_parser::Face;

pub(crate) const REGULAR: &[u8] = include_bytes!("../../fonts/Inter-Regular.otf");
pub(crate) const SEMI_BOLD: &[u8] = include_bytes!("../../fonts/Inter-SemiBold.otf");

/// The name of the font, and what a viewer without it may take: all of them are narrower.
pub(crate) const FAMILY: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";

/// The width of a text in pixels.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    let bytes = if bold { SEMI_BOLD } else { REGULAR };
    let Ok(face) = Face::parse(bytes, 0) else { return 0.6 * size * text.chars().count() as f64 };
    text.chars()
        .map(|character| {
            let glyph = face.glyph_index(character);
            // A character that the font lacks comes from another one, and is rarely wider than this.
            glyph
                .and_then(|glyph| face.glyph_hor_advance(glyph))
                .map_or(size, |advance| scaled(advance, size, face.units_per_em()))
        })
        .sum()
}

/// The advance of a glyph in pixels, rounded as FreeType does: to a 65536th of a pixel, by a scale that is
/// rounded before.
fn scaled(advance: u16, size: f64, units_per_em: u16) -> f64 {
    let (advance, units_per_em) = (i64::from(advance), i64::from(units_per_em));
    let rounded = |numerator: i64, denominator: i64| (numerator + denominator / 2) / denominator;
    let scale = rounded((size * 64.0) as i64 * 65536, units_per_em);
    rounded(scale * advance, 64) as f64 / 65536.0
}

/// The text, cut with an ellipsis if it is wider than allowed.
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
