//! Provides markup that sections share.

use maud::{Markup, html};

use super::text::{heading, plain};

/// Returns a table that scrolls in its own box if it is wider than the page.
pub(crate) fn scrolling(label: &str, table: Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (table) } }
}

/// Returns a table whose rows the page's script can sort and filter. Without scripts, it is an ordinary table.
pub(crate) fn sortable(label: &str, rows: Markup) -> Markup {
    scrolling(label, html! { table.sort { (rows) } })
}

/// Returns a cell with its numeric value as an attribute, because its text would not sort correctly.
pub(crate) fn cell(value: f64, text: &str) -> Markup {
    html! { td data-value=(format!("{value:.3}")) { (text) } }
}

/// Returns a column heading of a matrix, rotated and with limited height.
pub(crate) fn turned(name: &str) -> Markup {
    html! { th scope="col" title=(plain(name)) { div { (heading(name)) } } }
}

/// Returns a row heading.
pub(crate) fn row_heading(name: &str) -> Markup {
    html! { th scope="row" title=(plain(name)) { (heading(name)) } }
}
