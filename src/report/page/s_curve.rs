//! Renders the S-curve of banding: the probability that the bands of `minhash` let a pair with a given similarity through, and the number
//! of pairs found.

use maud::{Markup, html};
use plotters::prelude::*;

use super::chart::{Area, Drawn, FIRST, GRID, LARGE, MUTED, SECOND, figure, label_style, words};
use super::text::{percent, plain, share};
use crate::report::counted;
use dupsift_core::error::Result;
use dupsift_engine::job::RunReport;
use dupsift_study::{BINS, Banding, Review, bin_range};

/// Returns a curve for each use of `minhash`; `None` if there is none.
pub(crate) fn section(report: &RunReport, review: &Review) -> Result<Option<Markup>> {
    let mut parts = Vec::new();
    for (at, (one, seen)) in report.algorithms.iter().zip(&review.algorithms).enumerate() {
        let Some(banding) = Banding::of(&one.recipe) else { continue };
        let scores = &seen.scores;
        let title = format!("{}: {} bands of {} rows", plain(&one.label), banding.bands, banding.rows);
        let description = format!(
            "Probability that a pair becomes a candidate, by similarity: {}.",
            [0.5, 0.6, 0.7, 0.8, 0.9].map(|s| format!("{} at {s}", share(banding.lets_through(s)))).join(", ")
        );
        let bars = if banding.jaccard { Some(scores) } else { None };
        let chart = figure(&format!("bands-{at}"), &title, &description, LARGE, |area| draw(area, &banding, bars))?;
        let highest = scores[..BINS - 1].iter().copied().max().unwrap_or(0);
        parts.push(html! {
            figure.card.wide {
                h3 { (title) }
                (chart)
                figcaption.muted {
                    (description)
                    @if banding.jaccard {
                        " The bars show the pairs found, by similarity. The tallest bar represents " (counted(highest, "pair")) "; " (counted(scores[BINS - 1], "pair")) " with similarity 1 " @if scores[BINS - 1] == 1 { "is" } @else { "are" } " not shown."
                    } @else {
                        " Pairs are not shown, because they were verified with a similarity measure that the bands do not use."
                    }
                    @if let Some((threshold, found, expected)) = banding.missed(one, scores) {
                        " According to the curve, the " (counted(found, "pair")) " found with a similarity of " (threshold) " or more are " (percent(found, expected.round() as u64)) " of all such pairs."
                    }
                }
            }
        });
    }
    if parts.is_empty() {
        return Ok(None);
    }
    Ok(Some(html! {
        p.how {
            "The curve shows how likely a pair is to become a candidate with the settings of this run. With b bands of r rows, the probability for a pair with similarity s is 1 − (1 − s" sup { "r" } ")" sup { "b" } ". A low curve means missed pairs; a high curve to the left of the threshold (dashed) means unnecessary comparisons. If bars are tall where the curve is low, use more bands or fewer rows."
        }
        @for part in &parts { (part) }
    }))
}

fn draw(area: &Area<'_>, banding: &Banding, scores: Option<&[u64; BINS]>) -> Drawn {
    let mut chart = ChartBuilder::on(area)
        .margin(20)
        .margin_right(40)
        .x_label_area_size(64)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..1.0, 0.0..1.04)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(MUTED)
        .x_labels(11)
        .y_labels(6)
        .x_label_formatter(&|value| format!("{value:.1}"))
        .y_label_formatter(&|value| if *value > 1.0 { String::new() } else { format!("{value:.1}") })
        .label_style(label_style(LARGE))
        .draw()?;
    if let Some(scores) = scores {
        let scores = &scores[..BINS - 1];
        let highest = scores.iter().copied().max().unwrap_or(0).max(1) as f64;
        let bars = scores.iter().enumerate().filter(|(_, count)| **count > 0);
        chart.draw_series(bars.map(|(bin, &count)| {
            let (low, high) = bin_range(bin);
            Rectangle::new([(low + 0.004, 0.0), (high - 0.004, count as f64 / highest)], FIRST.mix(0.55).filled())
        }))?;
    }
    if let Some(threshold) = banding.threshold {
        let dashes = (0..26).map(|at| (f64::from(at) * 0.04, f64::from(at) * 0.04 + 0.022));
        chart.draw_series(
            dashes.map(|(from, to)| PathElement::new([(threshold, from), (threshold, to)], MUTED.stroke_width(4))),
        )?;
    }
    let curve = (0..=200).map(|at| f64::from(at) / 200.0).map(|s| (s, banding.lets_through(s)));
    chart.draw_series(LineSeries::new(curve, SECOND.stroke_width(6)))?;
    // The label is to the left of the curve at half its height if there is space, because the bars occupy the right side.
    let middle = (0..=200).map(|at| f64::from(at) / 200.0).find(|s| banding.lets_through(*s) >= 0.5).unwrap_or(1.0);
    let (place, style) =
        if middle > 0.4 { (middle - 0.03, words(LARGE, true)) } else { (middle + 0.05, words(LARGE, false)) };
    chart.draw_series(std::iter::once(Text::new("P(candidate)", (place, 0.5), style)))?;
    Ok(())
}
