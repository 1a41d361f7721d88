//! Defines the shared parts of charts: placeholder colors, axes, and the frame that embeds a drawing in the page.
//!
//! Drawings are SVG with a fixed coordinate system that the page scales to the width of a card. Colors are placeholders, one per role; the
//! style sheet defines each for light and dark mode.

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::text::plain;
use dupsift_core::error::{Error, Result};

/// The color of text.
pub(crate) const INK: RGBColor = RGBColor(1, 1, 1);
/// The color of axes and their labels.
pub(crate) const MUTED: RGBColor = RGBColor(2, 2, 2);
/// The color of grid lines.
pub(crate) const GRID: RGBColor = RGBColor(3, 3, 3);
/// The color of the first data series.
pub(crate) const FIRST: RGBColor = RGBColor(4, 4, 4);
/// The color of the second data series.
pub(crate) const SECOND: RGBColor = RGBColor(5, 5, 5);

/// A drawing area.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
/// The result of drawing.
pub(crate) type Drawn = std::result::Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The size of a small chart, several of which are placed side by side.
pub(crate) const SMALL: (u32, u32) = (480, 230);
/// The size of a chart that has a row of its own.
pub(crate) const LARGE: (u32, u32) = (1080, 560);

/// Returns the font size for a chart of this size, so that letters look equally large in all charts on the page.
pub(crate) fn letters(size: (u32, u32)) -> i32 {
    if size.0 > SMALL.0 { 24 } else { 19 }
}

/// Returns the style of axis labels.
pub(crate) fn label_style<'a>(size: (u32, u32)) -> TextStyle<'a> {
    ("sans-serif", letters(size)).into_font().color(&MUTED)
}

/// Returns the style of text that begins or ends at a given point.
pub(crate) fn words<'a>(size: (u32, u32), at_end: bool) -> TextStyle<'a> {
    let place = Pos::new(if at_end { HPos::Right } else { HPos::Left }, VPos::Center);
    ("sans-serif", letters(size)).into_font().color(&INK).pos(place)
}

/// Draws a figure, with a title and a description for accessibility. `name` must be unique on the page.
///
/// # Errors
/// Returns [`Error::Table`] if the drawing fails.
pub(crate) fn figure(
    name: &str,
    title: &str,
    description: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Drawn,
) -> Result<Markup> {
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
    let drawn = draw(&area).and_then(|()| area.present());
    drop(area);
    drawn.map_err(Error::table("draw a chart"))?;
    // The opening tag from the library has a width in pixels and a namespace, which the page does not need.
    let inner = svg.split_once('>').map_or("", |(_, rest)| rest);
    let inner = inner.trim_end().strip_suffix("</svg>").unwrap_or(inner);
    Ok(html! {
        svg viewBox={ "0 0 " (size.0) " " (size.1) } role="img" aria-labelledby={ (name) "-title " (name) "-desc" } {
            title id={ (name) "-title" } { (plain(title)) }
            desc id={ (name) "-desc" } { (plain(description)) }
            (PreEscaped(inner))
        }
    })
}

/// Formats a count briefly enough for a label: `950`, `1.2k`, `3M`.
pub(crate) fn short(count: f64) -> String {
    let scaled = |value: f64, unit: &str| {
        let tenths = (value * 10.0).round() as u64;
        let digits = usize::from(value < 10.0 && !tenths.is_multiple_of(10));
        format!("{value:.digits$}{unit}")
    };
    match count {
        small if small < 1.0 => String::new(),
        count if count < 1e3 => format!("{count:.0}"),
        count if count < 1e6 => scaled(count / 1e3, "k"),
        count if count < 1e9 => scaled(count / 1e6, "M"),
        count => scaled(count / 1e9, "G"),
    }
}

/// Returns the top of a logarithmic axis of counts, with some space above the largest count.
pub(crate) fn top(most: u64) -> f64 {
    (most.max(1) as f64 * 2.0).max(12.0)
}

/// The base of bars on a logarithmic axis. The base is so low that a bar of height 1 is visible.
pub(crate) const FLOOR: f64 = 0.6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_stands_in_the_page_without_a_word_of_the_network() {
        let draw = |area: &Area<'_>| area.draw(&Rectangle::new([(0, 0), (9, 9)], FIRST.filled()));
        let markup = figure("f", "a < b", "all of it", SMALL, draw).unwrap().into_string();
        assert!(
            markup.starts_with("<svg viewBox=\"0 0 480 230\" role=\"img\"") && markup.ends_with("</svg>"),
            "{markup}"
        );
        assert!(markup.contains("<title id=\"f-title\">a &lt; b</title>") && markup.contains("fill=\"#040404\""));
        assert!(!markup.contains("http") && markup.matches("<svg").count() == 1);
    }

    #[test]
    fn counts_are_short() {
        let counts = [0.5, 1.0, 999.0, 1000.0, 1234.0, 45_678.0, 3e6, 2.5e9].map(short);
        assert_eq!(counts, ["", "1", "999", "1k", "1.2k", "46k", "3M", "2.5G"]);
    }
}
