//! Recovers an index after a process died, and removes old generations.

use std::collections::BTreeSet;
use std::path::Path;

use super::lock::no_reader;
use super::{Index, PARTIAL};
use crate::files::folder::{FOLDERS, is_folder, names};
use crate::generations::{self, Generations, KEPT, State, added, came_true};
use crate::manifest::{Batch, Manifest};
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::remove_all;

impl Index {
    /// Completes the publication that a process had begun when it died, if the output is complete, and removes everything else that the
    /// process left behind. Returns the newest generation.
    pub(crate) fn recover(&self, published: impl Fn(&Batch) -> Result<State>) -> Result<Option<Manifest>> {
        let mut known = Generations::read(self.dir())?;
        let number = known.number();
        if let Some(intended) = came_true(known.intended.clone(), number, published)? {
            let out = intended.batches.last().map(|batch| batch.out.display().to_string()).unwrap_or_default();
            tracing::info!("{out} was published and is now in the index");
            generations::come_true(self.dir(), &intended)?;
            known.manifests.push(intended);
            known.intended = None;
        } else if let Some(batch) = known.intended.as_ref().and_then(|intended| added(intended, number)) {
            warn_of_lost(batch);
        }
        self.sweep_known(&mut known, None)?;
        self.remove_unfinished()?;
        self.warn_of_strangers(&known)?;
        Ok(known.manifests.pop())
    }

    /// Removes everything that a dead process left behind, all generations except the newest few, and the folders to which only the removed
    /// generations refer. Nothing is removed if a generation cannot be read, and no folder is removed while another process is reading the
    /// index.
    ///
    /// # Errors
    /// Returns the errors of [`Generations::read`], or [`Error::Io`].
    pub(crate) fn sweep(&self) -> Result<()> {
        self.sweep_but(None)?;
        self.remove_unfinished()
    }

    /// Removes unfinished files and folders.
    fn remove_unfinished(&self) -> Result<()> {
        generations::remove_unfinished(self.dir())?;
        self.remove_unfinished_folders()
    }

    /// Removes old generations, abandoned intents, and the folders to which only the removed generations and intents refer. The held batch
    /// is also removed if it belongs to generation `held_goes` or no longer follows the newest generation. Unfinished folders are kept,
    /// because they may belong to this process.
    pub(crate) fn sweep_but(&self, held_goes: Option<u64>) -> Result<()> {
        self.sweep_known(&mut Generations::read(self.dir())?, held_goes)
    }

    /// Works like `sweep_but`, but uses generations that were already read; afterwards, `known` contains the kept generations.
    fn sweep_known(&self, known: &mut Generations, held_goes: Option<u64>) -> Result<()> {
        let next = known.number() + 1;
        let (held, given_up) = match known.held.take() {
            Some(held) if held.generation == next && held_goes != Some(next) => (Some(held), None),
            other => (None, other),
        };
        let split = known.manifests.len().saturating_sub(KEPT);
        // No process reads files that were never published, but a reader may be using an earlier generation.
        let alone = if split > 0 { no_reader(self.dir()) } else { None };
        let (old, kept) = known.manifests.split_at(if alone.is_some() { split } else { 0 });
        let needed: BTreeSet<(&str, &str)> = kept.iter().chain(&held).flat_map(Manifest::folders).collect();
        let gone: BTreeSet<(&str, &str)> =
            old.iter().chain(&known.intended).chain(&given_up).flat_map(Manifest::folders).collect();
        for (kind, name) in gone.difference(&needed) {
            remove_folder(&self.folder(kind, name))?;
        }
        let number = |manifest: &Manifest| manifest.generation;
        let (old, intents): (Vec<u64>, Vec<u64>) =
            (old.iter().map(number).collect(), known.intended.iter().map(number).collect());
        generations::remove(self.dir(), &old, &intents, given_up.is_some())?;
        known.manifests.drain(..old.len());
        (known.intended, known.held) = (None, held);
        Ok(())
    }

    /// Warns about folders to which no generation refers. This program never leaves such folders behind, so they are not removed.
    fn warn_of_strangers(&self, known: &Generations) -> Result<()> {
        let named: BTreeSet<(&str, &str)> =
            known.manifests.iter().chain(&known.held).flat_map(Manifest::folders).collect();
        for kind in FOLDERS {
            for name in names(&self.dir().join(kind))?.iter().filter(|name| !named.contains(&(kind, &***name))) {
                let path = self.folder(kind, name);
                tracing::warn!("{} belongs to no generation of the index and is not removed", path.display());
            }
        }
        Ok(())
    }

    pub(crate) fn remove_unfinished_folders(&self) -> Result<()> {
        for kind in FOLDERS {
            let folder = self.dir().join(kind);
            for name in names(&folder)?
                .into_iter()
                .filter(|name| name.strip_prefix(PARTIAL).is_some_and(|name| is_folder(kind, name)))
            {
                remove_folder(&folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Removes every folder to which no generation in `kept` refers. All other generations must have been discarded beforehand.
    pub(crate) fn keep_only(&self, kept: &[Manifest]) -> Result<()> {
        let needed: BTreeSet<(&str, &str)> = kept.iter().flat_map(Manifest::folders).collect();
        for kind in FOLDERS {
            let folder = self.dir().join(kind);
            for name in
                names(&folder)?.into_iter().filter(|name| is_folder(kind, name) && !needed.contains(&(kind, &**name)))
            {
                remove_folder(&folder.join(name))?;
            }
        }
        Ok(())
    }
}

/// Warns about a discarded batch that a process was about to publish.
pub(crate) fn warn_of_lost(batch: &Batch) {
    tracing::warn!(
        "the run for batch {} ended before the result {} was published, so the index was returned to its previous state; repeat that run",
        batch.name,
        batch.out.display()
    );
}

fn remove_folder(path: &Path) -> Result<()> {
    match remove_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}
