//! Makes another pass over selected documents to collect evidence from documents in candidate pairs and the contents of documents in pairs.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::cluster::Pass;
use super::kind::{Kind, What};
use super::known::Known;
use super::opened::{Machine, Opened};
use super::spool::{Blocks, Spool};
use dupsift_algorithms::algorithm::Corpus;
use dupsift_algorithms::measure::write_contents;
use dupsift_core::error::{Error, Result};
use dupsift_engine::reading::document::View;
use dupsift_engine::reading::parts::put;
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::AtomicBits;
use dupsift_tables::Cell;

/// Writes a row of evidence, which consists of the document number and the numbers that make up the evidence.
pub(crate) fn row(doc: u64, numbers: &[u64], to: &mut Vec<u8>) {
    to.clear();
    to.extend_from_slice(&doc.to_le_bytes());
    put(bytemuck::cast_slice(numbers), to);
}

/// Collects the evidence in one task and sends it to the buckets of the documents.
///
/// # Errors
/// Returns an error if files are damaged or the disk is full.
pub(crate) fn evidence(opened: &Opened, pass: &Pass, known: &Known, task: usize, dir: &Path) -> Result<Blocks> {
    let machine = Machine::new(&opened.options)?;
    let engine = machine.engine(dir);
    let session = opened.task(&engine, task)?;
    let corpus = Corpus::new(session.documents(), &known.stats);
    let bound = opened.options.recipe.bind_where(&corpus, &known.models, |at| pass.evidence.contains(&at))?;
    let checks: Vec<_> =
        pass.evidence.iter().zip(&bound).filter_map(|(at, bound)| Some((*at, bound.verify_candidates()?))).collect();
    let view = if pass.after_count { View::after_count(&session, None, &known.stats) } else { View::first(&session) };
    let met = Arc::new(AtomicBits::new(dir, "met", session.documents() as usize)?);
    for split in session.part.iter().flatten() {
        let docs = split.first_doc..(split.first_doc + split.rows).min(session.documents());
        docs.filter(|&doc| known.place(doc).is_some()).for_each(|doc| _ = met.set(doc as usize));
    }
    let spool = Mutex::new(Spool::new(dir)?);
    let asked = met.clone();
    let filter = RowFilter::Where(Arc::new(move |doc| asked.get(doc as usize)));
    let want = Want { rows: Some(filter), ..view.want() };
    let each = |(numbers, bytes): &mut (Vec<u64>, Vec<u8>), batch: &dupsift_tables::Documents| {
        let columns = view.columns(batch)?;
        for at in 0..batch.len() {
            let (doc, Cell::Text(text)) = (batch.doc(at), batch.text(at)) else { continue };
            let Some(bucket) = known.place(doc) else { continue };
            let _long = engine.long_document(View::bytes(text, &columns, at))?;
            let analysis = view.document(doc, text, &columns, at);
            let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
            for (algorithm, check) in &checks {
                numbers.clear();
                check.evidence(&analysis, numbers);
                row(doc, numbers, bytes);
                spool.push(Kind::algorithm(What::Evidence, *algorithm), bucket, bytes)?;
            }
            if pass.contents {
                numbers.clear();
                write_contents(&analysis, numbers);
                row(doc, numbers, bytes);
                spool.push(Kind::of(What::Contents), bucket, bytes)?;
            }
        }
        Ok(())
    };
    if met.count() > 0 {
        session.read("read candidates", &want, || Ok(Default::default()), each, |_| Ok(()))?;
    }
    spool.into_inner().map_err(|_| Error::Internal("a task was interrupted".into()))?.finish()
}
