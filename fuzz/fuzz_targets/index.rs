//! Damages the files of an index, and then reads them as usual. The files are the manifest (with its old checksum and with a correct
//! one), runs of rows, and document files. Checks that nothing panics, that no file name points outside the index, and that memory is
//! bounded by the file sizes.
#![no_main]

mod edits;

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use dupsift::Job;
use dupsift_index::{BATCHES, Batch, Generations, Index, Manifest, ROWS, State, read_rows};
use dupsift_core::safe_fs::Readers;
use libfuzzer_sys::fuzz_target;

use edits::edited;

/// Holds an index, the bytes of its files, and the manifest of its newest generation.
struct Made {
    dir: PathBuf,
    files: Vec<(PathBuf, Vec<u8>)>,
    manifest: Vec<u8>,
}

fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let place = std::env::temp_dir().join(format!("dupsift-fuzz-index-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).expect("a folder");
        let line = |n: usize| format!("{{\"id\":\"{n}\",\"text\":\"text {} of many texts, and more of it\"}}\n", n % 7);
        std::fs::write(place.join("a.jsonl"), (0..40).map(line).collect::<String>()).expect("written");
        let (input, dir, out) = (place.join("a.jsonl"), place.join("index"), place.join("out"));
        let index = dir.to_str().expect("a text");
        Job::new().input(&input).output(&out).algorithms("exact,minhash").option("index", index).run().expect("a run");
        let mut files = Vec::new();
        below(&dir, &mut files);
        files.retain(|(path, _)| path.file_name().is_some_and(|name| name != "lock"));
        files.sort();
        let manifest = Generations::newest(&dir).expect("whole").0.expect("there");
        let manifest = serde_json::to_vec(&manifest).expect("a text");
        Made { dir, files, manifest }
    })
}

fn below(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            below(&path, files);
        } else {
            files.push((path.clone(), std::fs::read(&path).expect("there")));
        }
    }
}

/// Returns whether a path is inside the folder.
fn is_inside(dir: &Path, path: &Path) -> bool {
    path.strip_prefix(dir).is_ok_and(|rest| rest.components().all(|part| matches!(part, Component::Normal(_))))
}

fn lost(_: &Batch) -> dupsift::Result<State> {
    Ok(State::Lost)
}

/// Reads all files that the newest generation lists.
fn read(dir: &Path) {
    let Ok(Some(index)) = Index::look(dir, lost) else { return };
    let Some(manifest) = index.manifest.clone() else { return };
    let _ = (manifest.forgotten(), manifest.identity(u64::MAX));
    let _ = (index.verify(&|| Ok(())), index.check_statistics());
    for batch in &manifest.batches {
        for part in &batch.parts {
            let path = index.folder(BATCHES, &batch.folder).join(&part.file.name);
            assert!(is_inside(dir, &path), "{}", path.display());
            let rows: Vec<u64> = (0..part.rows.min(100)).collect();
            let _ = read_rows(&path, part.sums.list, Some(&rows), None, &mut |_| Ok(()));
            let _ = read_rows(&path, part.sums.list, Some(&rows), Some(&["id"]), &mut |_| Ok(()));
        }
    }
    for rows in &manifest.rows {
        for file in rows.files.iter().filter(|file| file.name.ends_with(".run")) {
            let path = index.folder(ROWS, &rows.folder).join(&file.name);
            assert!(is_inside(dir, &path), "{}", path.display());
            let Some(name) = file.name.strip_suffix(".run") else { continue };
            let Ok(run) = rows.open(dir, name) else { continue };
            let _ = run.load(0..usize::MAX, 1 << 20);
            let mut reader = run.read(0..usize::MAX);
            for bucket in [0, 7, 4000] {
                let _ = reader.may_have(bucket, &[1; 8]);
                let _ = reader.seek(bucket, &[1; 8]);
            }
            while let Ok(Some(_)) = reader.next_block() {}
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&which, edits)) = data.split_first() else { return };
    let Made { dir, files, manifest } = made();
    let which = usize::from(which) % (files.len() + 2);
    if let Some((path, bytes)) = files.get(which) {
        std::fs::write(path, edited(bytes, edits)).expect("written");
        read(dir);
        std::fs::write(path, bytes).expect("written");
        return;
    }
    // The manifest is replaced by a different manifest with a correct checksum.
    let text = if which == files.len() { edited(manifest, edits) } else { edits.to_vec() };
    let Ok(mut other) = serde_json::from_slice::<Manifest>(&text) else { return };
    other.generation = 99;
    Index::look(dir, lost).expect("whole").expect("there").intend(&other, &Readers::default()).expect("written");
    std::fs::rename(dir.join("intent-00000099.json"), dir.join("manifest-00000099.json")).expect("named");
    read(dir);
    std::fs::remove_file(dir.join("manifest-00000099.json")).expect("removed");
});
