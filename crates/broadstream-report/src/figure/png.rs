//! Converts SVG to PNG.

use std::sync::{Arc, OnceLock};

use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};

use crate::{error::Error, figure::font};

/// The number of pixels per unit of the SVG.
const SCALE: f32 = 2.0;

/// Renders a figure as PNG at twice its nominal size.
pub(crate) fn png(name: &str, svg: &str) -> Result<Vec<u8>, Error> {
    let failed = |reason: String| Error::Png { figure: name.to_owned(), reason };
    let options =
        Options { fontdb: fonts(), font_family: "Inter".to_owned(), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|error| failed(error.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil(), (size.height() * SCALE).ceil());
    let mut pixels = Pixmap::new(width as u32, height as u32)
        .ok_or_else(|| failed(format!("{width} × {height} pixels are too many")))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(error.to_string()))
}

fn fonts() -> Arc<Database> {
    static FONTS: OnceLock<Arc<Database>> = OnceLock::new();
    FONTS
        .get_or_init(|| {
            let mut database = Database::new();
            database.load_font_data(font::REGULAR.to_vec());
            database.load_font_data(font::SEMI_BOLD.to_vec());
            database.set_sans_serif_family("Inter");
            Arc::new(database)
        })
        .clone()
}
