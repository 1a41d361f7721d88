//! Runs the extra pass for `--prefilter`. Before any rows are written, this pass records the groups of all rows in filters.

use std::sync::atomic::Ordering::Relaxed;

use crate::classes::Classes;
use crate::reading::document::View;
use crate::session::Session;
use dupsift_algorithms::recipe::bound::Bound;
use dupsift_algorithms::steps::prefilter::Prefilter;
use dupsift_algorithms::steps::sign::sign;
use dupsift_core::error::Result;
use dupsift_tables::Cell;

/// Computes all signatures one extra time to fill the filters, which take at most half of the memory for rows.
pub(crate) fn prefilter(
    session: &Session<'_>,
    bound: &[Bound<'_>],
    copies: Option<&Classes>,
    view: &View<'_>,
) -> Result<Prefilter> {
    let running = session.engine.clock.stage("prefilter");
    let prefilter = Prefilter::new(bound, session.documents(), session.engine.budget.rows / 2);
    let rows = session.read(
        "prefilter",
        &view.want(),
        || Ok((Default::default(), 0u64, 0u64)),
        |(scratch, rows, segmented), batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                if copies.is_some_and(|copies| copies.is_extra_copy(doc)) {
                    continue;
                }
                let _long = session.engine.long_document(View::bytes(text, &columns, row))?;
                let document = view.document(doc, text, &columns, row);
                sign(bound, &document, scratch, |algorithm, out, _| {
                    *rows += out.rows(doc).count() as u64;
                    prefilter.insert(algorithm, out);
                    Ok(())
                })?;
                *segmented += document.segmented();
            }
            Ok(())
        },
        |(_, rows, segmented)| {
            session.segmented.fetch_add(segmented, Relaxed);
            Ok(rows)
        },
    )?;
    running.end(session.documents(), rows.iter().sum(), 0);
    Ok(prefilter)
}
