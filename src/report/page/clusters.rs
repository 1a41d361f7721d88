//! Renders the number of clusters of each size on two logarithmic axes, in one chart per algorithm.

use std::collections::BTreeMap;

use maud::{Markup, html};
use plotters::prelude::*;

use super::chart::{Area, Drawn, FIRST, FLOOR, GRID, MUTED, SMALL, figure, label_style, short, top};
use super::text::plain;
use crate::report::{counted, thousands};
use dupsift_core::error::Result;
use dupsift_engine::job::RunReport;
use dupsift_study::Review;

/// Returns the charts of all algorithms.
pub(crate) fn section(report: &RunReport, review: &Review) -> Result<Markup> {
    // All charts use the same scale, so that they can be compared.
    let largest = report.algorithms.iter().map(|one| one.largest_cluster).max().unwrap_or(0);
    let bars: Vec<Vec<(u64, u64, u64)>> = review.algorithms.iter().map(|one| doubling(&one.clusters.sizes)).collect();
    let most = bars.iter().flatten().map(|bar| bar.2).max().unwrap_or(0);
    let mut cards = Vec::new();
    for (at, (one, bars)) in report.algorithms.iter().zip(&bars).enumerate() {
        let description = format!(
            "{}, the largest with {}.",
            counted(one.clusters, "cluster"),
            counted(one.largest_cluster, "document")
        );
        let chart = match bars.is_empty() {
            true => None,
            false => Some(figure(
                &format!("sizes-{at}"),
                &format!("Clusters of {} by size", one.label),
                &description,
                SMALL,
                |area| draw(area, bars, largest, most),
            )?),
        };
        cards.push(html! {
            figure.card {
                h3 { (plain(&one.label)) }
                @if let Some(chart) = chart { (chart) }
                figcaption.muted { @if bars.is_empty() { "No clusters." } @else { (description) } }
            }
        });
    }
    Ok(html! {
        p.how {
            "The height of a bar is the number of clusters with that many documents (2, 3 to 4, 5 to 8, and so on). Both axes are logarithmic and have the same scale in all charts. A straight decline is normal. If a bar stands alone on the far right, look at its clusters under “The largest clusters”."
        }
        div.grid { @for card in &cards { (card) } }
        @if largest > 0 { p.muted { "The largest cluster has " (thousands(largest)) " documents." } }
    })
}

/// Counts clusters of 2, 3 to 4, 5 to 8, ... documents. Returns the smallest size, the largest size and the number of clusters for each
/// bar, without empty bars.
fn doubling(sizes: &BTreeMap<u64, u64>) -> Vec<(u64, u64, u64)> {
    let mut bars: Vec<(u64, u64, u64)> = Vec::new();
    for (&size, &clusters) in sizes {
        let high = size.max(2).next_power_of_two();
        match bars.last_mut() {
            Some(last) if last.1 == high => last.2 += clusters,
            _ => bars.push((high / 2 + 1, high, clusters)),
        }
    }
    bars
}

fn draw(area: &Area<'_>, bars: &[(u64, u64, u64)], largest: u64, most: u64) -> Drawn {
    let right = (largest.max(8).next_power_of_two() as f64 + 0.5) * 1.1;
    let mut chart = ChartBuilder::on(area)
        .margin(6)
        .margin_right(16)
        .x_label_area_size(34)
        .y_label_area_size(52)
        .build_cartesian_2d((1.4..right).log_scale().base(2.0), (FLOOR..top(most)).log_scale())?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(MUTED)
        .x_labels(8)
        .y_labels(6)
        .x_label_formatter(&|value| short(*value))
        .y_label_formatter(&|value| short(*value))
        .label_style(label_style(SMALL))
        .draw()?;
    chart.draw_series(bars.iter().map(|&(low, high, clusters)| {
        // A bar extends from half a document below its smallest size to half a document above its largest size, with a small gap between
        // bars.
        let (low, high) = ((low as f64 - 0.5) * 1.04, (high as f64 + 0.5) / 1.04);
        Rectangle::new([(low, FLOOR), (high, clusters as f64)], FIRST.filled())
    }))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_gathered_by_doubling() {
        let sizes = BTreeMap::from([(2, 100), (3, 10), (4, 5), (5, 3), (8, 1), (1000, 1)]);
        assert_eq!(doubling(&sizes), [(2, 2, 100), (3, 4, 15), (5, 8, 4), (513, 1024, 1)]);
        assert!(doubling(&BTreeMap::new()).is_empty());
    }
}
