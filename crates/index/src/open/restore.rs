//! Restores a damaged index on request by making an earlier generation the newest one.

use std::path::Path;

use super::lock::no_reader;
use super::sweep::warn_of_lost;
use super::{Index, stop_at};
use crate::generations::{self, Listed, State};
use crate::manifest::{Batch, Manifest};
use dupsift_core::error::{Error, Result};

/// Describes the result of restoring an index.
#[derive(Debug)]
pub struct Restored {
    /// The newest generation after restoring.
    pub manifest: Manifest,
    /// The batches in other readable generations that are not in the newest generation.
    pub left_out: Vec<String>,
    /// Whether a later generation could not be read, so that its content is unknown.
    pub unknown: bool,
}

/// Makes a generation the newest one. Removes all later generations, all earlier generations that are separated from this one by a gap, all
/// intents, the held batch, and the files to which only these items refer. Documents that were forgotten in a later, readable generation
/// stay forgotten.
///
/// # Errors
/// Returns [`Error::Usage`] if the generation cannot be read, if one of its files is missing, or if another process is reading the index.
/// After such an error, the index is unchanged.
pub fn restore(dir: &Path, generation: u64, published: impl Fn(&Batch) -> Result<State>) -> Result<Restored> {
    if !generations::is_index(dir)? {
        return Err(Error::usage(format!("{} is not an index", dir.display())));
    }
    let index = Index::locked(dir)?;
    let mut listed = Listed::of(dir)?;
    finish(dir, &listed, published)?;
    listed = Listed::of(dir)?;
    let readable = generations::readable(dir, &listed);
    let Some(at) = readable.iter().position(|manifest| manifest.generation == generation) else {
        let wrong = format!("generation {generation} of {} cannot be read; {}", dir.display(), named(&readable));
        return Err(Error::usage(wrong));
    };
    let manifest = readable[at].clone();
    index.check_there(&manifest).map_err(|error| {
        Error::usage(format!("generation {generation} cannot be restored: {error}; {}", named(&readable)))
    })?;
    let Some(_alone) = no_reader(dir) else {
        return Err(Error::usage(format!("another process is reading {}; try again when it has ended", dir.display())));
    };
    // Finds the readable generations that precede this generation without a gap.
    let mut first = at;
    while first > 0 && readable[first - 1].generation + 1 == readable[first].generation {
        first -= 1;
    }
    let kept = &readable[first..=at];
    let gone: Vec<u64> =
        listed.manifests.iter().copied().filter(|n| kept.iter().all(|one| one.generation != *n)).collect();
    let later = &readable[at + 1..];
    let manifest = forget_again(manifest, later);
    let above: Vec<u64> = gone.iter().copied().filter(|&n| n > manifest.generation).rev().collect();
    let below: Vec<u64> = gone.iter().copied().filter(|&n| n < generation).collect();
    // The list of forgotten documents is made durable before the generations that contain it are removed, newest first. Therefore, if the
    // process dies at any point, a repeated call still finds all forgotten documents.
    let mut kept = kept.to_vec();
    if manifest.generation != generation {
        generations::write(dir, &manifest)?;
        kept.push(manifest.clone());
    }
    stop_at("restored");
    generations::remove(dir, &[], &listed.intents, listed.held)?;
    for number in above {
        generations::remove(dir, &[number], &[], false)?;
        stop_at("later generation removed");
    }
    generations::record(dir, manifest.generation)?;
    stop_at("restored generation recorded");
    generations::remove(dir, &below, &[], false)?;
    index.keep_only(&kept)?;
    let known = |batch: &&Batch| manifest.batches.iter().all(|one| one.publication != batch.publication);
    let mut left_out: Vec<String> =
        later.iter().flat_map(|one| one.batches.iter().filter(known)).map(|batch| batch.name.clone()).collect();
    left_out.sort_unstable();
    left_out.dedup();
    let unknown = gone.iter().any(|&gone| gone > generation && later.iter().all(|one| one.generation != gone));
    Ok(Restored { manifest, left_out, unknown })
}

/// Completes a publication that was interrupted when a process died, if the intent can be read and the output is complete.
fn finish(dir: &Path, listed: &Listed, published: impl Fn(&Batch) -> Result<State>) -> Result<()> {
    let Some(&number) = listed.intents.last() else { return Ok(()) };
    let follows = listed.manifests.last().map_or(0, |newest| *newest) + 1 == number;
    let Ok(intended) = generations::read_intent(dir, number) else { return Ok(()) };
    let last: Option<&Batch> = intended.batches.last().filter(|batch| follows && batch.generation == number);
    match last.map(published).transpose()? {
        Some(State::Published) => generations::come_true(dir, &intended),
        Some(State::Lost) => Ok(last.into_iter().for_each(warn_of_lost)),
        None => Ok(()),
    }
}

/// Returns the next generation, in which documents that later generations marked as forgotten are also forgotten if their batch is in
/// `manifest`. Returns the manifest unchanged if there is nothing to forget.
fn forget_again(manifest: Manifest, later: &[Manifest]) -> Manifest {
    let mut next = manifest.clone();
    for one in later {
        let same = |batch: &&Batch| one.batches.iter().any(|other| other.publication == batch.publication);
        for batch in manifest.batches.iter().filter(same) {
            next.forget(one.forgotten_in(batch.first_doc, batch.first_doc + batch.rows));
        }
    }
    if next.forgotten == manifest.forgotten {
        return manifest;
    }
    next.generation += 1;
    next
}

fn named(readable: &[Manifest]) -> String {
    let numbers: Vec<String> = readable.iter().map(|one| one.generation.to_string()).collect();
    match &numbers[..] {
        [] => "none of its generations can be read; create another index".to_owned(),
        numbers => format!("these can: {}", numbers.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::generations::Generations;
    use crate::manifest::FORMAT;
    use crate::{BATCHES, STATISTICS};

    fn batch(n: u64) -> Batch {
        Batch {
            name: format!("n{n}"),
            folder: format!("b-{n}"),
            publication: n.to_string(),
            first_doc: 10 * (n - 1),
            rows: 10,
            generation: n,
            ..Batch::default()
        }
    }

    fn lost(_: &Batch) -> Result<State> {
        Ok(State::Lost)
    }

    /// Returns an index with five batches; its last generation marks documents as forgotten.
    fn made() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let mut index = Index::open(folder.path(), lost).unwrap();
        for generation in 1..=6 {
            let batches: Vec<Batch> = (1..=generation.min(5)).map(batch).collect();
            let mut next =
                Manifest { format: FORMAT, generation, statistics: "s-1".into(), batches, ..Manifest::default() };
            next.next_doc = 10 * generation.min(5);
            if generation == 6 {
                next.forget(vec![[3, 5], [38, 42]]);
            }
            index.intend(&next, &Default::default()).unwrap();
            for (kind, name) in next.folders() {
                if !index.folder(kind, name).exists() {
                    index.begin(kind, name).unwrap();
                    index.place(kind, name, &dupsift_core::safe_fs::Readers::default()).unwrap();
                }
            }
            index.publish(next).unwrap();
        }
        folder
    }

    fn manifest_of(folder: &Path, generation: u64) -> std::path::PathBuf {
        folder.join(format!("manifest-{generation:08}.json"))
    }

    #[test]
    fn an_earlier_generation_becomes_the_newest() {
        let folder = made();
        fs::write(manifest_of(folder.path(), 5), "{").unwrap();
        assert!(Index::open(folder.path(), lost).is_err());
        let restored = restore(folder.path(), 4, lost).unwrap();
        // Documents that generation 6 forgot in the remaining batches stay forgotten.
        assert_eq!((restored.manifest.generation, &restored.manifest.forgotten[..]), (5, &[[3, 5], [38, 40]][..]));
        assert_eq!((restored.left_out, restored.unknown), (vec!["n5".to_owned()], true));
        let index = Index::open(folder.path(), lost).unwrap();
        assert_eq!(index.manifest.as_ref().unwrap(), &restored.manifest);
        assert!(index.folder(BATCHES, "b-4").is_dir() && !index.folder(BATCHES, "b-5").exists());
        assert!(index.folder(STATISTICS, "s-1").is_dir());
        assert_eq!(Generations::read(folder.path()).unwrap().manifests.len(), 5);
    }

    #[test]
    fn a_missing_newest_generation_is_given_up_only_by_name() {
        let folder = made();
        fs::remove_file(manifest_of(folder.path(), 6)).unwrap();
        let said = Index::open(folder.path(), lost).unwrap_err().to_string();
        assert!(
            said.contains("manifest-00000006.json is missing") && said.contains("restore") && said.ends_with(" 5"),
            "{said}"
        );
        let refused = restore(folder.path(), 6, lost).unwrap_err().to_string();
        assert!(refused.contains("generation 6") && refused.ends_with("1, 2, 3, 4, 5"), "{refused}");
        assert_eq!(restore(folder.path(), 5, lost).unwrap().manifest.generation, 5);
        assert_eq!(Index::open(folder.path(), lost).unwrap().manifest.as_ref().unwrap().batches.len(), 5);
    }

    #[test]
    fn generations_before_a_gap_go_and_readers_are_waited_for() {
        let folder = made();
        fs::remove_file(manifest_of(folder.path(), 3)).unwrap();
        let reader = Index::look(folder.path(), lost).unwrap();
        assert!(restore(folder.path(), 6, lost).unwrap_err().to_string().contains("another process is reading"));
        assert!(manifest_of(folder.path(), 2).exists());
        drop(reader);
        let restored = restore(folder.path(), 6, lost).unwrap();
        assert_eq!((restored.manifest.forgotten(), restored.unknown), (6, false));
        let left: Vec<u64> =
            Generations::read(folder.path()).unwrap().manifests.iter().map(|one| one.generation).collect();
        assert_eq!(left, [4, 5, 6]);
        let nothing = tempfile::tempdir().unwrap();
        assert!(restore(nothing.path(), 1, lost).unwrap_err().to_string().contains("is not an index"));
        assert_eq!(fs::read_dir(nothing.path()).unwrap().count(), 0);
    }
}
