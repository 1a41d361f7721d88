//! Collects notes for learning algorithms in tasks, and builds models from these notes on the driver.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::cluster::{Cluster, Frame};
use super::kind::{Kind, What};
use super::known::Known;
use super::opened::{Machine, Opened};
use super::spool::{Blocks, Spool};
use dupsift_algorithms::algorithm::{Corpus, Learner};
use dupsift_algorithms::steps::learn::ROW;
use dupsift_core::error::{Error, Result};
use dupsift_engine::job::read::learn::{each_note, learn_from};
use dupsift_engine::reading::document::View;
use dupsift_engine::reading::parts::{Bytes, put};
use dupsift_engine::session::Session;

/// Collects the notes in one task.
///
/// # Errors
/// Returns an error if files are damaged or the disk is full.
pub(crate) fn learn(opened: &Opened, known: &Known, task: usize, dir: &Path) -> Result<Blocks> {
    let machine = Machine::new(&opened.options)?;
    let engine = machine.engine(dir);
    let session = opened.task(&engine, task)?;
    let corpus = Corpus::new(session.documents(), &known.stats);
    let learners = opened.options.recipe.learners(&corpus)?;
    let view = View::after_count(&session, None, &known.stats);
    let (copies, spool) = (known.copies.as_ref(), Mutex::new(Spool::new(dir)?));
    each_note(
        &session,
        &view.with_copies(copies),
        (&learners, copies),
        Vec::new,
        |bytes: &mut Vec<u8>, place, row, note, times| {
            bytes.clear();
            bytes.extend_from_slice(&row);
            bytes.extend_from_slice(&times.to_le_bytes());
            put(bytemuck::cast_slice(note), bytes);
            let mut spool = spool.lock().unwrap_or_else(PoisonError::into_inner);
            spool.push(Kind::algorithm(What::Learnt, learners[place].0), 0, bytes)
        },
        |_| Ok(()),
    )?;
    spool.into_inner().map_err(|_| Error::Internal("a task was interrupted".into()))?.finish()
}

/// Returns the models that the learning algorithms build from the notes of all tasks, with the positions of the algorithms in the recipe.
///
/// # Errors
/// Returns an error from the cluster, or an error if the disk is full.
pub(crate) fn models(
    session: &Session<'_>,
    cluster: &dyn Cluster,
    frame: Frame,
    learners: &[(usize, Box<dyn Learner + '_>)],
) -> Result<Vec<(usize, Vec<u64>)>> {
    let kinds: Vec<Kind> = learners.iter().map(|(at, _)| Kind::algorithm(What::Learnt, *at)).collect();
    learn_from(session, learners, |take| {
        cluster.collect(frame, &kinds, &mut |block| {
            session.engine.go_on()?;
            let mut bytes = Bytes(&block.rows);
            while !bytes.0.is_empty() {
                let mut row = [0; ROW];
                row.copy_from_slice(bytes.take(ROW)?);
                let times = bytes.long()?;
                let note: Vec<u64> = bytemuck::allocation::pod_collect_to_vec(bytes.string()?);
                take(block.kind.algorithm.into(), row, &note, times)?;
            }
            Ok(())
        })
    })
}
