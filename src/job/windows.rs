//! How many documents of a corpus have a key: counted by signing them again, for no table of a run tells it.

use super::copies;
use super::document::View;
use super::workers::Job;
use crate::batch::Cell;
use crate::error::Result;
use crate::row::Signatures;
use crate::stage::bound::Bound;

/// The documents that have each key of one algorithm, copies counted once.
///
/// # Errors
/// A damaged file; a request to stop.
pub fn count(job: &Job<'_>, bound: &Bound<'_>, view: &View<'_>, keys: &[(u32, u128)]) -> Result<Vec<u64>> {
    let copies = copies::fold(job, &copies::read(job)?)?;
    let view = view.with_copies(Some(&copies));
    let running = job.clock.stage("count windows");
    let counts = job.read(
        "count windows",
        &view.want(),
        || Ok((Signatures::default(), vec![0; keys.len()])),
        |(signatures, counts), batch| {
            let columns = view.columns(batch)?;
            for row in 0..batch.len() {
                let (doc, Cell::Text(text)) = (batch.doc(row), batch.text(row)) else { continue };
                if copies.is_surplus(doc) {
                    continue;
                }
                job.go_on()?;
                let _long = job.long_document(text.len())?;
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
    running.end(job.documents(), keys.len() as u64, 0);
    Ok((0..keys.len()).map(sum).collect())
}
