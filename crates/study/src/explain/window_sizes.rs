//! Counts the documents in a corpus that have a given key. The documents are signed again, because the tables of a run
//! do not contain keys.

use dupsift_algorithms::recipe::bound::Bound;
use dupsift_core::error::Result;
use dupsift_core::row::Signatures;
use dupsift_engine::job::read::copies;
use dupsift_engine::reading::document::View;
use dupsift_engine::session::Session;
use dupsift_tables::Cell;

/// Returns, for each of these keys of one algorithm, the number of documents that have the key. Copies count
/// once.
///
/// # Errors
/// Returns an error if a file is damaged or the run is interrupted.
pub(crate) fn count(
    session: &Session<'_>,
    bound: &Bound<'_>,
    view: &View<'_>,
    keys: &[(u32, u128)],
) -> Result<Vec<u64>> {
    let copies = copies::fold(session, &copies::read(session)?)?;
    let view = view.with_copies(Some(&copies));
    let running = session.engine.clock.stage("count windows");
    let counts = session.read(
        "count windows",
        &view.want(),
        || Ok((Signatures::default(), vec![0; keys.len()])),
        |(signatures, counts), batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                if copies.is_extra_copy(doc) {
                    continue;
                }
                session.engine.go_on()?;
                let _long = session.engine.long_document(text.len())?;
                signatures.clear();
                bound.signer.sign(&view.document(doc, text, &columns, row), signatures);
                let places: Vec<(u32, u128)> = signatures.rows(doc).map(|row| (row.position, row.key)).collect();
                counts.iter_mut().zip(keys).for_each(|(count, key)| *count += u64::from(places.contains(key)));
            }
            Ok(())
        },
        |(_, counts)| Ok(counts),
    )?;
    let sum = |at: usize| counts.iter().map(|counts: &Vec<u64>| counts[at]).sum();
    running.end(session.documents(), keys.len() as u64, 0);
    Ok((0..keys.len()).map(sum).collect())
}
