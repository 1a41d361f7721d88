//! Parts of a table that sections share.

use maud::{Markup, html};

use super::text::{heading, plain};

/// A table that scrolls in its own box where it is wider than the page.
pub fn scrolling(label: &str, table: Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (table) } }
}

/// The same with rows that the script of the page sorts and filters; without scripts it is a table as any other.
pub fn sortable(label: &str, rows: Markup) -> Markup {
    scrolling(label, html! { table.sort { (rows) } })
}

/// A cell whose text does not sort by itself: it has the number that it stands for.
pub fn cell(value: f64, text: &str) -> Markup {
    html! { td data-value=(format!("{value:.3}")) { (text) } }
}

/// The heading of a column of a matrix: turned, and of limited height.
pub fn turned(name: &str) -> Markup {
    html! { th scope="col" title=(plain(name)) { div { (heading(name)) } } }
}

/// The heading of a row.
pub fn row_heading(name: &str) -> Markup {
    html! { th scope="row" title=(plain(name)) { (heading(name)) } }
}
