//! Renders the number of removals at other thresholds, by the similarity of the pairs.

use maud::{Markup, html};
use plotters::prelude::*;

use super::chart::{Area, Drawn, FIRST, GRID, MUTED, SMALL, figure, label_style, short};
use super::markup::sortable;
use super::text::{percent, share};
use crate::report::{counted, thousands};
use dupsift_core::error::Result;
use dupsift_engine::job::RunReport;
use dupsift_study::Review;

/// Returns the curve and its table; `None` if nothing is removed.
pub(crate) fn section(report: &RunReport, review: &Review) -> Result<Option<Markup>> {
    let points = review.removed.at_thresholds();
    let Some(removal) = report.removal.as_ref().filter(|_| !points.is_empty()) else { return Ok(None) };
    let title = "Removed documents by threshold";
    let description = points
        .iter()
        .map(|&(at, count)| format!("{} at {}", thousands(count), share(at)))
        .collect::<Vec<_>>()
        .join(", ");
    let chart = figure("threshold", title, &description, SMALL, |area| draw(area, &points))?;
    let chained = review.removed.chained;
    Ok(Some(html! {
        p.how {
            "These figures estimate how many documents a higher threshold or a stricter rule would remove. " code { "dupsift apply" } " computes the exact numbers, which also depend on the documents that are kept instead."
            @if let Some(typed) = &review.with_threshold { " To run with a higher threshold: " code { (typed) } "." }
            @if review.bounds.is_some() { " A looser rule would remove more documents than this run did: " code { "dupsift show OUT --rules" } " prints the numbers for both." }
            @if chained > 0 { " Not counted: " (counted(chained, "document")) " linked to the kept document only through a chain of pairs." }
        }
        div.beside {
            figure.card { h3 { (title) } (chart) }
            (sortable("Removals by threshold", html! {
                thead { tr { @for name in ["threshold", "removed", "share of removals", "share of documents"] { th scope="col" { (name) } } } }
                tbody {
                    @for &(at, count) in &points {
                        tr {
                            th scope="row" { (share(at)) }
                            td { (thousands(count)) }
                            td { (percent(count, removal.removed)) }
                            td { (percent(count, report.documents.used)) }
                        }
                    }
                }
            }))
            (shares(report, review))
        }
    }))
}

/// Returns how many documents are removed if the kept document must contain a larger share of the removed document. The result is empty if
/// being in a pair is sufficient for removal.
fn shares(report: &RunReport, review: &Review) -> Markup {
    let Some((removal, bounds)) = report.removal.as_ref().zip(review.bounds) else { return html! {} };
    let rows = review.removed.under_rules(bounds);
    html! {
        (sortable("Removals by rule", html! {
            thead { tr { @for name in ["--remove-if", "removed", "share of removals", "share of documents"] { th scope="col" { (name) } } } }
            tbody {
                @for (share, count) in rows {
                    tr {
                        th scope="row" { code { "contained:" (share) ":" (bounds.numbers) } }
                        td { (thousands(count)) }
                        td { (percent(count, removal.removed)) }
                        td { (percent(count, report.documents.used)) }
                    }
                }
            }
        }))
    }
}

fn draw(area: &Area<'_>, points: &[(f64, u64)]) -> Drawn {
    let (low, most) = (points[0].0, points[0].1.max(1) as f64);
    let mut chart = ChartBuilder::on(area)
        .margin(6)
        .margin_right(22)
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d((low - 0.01).min(0.94)..1.01, 0.0..most * 1.08)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(MUTED)
        .x_labels(6)
        .y_labels(5)
        .x_label_formatter(&|value| format!("{value:.2}"))
        .y_label_formatter(&|value| short(*value))
        .label_style(label_style(SMALL))
        .draw()?;
    let line = points.iter().map(|&(at, count)| (at, count as f64));
    chart.draw_series(LineSeries::new(line.clone(), FIRST.stroke_width(3)))?;
    chart.draw_series(line.map(|point| Circle::new(point, 4, FIRST.filled())))?;
    Ok(())
}
