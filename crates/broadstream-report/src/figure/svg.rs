//! Writes SVG. Numbers are rounded to a hundredth of a pixel, and text is escaped.

use crate::{
    escape::xml,
    figure::{font, style::BACKGROUND},
};

/// The style of a line.
#[derive(Clone, Copy)]
pub(crate) struct Pen<'a> {
    pub(crate) colour: &'a str,
    pub(crate) width: f64,
    pub(crate) dash: &'a str,
}

impl<'a> Pen<'a> {
    pub(crate) fn new(colour: &'a str, width: f64) -> Pen<'a> {
        Pen { colour, width, dash: "" }
    }

    fn attributes(self) -> String {
        let dash = if self.dash.is_empty() {
            String::new()
        } else {
            format!(" stroke-dasharray=\"{}\"", self.dash)
        };
        format!("stroke=\"{}\" stroke-width=\"{}\"{dash}", self.colour, short(self.width))
    }
}

/// The alignment of a text relative to its point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Start,
    Middle,
    End,
}

/// The style of a text. Its point is at the middle of the letters' height.
#[derive(Clone, Copy)]
pub(crate) struct TextStyle<'a> {
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) colour: &'a str,
    pub(crate) align: Align,
    /// Whether the text reads from bottom to top.
    pub(crate) vertical: bool,
}

/// An SVG document. Elements are drawn on top of earlier ones.
pub(crate) struct Svg {
    /// The prefix of ids, which makes them unique on a page.
    name: String,
    width: f64,
    height: f64,
    definitions: String,
    body: String,
}

impl Svg {
    pub(crate) fn new(name: &str, width: f64, height: f64) -> Svg {
        Svg {
            name: name.to_owned(),
            width,
            height,
            definitions: String::new(),
            body: String::new(),
        }
    }

    pub(crate) fn line(&mut self, from: (f64, f64), to: (f64, f64), pen: Pen) {
        self.body += &format!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" {}/>\n",
            short(from.0),
            short(from.1),
            short(to.0),
            short(to.1),
            pen.attributes()
        );
    }

    pub(crate) fn polyline(&mut self, points: &[(f64, f64)], pen: Pen) {
        self.body += &format!(
            "<polyline points=\"{}\" fill=\"none\" stroke-linejoin=\"round\" {}/>\n",
            coordinates(points),
            pen.attributes()
        );
    }

    pub(crate) fn polygon(
        &mut self,
        points: &[(f64, f64)],
        fill: &str,
        opacity: f64,
        pen: Option<Pen>,
    ) {
        let opacity = if opacity < 1.0 {
            format!(" fill-opacity=\"{}\"", short(opacity))
        } else {
            String::new()
        };
        let stroke = pen.map_or(String::new(), |pen| format!(" {}", pen.attributes()));
        self.body += &format!(
            "<polygon points=\"{}\" fill=\"{fill}\"{opacity}{stroke}/>\n",
            coordinates(points)
        );
    }

    pub(crate) fn rectangle(
        &mut self,
        corner: (f64, f64),
        size: (f64, f64),
        fill: &str,
        pen: Option<Pen>,
    ) {
        let stroke = pen.map_or(String::new(), |pen| format!(" {}", pen.attributes()));
        self.body += &format!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\"{stroke}/>\n",
            short(corner.0),
            short(corner.1),
            short(size.0.max(0.0)),
            short(size.1.max(0.0))
        );
    }

    pub(crate) fn circle(&mut self, centre: (f64, f64), radius: f64, fill: &str, pen: Option<Pen>) {
        let stroke = pen.map_or(String::new(), |pen| format!(" {}", pen.attributes()));
        self.body += &format!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{fill}\"{stroke}/>\n",
            short(centre.0),
            short(centre.1),
            short(radius)
        );
    }

    pub(crate) fn text(&mut self, at: (f64, f64), text: &str, style: TextStyle) {
        let anchor = match style.align {
            Align::Start => "",
            Align::Middle => " text-anchor=\"middle\"",
            Align::End => " text-anchor=\"end\"",
        };
        let weight = if style.bold { " font-weight=\"600\"" } else { "" };
        // The font's digits are 0.73 em high, so their middle is this far above the baseline.
        let drop = 0.363 * style.size;
        let (x, y, turn) = if style.vertical {
            let turn = format!(" transform=\"rotate(-90 {} {})\"", short(at.0 + drop), short(at.1));
            (at.0 + drop, at.1, turn)
        } else {
            (at.0, at.1 + drop, String::new())
        };
        self.body += &format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{anchor}{weight}{turn}>{}</text>\n",
            short(x),
            short(y),
            short(style.size),
            style.colour,
            xml(text)
        );
    }

    /// Defines a pattern; returns the value for `fill`.
    pub(crate) fn pattern(&mut self, id: &str, side: f64, content: &str) -> String {
        let id = format!("{}-{id}", self.name);
        if !self.definitions.contains(&format!("\"{id}\"")) {
            self.definitions += &format!(
                "<pattern id=\"{id}\" width=\"{side}\" height=\"{side}\" \
                 patternUnits=\"userSpaceOnUse\">{content}</pattern>\n",
                side = short(side)
            );
        }
        format!("url(#{id})")
    }

    /// Returns the document. Screen readers read the title and the description.
    pub(crate) fn finish(self, title: &str, description: &str) -> String {
        let (width, height) = (short(self.width), short(self.height));
        let definitions = if self.definitions.is_empty() {
            String::new()
        } else {
            format!("<defs>\n{}</defs>\n", self.definitions)
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{}\" role=\"img\" \
             aria-labelledby=\"{name}-title {name}-description\">\n\
             <title id=\"{name}-title\">{}</title>\n<desc id=\"{name}-description\">{}</desc>\n\
             {definitions}<rect width=\"{width}\" height=\"{height}\" fill=\"{BACKGROUND}\"/>\n{}</svg>\n",
            font::FAMILY,
            xml(title),
            xml(description),
            self.body,
            name = self.name,
        )
    }
}

fn coordinates(points: &[(f64, f64)]) -> String {
    let pairs: Vec<String> =
        points.iter().map(|(x, y)| format!("{},{}", short(*x), short(*y))).collect();
    pairs.join(" ")
}

/// A number with at most two decimals. Values that are not finite become 0, since SVG cannot represent
/// them.
fn short(value: f64) -> String {
    let rounded = (value * 100.0).round() / 100.0;
    if rounded.is_finite() && rounded != 0.0 { rounded.to_string() } else { "0".to_owned() }
}
