use super::*;
use crate::files::folder::BATCHES;
use crate::generations::KEPT;
use crate::manifest::FORMAT;
use crate::open::lock::LOCK;

fn manifest_of(generation: u64) -> Manifest {
    let batch = |n: u64| Batch {
        name: format!("n{n}"),
        folder: format!("b-{n}"),
        out: format!("out-{n}").into(),
        generation: n,
        ..Batch::default()
    };
    Manifest {
        format: FORMAT,
        generation,
        statistics: "s-1".into(),
        batches: (1..=generation).map(batch).collect(),
        ..Manifest::default()
    }
}

fn add(index: &Index, generation: u64) {
    for (kind, name) in [(BATCHES, format!("b-{generation}")), (STATISTICS, "s-1".to_owned())] {
        if !index.folder(kind, &name).exists() {
            index.begin(kind, &name).unwrap();
            index.place(kind, &name, &Readers::default()).unwrap();
        }
    }
}

fn nothing(_: &Batch) -> Result<State> {
    Ok(State::Lost)
}

/// Creates an index, publishes these generations in it, and returns it.
fn made(dir: &Path, generations: std::ops::RangeInclusive<u64>) -> Index {
    let mut index = Index::open(dir, nothing).unwrap();
    for generation in generations {
        index.intend(&manifest_of(generation), &Default::default()).unwrap();
        add(&index, generation);
        index.publish(manifest_of(generation)).unwrap();
    }
    index
}

fn batches(dir: &Path) -> Vec<String> {
    let mut left = names(&dir.join(BATCHES)).unwrap();
    left.sort();
    left
}

#[test]
fn an_intent_whose_output_stands_comes_true_and_another_one_goes() {
    for state in [State::Published, State::Lost] {
        let folder = tempfile::tempdir().unwrap();
        let index = made(folder.path(), 1..=1);
        index.begin(BATCHES, "b-3").unwrap();
        index.intend(&manifest_of(2), &Default::default()).unwrap();
        add(&index, 2);
        drop(index);
        let expected = if state == State::Published { 2 } else { 1 };
        let seen = Index::look(folder.path(), |_| Ok(state)).unwrap().unwrap();
        assert_eq!(seen.manifest.as_ref().unwrap().generation, expected);
        drop(seen);
        let index = Index::open(folder.path(), |batch| {
            assert_eq!((&*batch.out, batch.generation), (Path::new("out-2"), 2));
            Ok(state)
        });
        assert_eq!(index.unwrap().manifest.as_ref().unwrap().generation, expected);
        assert_eq!(batches(folder.path()), (1..=expected).map(|n| format!("b-{n}")).collect::<Vec<_>>());
        assert!(names(folder.path()).unwrap().iter().all(|name| !name.starts_with("intent")));
    }
    // If it is unknown whether the output is complete, nothing is removed.
    let folder = tempfile::tempdir().unwrap();
    let index = made(folder.path(), 1..=1);
    index.intend(&manifest_of(2), &Default::default()).unwrap();
    add(&index, 2);
    drop(index);
    assert!(Index::open(folder.path(), |_| Err(Error::usage("who knows"))).is_err());
    assert_eq!(batches(folder.path()), ["b-1", "b-2"]);
}

#[test]
fn nothing_is_removed_while_a_generation_cannot_be_read() {
    for damaged in [5, 3, 0] {
        let folder = tempfile::tempdir().unwrap();
        drop(made(folder.path(), 1..=5));
        let file = if damaged > 0 { format!("manifest-{damaged:08}.json") } else { "held.json".to_owned() };
        fs::write(folder.path().join(&file), "{").unwrap();
        let refused = Index::open(folder.path(), nothing).unwrap_err().to_string();
        assert!(refused.contains(&file) && refused.contains("dupsift index restore"), "{refused}");
        assert_eq!(batches(folder.path()).len(), 5);
        let looked = Index::look(folder.path(), nothing);
        assert_eq!(looked.is_ok(), damaged != 5, "{file}");
        assert!(Index::look_at_all(folder.path(), nothing).is_err(), "{file}");
    }
}

#[test]
fn files_stay_as_long_as_a_reader_has_them() {
    let folder = tempfile::tempdir().unwrap();
    // In this index, later generations do not contain the batches of earlier generations.
    let lone = |generation: u64| Manifest {
        batches: manifest_of(generation).batches.split_off(generation as usize - 1),
        ..manifest_of(generation)
    };
    let publish = |index: &mut Index, generation: u64| {
        index.intend(&lone(generation), &Default::default()).unwrap();
        add(index, generation);
        index.publish(lone(generation)).unwrap();
    };
    let mut index = Index::open(folder.path(), nothing).unwrap();
    publish(&mut index, 1);
    let reader = Index::look(folder.path(), nothing).unwrap().unwrap();
    (2..=20).for_each(|generation| publish(&mut index, generation));
    assert!(reader.folder(BATCHES, "b-1").is_dir() && batches(folder.path()).len() == 20);
    drop(reader);
    publish(&mut index, 21);
    assert_eq!(batches(folder.path()).len(), KEPT);
}

#[test]
fn a_generation_that_has_its_name_counts_whatever_fails_then() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = made(folder.path(), 1..=1);
    index.intend(&manifest_of(2), &Default::default()).unwrap();
    add(&index, 2);
    // From here on, the number cannot be recorded, and an earlier generation cannot be read.
    fs::remove_file(folder.path().join("generation.json")).unwrap();
    fs::create_dir_all(folder.path().join("generation.json/x")).unwrap();
    fs::write(folder.path().join("manifest-00000001.json"), "{").unwrap();
    index.publish(manifest_of(2)).unwrap();
    assert_eq!(index.manifest.as_ref().unwrap().generation, 2);
    assert_eq!(Generations::newest(folder.path()).unwrap().0, Some(manifest_of(2)));
}

#[test]
fn a_folder_of_an_index_that_everybody_may_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    drop(made(folder.path(), 1..=1));
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let batches = folder.path().join(BATCHES);
    set(&batches, 0o777);
    let refused = Index::open(folder.path(), nothing).unwrap_err().to_string();
    assert!(refused.contains("its folder batches") && refused.contains("chmod o-w"), "{refused}");
    set(&batches, 0o755);
    set(folder.path(), 0o777);
    let refused = Index::open(folder.path(), nothing).unwrap_err().to_string();
    assert!(refused.contains("a new folder inside it, such as") && refused.contains("/index"), "{refused}");
    set(folder.path(), 0o755);
    Index::open(folder.path(), nothing).unwrap();
}

#[test]
fn a_new_index_to_which_nothing_was_added_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let dir = place.path().join("a/b/index");
    let index = Index::open(&dir, nothing).unwrap();
    index.begin(BATCHES, "b-1").unwrap();
    index.begin(STATISTICS, "s-1").unwrap();
    drop(index);
    assert!(!place.path().join("a").exists());
    fs::create_dir_all(&dir).unwrap();
    drop(Index::open(&dir, nothing).unwrap());
    assert!(names(&dir).unwrap().is_empty());
    drop(made(&dir, 1..=1));
    assert!(dir.join(LOCK).exists() && batches(&dir) == ["b-1"]);
    // A reader creates no folder and locks nothing.
    assert!(Index::look(&place.path().join("none"), nothing).unwrap().is_none());
    assert!(!place.path().join("none").exists());
}

#[test]
fn folders_of_no_generation_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    drop(made(folder.path(), 1..=2));
    for name in names(folder.path()).unwrap().iter().filter(|name| name.ends_with(".json")) {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    drop(Index::open(folder.path(), nothing).unwrap());
    assert_eq!(batches(folder.path()), ["b-1", "b-2"]);
}

#[test]
fn a_folder_of_other_things_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.txt"), "x").unwrap();
    let refused = Index::open(folder.path(), nothing).unwrap_err().to_string();
    assert!(refused.contains("mine.txt") && refused.contains("a new folder"), "{refused}");
}
