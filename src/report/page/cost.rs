//! Renders the cost of each stage.

use maud::{Markup, html};

use super::markup::{cell, scrolling};
use super::text::{bytes, plain, seconds};
use crate::report::thousands;
use dupsift_engine::engine::StageReport;

/// Returns a table with one row per stage.
pub(crate) fn section(stages: &[StageReport]) -> Markup {
    // The system may not report the memory of a process.
    let some = |memory: u64| if memory == 0 { String::new() } else { bytes(memory) };
    let header = ["stage", "seconds", "CPU", "rows in", "rows out", "to temporary files", "peak memory"];
    html! {
        (scrolling("Stages", html! {
            table.sort {
                thead { tr { @for name in header { th scope="col" { (name) } } } }
                tbody {
                    @for stage in stages {
                        tr {
                            th scope="row" { (plain(&stage.stage)) }
                            (cell(stage.seconds, &seconds(stage.seconds)))
                            (cell(stage.cpu_seconds, &seconds(stage.cpu_seconds)))
                            td { (thousands(stage.rows_in)) }
                            td { (thousands(stage.rows_out)) }
                            (cell(stage.spilled_bytes as f64, &bytes(stage.spilled_bytes)))
                            (cell(stage.peak_memory_bytes as f64, &some(stage.peak_memory_bytes)))
                        }
                    }
                }
            }
        }))
        p.how {
            "Stages in the order in which they ran. Memory is the anonymous memory of the process, sampled during the stage. \
                Temporary files go through the page cache and are not counted."
        }
    }
}
