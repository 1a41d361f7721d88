//! Renders histograms of similarity, one per algorithm.

use maud::{Markup, html};
use plotters::prelude::*;

use super::chart::{Area, Drawn, FIRST, FLOOR, GRID, MUTED, SMALL, figure, label_style, short, top};
use super::text::plain;
use crate::report::{counted, thousands};
use dupsift_core::error::Result;
use dupsift_engine::job::RunReport;
use dupsift_study::{BINS, Review, bin_range};

/// Returns the histograms of all algorithms.
pub(crate) fn section(report: &RunReport, review: &Review) -> Result<Markup> {
    let mut cards = Vec::new();
    for (at, (one, seen)) in report.algorithms.iter().zip(&review.algorithms).enumerate() {
        let all: u64 = seen.scores.iter().sum();
        let equal = seen.scores[BINS - 1];
        let description = format!(
            "{} written ({} with a similarity of 1), not counting pairs that only share a template.",
            counted(all, "pair"),
            thousands(equal)
        );
        let chart = match all {
            0 => None,
            _ => Some(figure(
                &format!("scores-{at}"),
                &format!("Pairs of {} by similarity", one.label),
                &description,
                SMALL,
                |area| draw(area, &seen.scores),
            )?),
        };
        cards.push(html! {
            figure.card {
                h3 { (plain(&one.label)) }
                @if let Some(chart) = chart { (chart) }
                figcaption.muted { (description) }
            }
        });
    }
    Ok(html! {
        p.how {
            "The height of a bar is the number of pairs in a similarity range of 0.05; each gridline stands for ten times as many pairs as the gridline below it. The bar on the right, in a different color, shows pairs with similarity 1. The chart shows verified similarities if the algorithm verifies pairs, and the algorithm's own scores otherwise; algorithms that compare signatures for equality always report 1."
        }
        div.grid { @for card in &cards { (card) } }
    })
}

fn draw(area: &Area<'_>, scores: &[u64; BINS]) -> Drawn {
    let most = scores.iter().copied().max().unwrap_or(0);
    let mut chart = ChartBuilder::on(area)
        .margin(6)
        .margin_right(16)
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d(0.0..1.06, (FLOOR..top(most)).log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(MUTED)
        .x_labels(6)
        .y_labels(6)
        .x_label_formatter(&|value| if *value > 1.0 { String::new() } else { format!("{value:.1}") })
        .y_label_formatter(&|value| short(*value))
        .label_style(label_style(SMALL))
        .draw()?;
    let bars = scores.iter().enumerate().filter(|(_, count)| **count > 0);
    chart.draw_series(bars.map(|(bin, &count)| {
        let (low, high) = bin_range(bin);
        let (low, high, color) = if low == high { (1.0, 1.05, super::chart::SECOND) } else { (low, high, FIRST) };
        Rectangle::new([(low + 0.006, FLOOR), (high - 0.006, count as f64)], color.filled())
    }))?;
    Ok(())
}
