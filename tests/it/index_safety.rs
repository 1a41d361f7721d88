//! Tests that no data is lost when an index is read, or when a command is refused or repeated. The cases include damaged generations,
//! outputs of other runs, nested folders, and a read-only index.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::index_place::{IndexPlace, dealt, looked_after};
use crate::kit::{
    Ran, Table, files_below, made_docs, names_in, numbered, program, record, removed_ids, result_bytes, write_docs,
};

/// Returns everything below a folder: the names of folders, and files with their sizes and times.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Option<(u64, SystemTime)>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, there) = (entry.path(), entry.path().symlink_metadata().unwrap());
        found.insert(path.clone(), (!there.is_dir()).then(|| (there.len(), there.modified().unwrap())));
        if there.is_dir() {
            found.extend(tree(&path));
        }
    }
    found
}

#[track_caller]
fn same_tree(before: &BTreeMap<PathBuf, Option<(u64, SystemTime)>>, folder: &Path, what: &str) {
    let now = tree(folder);
    let gone: Vec<_> = before.iter().filter(|(path, there)| now.get(*path) != Some(there)).collect();
    let new: Vec<_> = now.keys().filter(|path| !before.contains_key(*path)).collect();
    assert!(gone.is_empty() && new.is_empty(), "{what}: gone or changed {gone:?}, new {new:?}");
}

fn two_batches(seed: u64) -> IndexPlace {
    let mut place = IndexPlace::new("exact,minhash");
    for docs in dealt(made_docs(160), 2, seed) {
        place.batch(docs).ends_with(0);
    }
    place
}

/// Checks that if anything in an index cannot be read, a reader reports it, a run refuses to use the index, and no file is changed.
#[test]
fn a_damaged_generation_is_reported_and_nothing_is_removed() {
    let place = two_batches(31);
    let (index, all) = (place.at("index"), place.at(""));
    let newest = index.join("manifest-00000002.json");
    let whole = std::fs::read(&newest).unwrap();
    let mut torn = whole.clone();
    torn[whole.len() / 2] ^= 1;
    let put = |name: &'static str, bytes: Option<Vec<u8>>| (name, bytes);
    write_docs(&place.at("in/2.parquet"), &made_docs(40), 300);
    let cases = [
        put("manifest-00000002.json", Some(torn)),
        put("manifest-00000002.json", Some(Vec::new())),
        put("manifest-00000002.json", Some(whole[..whole.len() - 40].to_vec())),
        put("manifest-00000002.json", None),
        put("manifest-00000001.json", Some(b"{}".to_vec())),
        put("held.json", Some(b"{".to_vec())),
        put("intent-00000003.json", Some(b"nothing".to_vec())),
    ];
    for (name, bytes) in cases {
        let path = index.join(name);
        let before = std::fs::read(&path).ok();
        match &bytes {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let stands = tree(&all);
        let says = [name, "nothing was changed", "return to generation", "dupsift index restore"];
        for verb in ["info", "verify", "compact"] {
            looked_after(&index, &[verb]).ends_with(1).says(&says);
        }
        looked_after(&index, &["forget", "--batch", "n0"]).ends_with(1).says(&says);
        place.again(1, &[]).ends_with(1).says(&says);
        place.again(2, &[]).ends_with(1).says(&says);
        if name.ends_with("2.json") {
            let more = ["--reference", index.to_str().unwrap()];
            place.with(&[place.at("in/2.parquet")], &place.at("out/x"), &more).ends_with(1).says(&says);
        }
        same_tree(&stands, &all, name);
        match before {
            Some(before) => std::fs::write(&path, before).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
    }
    looked_after(&index, &["verify"]).ends_with(0);
    place.again(1, &[]).ends_with(0).says(&["was already published"]);
    // Everything except the folders is lost, but no run mistakes the folders for leftovers.
    let files = files_below(&index).len();
    for name in names_in(&index).iter().filter(|name| name.ends_with(".json")) {
        std::fs::remove_file(index.join(name)).unwrap();
    }
    place.again(2, &[]).says(&["belongs to no generation"]);
    assert!(files_below(&index).len() >= files - 3);
}

#[test]
fn an_earlier_generation_is_restored_by_name_and_the_batch_made_again() {
    let place = two_batches(32);
    let (index, before) = (place.at("index"), result_bytes(&place.out(1)));
    let newest = index.join("manifest-00000002.json");
    let mut torn = std::fs::read(&newest).unwrap();
    torn[100] ^= 2;
    std::fs::write(&newest, &torn).unwrap();
    looked_after(&index, &["restore", "2"]).ends_with(2).says(&["generation 2", "these can: 1"]);
    looked_after(&index, &["restore", "1"]).ends_with(0);
    assert_eq!(names_in(&index.join("batches")), ["b-00000001"]);
    looked_after(&index, &["verify"]).ends_with(0);
    place.again(1, &[]).ends_with(2).says(&["`--overwrite"]);
    place.again(1, &["--overwrite"]).ends_with(0);
    assert!(result_bytes(&place.out(1)) == before, "the same batch, other bytes");
    place.again(1, &[]).ends_with(0).says(&["was already published"]);
}

/// Checks that if the run of a batch was killed after its output had its final name, a reader counts the batch, and the next change
/// completes it.
#[test]
fn a_look_finishes_nothing() {
    let mut place = IndexPlace::new("exact,minhash");
    let batches = dealt(made_docs(120), 2, 33);
    place.same_batch(&batches[0]).ends_with(0);
    write_docs(&place.at("in/1.parquet"), &batches[1], 300);
    for (step, counted) in [("intent", "1 batch,"), ("rows named", "1 batch,"), ("output", "2 batches,")] {
        assert_ne!(place.killed_at(1, step).code, 0, "{step}");
        let before = tree(&place.at(""));
        let told = looked_after(&place.at("index"), &["info"]).ends_with(0).stdout;
        assert!(told.contains(counted), "{step}: {told}");
        looked_after(&place.at("index"), &["verify"]).ends_with(0);
        same_tree(&before, &place.at(""), step);
    }
    place.again(1, &[]).ends_with(0).says(&["was already published"]);
    // The output of the batch was replaced before the index recorded it, so the batch is not in the index.
    let mut place = IndexPlace::new("exact,minhash");
    place.same_batch(&batches[0]).ends_with(0);
    write_docs(&place.at("in/1.parquet"), &batches[1], 300);
    assert_ne!(place.killed_at(1, "output").code, 0);
    place.with(&[place.at("in/0.parquet")], &place.out(1), &["--overwrite"]).ends_with(0);
    assert!(looked_after(&place.at("index"), &["info"]).ends_with(0).stdout.contains("1 batch,"));
    place.again(1, &[]).ends_with(2).says(&["already exists", "`--overwrite"]);
    place.again(1, &["--overwrite"]).ends_with(0);
    let used = record(&place.out(1))["documents"]["used"].as_u64();
    assert_eq!(used, Some(batches[1].len() as u64));
}

/// Checks that the output of a batch is recognized by the publication from which it comes, and not by its location.
#[test]
fn published_is_what_is_the_same_publication_with_the_same_options() {
    let place = two_batches(34);
    write_docs(&place.at("in/b.parquet"), &numbered(["one text", "another text"]), 10);
    let own = result_bytes(&place.out(1));
    place.again(1, &[]).ends_with(0).says(&["was already published"]);
    // Options for guards and resources do not change the result.
    let free = ["--threads", "1", "--max-removed-share", "0.9", "--memory", "300MiB"];
    place.again(1, &free).ends_with(0).says(&["was already published"]);
    // Other options change the result.
    for (more, says) in [
        (&["--corpus", "keep"][..], "corpus: none in the published run, keep in this run"),
        (&["--keep", "length asc"], "keep: "),
        (&["--remove-if", "pair"], "remove-if: "),
        (&["--chain", "remove", "--remove-if", "pair"], "chain: "),
    ] {
        place.again(1, more).ends_with(2).says(&["already published", "with different options", says, "`--overwrite"]);
        place.again(0, more).ends_with(2).says(&["with different options", says, "`--batch"]);
    }
    assert!(result_bytes(&place.out(1)) == own);
    place.again(1, &["--corpus", "keep", "--overwrite"]).ends_with(0);
    assert!(place.out(1).join("deduped").is_dir());
    place.again(1, &["--corpus", "keep"]).ends_with(0).says(&["already published"]);
    // The folder contains the result of a different run, which is never mistaken for the result of the batch.
    let other = place.with(&[place.at("in/b.parquet")], &place.out(1), &["--overwrite"]).ends_with(0);
    other.says(&["is the result of batch n1 in the index", "dupsift index forget"]);
    place.again(1, &[]).ends_with(2).says(&["differs from that of", "n1", "`--overwrite"]);
    assert_eq!(record(&place.out(1))["documents"]["used"], 2, "the other run's result was touched");
    place.again(1, &["--overwrite"]).ends_with(0);
    assert!(result_bytes(&place.out(1)) == own);
    // Tests a batch that is followed by other batches.
    place.with(&[place.at("in/b.parquet")], &place.out(0), &["--overwrite"]).ends_with(0);
    place.again(0, &[]).ends_with(2).says(&["followed by n1", "is no longer in", "index forget"]);
    place.again(0, &["--overwrite"]).ends_with(2).says(&["followed by n1", "is no longer in"]);
    // Tests a different output folder while the result of the batch still exists.
    let index = place.at("index");
    let elsewhere = ["--index", index.to_str().unwrap(), "--batch", "n1"];
    place
        .with(&[place.at("in/1.parquet")], &place.at("out/y"), &elsewhere)
        .ends_with(2)
        .says(&["out/n1", "`--overwrite"]);
    assert!(!place.at("out/y").exists());
    // A deleted result is recomputed.
    std::fs::remove_dir_all(place.out(1)).unwrap();
    place.again(1, &[]).ends_with(0);
    assert!(result_bytes(&place.out(1)) == own);
}

/// Checks a new index in the same folder, which has different batches with the same names and numbers.
#[test]
fn a_result_of_an_index_that_was_made_anew_is_another_one() {
    let place = two_batches(35);
    std::fs::rename(place.out(0), place.at("out/old")).unwrap();
    std::fs::remove_dir_all(place.at("index")).unwrap();
    place.again(0, &[]).ends_with(0);
    let own = record(&place.out(0))["index"]["publication"].clone();
    std::fs::remove_dir_all(place.out(0)).unwrap();
    std::fs::rename(place.at("out/old"), place.out(0)).unwrap();
    place.again(0, &[]).ends_with(2).says(&["differs from that of"]);
    place.again(0, &["--overwrite"]).ends_with(0);
    assert_ne!(record(&place.out(0))["index"]["publication"], own);
}

/// Checks that a held result does not replace a result that was written later.
#[test]
fn accepting_replaces_what_stood_there_and_nothing_later() {
    let place = two_batches(36);
    let (out, held) = (place.at("out/o"), place.at("out/o.held"));
    place.with(&[place.at("in/0.parquet")], &out, &[]).ends_with(0);
    let accept = || Ran::of(program().arg("accept").arg(&held).output().unwrap());
    let guarded = ["--guard-rows", "1", "--max-removed-share", "0"];
    let hold = || {
        let more = [&["--overwrite"], &guarded[..]].concat();
        place.with(&[place.at("in/1.parquet")], &out, &more).ends_with(4);
    };
    hold();
    accept().ends_with(0);
    assert!(!held.exists() && !out.join("_HELD").exists());
    assert_eq!(std::fs::read(out.join("_SUCCESS")).unwrap(), b"");
    // The earlier output was moved away, and a different valid result is in its place.
    let other = place.at("out/other");
    place.with(&[place.at("in/0.parquet")], &other, &[]).ends_with(0);
    hold();
    std::fs::rename(&out, place.at("out/away")).unwrap();
    std::fs::rename(&other, &out).unwrap();
    let before = (result_bytes(&out), tree(&held));
    accept().ends_with(2).says(&["another run has written", "`--accept"]);
    assert!((result_bytes(&out), tree(&held)) == before);
    std::fs::remove_dir_all(&out).unwrap();
    accept().ends_with(0);
    // A result for which a guard fired, and which was published only because there was no earlier result, is no better than the held
    // result.
    hold();
    std::fs::rename(&out, place.at("out/gone")).unwrap();
    place.with(&[place.at("in/0.parquet")], &out, &guarded).ends_with(3);
    accept().ends_with(0);
    assert_eq!(record(&out)["accepted"]["output"], "o");
}

/// Checks that a held batch is discarded when a later batch is published and when rows are merged.
#[test]
fn a_held_batch_gives_way_to_what_is_published_after_it() {
    let place = two_batches(39);
    let index = place.at("index");
    write_docs(&place.at("in/2.parquet"), &numbered(vec!["a new text that comes again and again"; 60]), 300);
    let before = place.out(1);
    let guarded = ["--previous", before.to_str().unwrap(), "--guard-rows", "1", "--max-removed-share", "0"];
    place.again(2, &guarded).ends_with(4);
    assert!(index.join("held.json").exists());
    let rows = names_in(&index.join("rows"));
    assert_eq!(rows.len(), 3, "{rows:?}");
    // A later batch is held in place of the discarded batch.
    place.again(2, &[&guarded[..], &["--batch", "again"]].concat()).ends_with(4);
    looked_after(&index, &["verify"]).ends_with(0);
    place.again(2, &[]).ends_with(0);
    assert!(!index.join("held.json").exists());
    assert_eq!(names_in(&index.join("rows")).len(), 3);
    looked_after(&index, &["verify"]).ends_with(0);
    place.again(2, &[]).ends_with(0).says(&["already published"]);
}

/// Checks that forgotten documents of the last batch stay forgotten when the batch is recomputed, even after rows were merged.
#[test]
fn forgotten_documents_stay_forgotten_when_their_batch_is_made_again() {
    let docs = made_docs(90);
    let mut place = IndexPlace::new("exact,minhash");
    place.same_batch(&docs[..60]).ends_with(0);
    place.same_batch(&docs[60..]).ends_with(0);
    let index = place.at("index");
    let first_doc = record(&place.out(1))["index"]["first_doc"].as_i64().unwrap();
    // Selects a document in the last batch whose text the batch added to the index.
    let removed = removed_ids(&place.out(1));
    let gone = docs[60..].iter().find(|doc| !removed.contains(&doc.id)).unwrap();
    let row = docs[60..].iter().position(|doc| doc.id == gone.id).unwrap() as u64 + first_doc as u64;
    looked_after(&index, &["forget", "--id", &gone.id]).ends_with(0);
    let forgotten = || {
        let told = looked_after(&index, &["info", "--json"]).ends_with(0).stdout;
        serde_json::from_str::<serde_json::Value>(&told).unwrap()["forgotten"].clone()
    };
    assert_eq!(forgotten(), serde_json::json!([[row, row + 1]]));
    place
        .again(1, &["--overwrite"])
        .ends_with(0)
        .says(&["1 row of this batch was forgotten earlier and stays forgotten"]);
    assert_eq!(forgotten(), serde_json::json!([[row, row + 1]]));
    assert!(record(&place.out(1))["warnings"].to_string().contains("stays forgotten"));
    // If the forgotten text arrives again, it counts as new; the text of a different document does not.
    let other = docs[60..].iter().find(|doc| doc.id != gone.id && !removed.contains(&doc.id) && doc.text != gone.text);
    let again = numbered([gone.text.clone(), other.unwrap().text.clone()]);
    place.same_batch(&again).ends_with(0);
    let table = Table::read(&place.out(2).join("removed"));
    assert!(!table.numbers("kept_doc").contains(&(row as i64)), "removed in favor of a forgotten document");
    assert!(table.texts("id").contains(&"d1".to_owned()), "{:?}", table.texts("id"));
    // Forgets a complete batch, which is then recomputed with different options.
    looked_after(&index, &["forget", "--batch", "n2"]).ends_with(0);
    place
        .again(2, &["--overwrite", "--corpus", "keep"])
        .ends_with(0)
        .says(&["2 rows of this batch were forgotten earlier"]);
    let ranges = forgotten();
    assert_eq!(ranges.as_array().unwrap().len(), 2, "{ranges}");
    // If the batch has a different name, its documents count as new.
    place.again(2, &["--overwrite", "--batch", "late"]).ends_with(0);
    assert_eq!(forgotten(), ranges);
    assert_eq!(record(&place.out(2))["index"]["texts"], 1, "{}", record(&place.out(2))["index"]);
}

/// Checks that a forgotten text stays forgotten if the recomputed batch keeps a different copy of it.
#[test]
fn a_text_stays_forgotten_if_another_copy_of_it_is_kept() {
    let text = |word: &str| (0..60).map(|n| format!("{word}{n}")).collect::<Vec<_>>().join(" ");
    let mut place = IndexPlace::new("exact,minhash");
    place.batch(numbered([text("first")])).ends_with(0);
    place.batch(numbered([text("same"), text("other"), text("same")])).ends_with(0);
    assert_eq!(removed_ids(&place.out(1)), ["d2"]);
    let index = place.at("index");
    // An earlier batch contains a document with the same id.
    looked_after(&index, &["forget", "--id", "d0"]).ends_with(0);
    place.again(1, &["--overwrite", "--keep", "doc desc"]).ends_with(0);
    assert_eq!(removed_ids(&place.out(1)), ["d0"]);
    place.batch(numbered([text("same"), text("other")])).ends_with(0);
    assert_eq!(removed_ids(&place.out(2)), ["d1"]);
}

/// Checks that a batch that was never published is discarded with a warning, and only if its location is accessible.
#[test]
fn a_batch_that_is_given_up_is_reported() {
    let mut place = two_batches(43);
    write_docs(&place.at("in/2.parquet"), &made_docs(40), 300);
    place.docs.push(made_docs(40));
    assert_eq!(place.killed_at(2, "rows named").code, -1);
    // Simulates that the disk with the outputs is not mounted.
    let (index, away) = (place.at("index"), place.at("away"));
    std::fs::rename(place.at("out"), &away).unwrap();
    let before = tree(&index);
    looked_after(&index, &["compact"]).ends_with(2).says(&["out does not exist", "mkdir -p"]);
    same_tree(&before, &index, "a disk that is not mounted");
    std::fs::rename(&away, place.at("out")).unwrap();
    looked_after(&index, &["compact"]).ends_with(0).says(&["the run for batch n2 ended before the result"]);
    assert_eq!(names_in(&index.join("batches")).len(), 2);
}

/// Checks that repeating a batch reads its files only once if their file system metadata has changed, and not at all otherwise.
#[test]
fn a_batch_that_comes_again_is_hashed_once() {
    let place = two_batches(47);
    // Each pass over a corpus has one leading thread.
    let readings = || {
        let ran = place.again(1, &["-v"]).ends_with(0).says(&["already published"]);
        ran.stderr.lines().filter(|line| line.contains("leading thread")).count()
    };
    assert_eq!(readings(), 0);
    let file = std::fs::File::options().append(true).open(place.at("in/1.parquet")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(readings(), 1);
}

/// Checks that an index that consists of symbolic links can be read but is not written to. Dataset caches and data versioning tools store
/// each file once, and store an index as links to these files.
#[test]
fn an_index_of_links_is_read() {
    let docs = made_docs(60);
    let mut place = IndexPlace::new("exact,minhash");
    place.same_batch(&docs[..40]).ends_with(0);
    let index = place.at("index");
    let reference = ["--reference", index.to_str().unwrap()];
    write_docs(&place.at("new/docs.parquet"), &docs[20..], 300);
    let ran = |out: &str| {
        place.with(&[place.at("new")], &place.at(out), &reference).ends_with(0);
        result_bytes(&place.at(out))
    };
    let before = ran("before");
    std::fs::create_dir(place.at("blobs")).unwrap();
    let files: Vec<PathBuf> =
        tree(&index).into_iter().filter(|(_, file)| file.is_some()).map(|(path, _)| path).collect();
    for (at, path) in files.iter().enumerate() {
        let blob = place.at("blobs").join(at.to_string());
        std::fs::rename(path, &blob).unwrap();
        std::os::unix::fs::symlink(&blob, path).unwrap();
    }
    for verb in ["info", "verify"] {
        looked_after(&index, &[verb]).ends_with(0);
    }
    assert!(before == ran("by-links"), "an index of links is another reference");
    let blobs = tree(&place.at("blobs"));
    write_docs(&place.at("in/1.parquet"), &docs[40..], 300);
    assert_ne!(place.again(1, &[]).code, 0);
    same_tree(&blobs, &place.at("blobs"), "a run that may not write");
}

/// Checks that if a restore was killed, the same command completes it, and that forgotten documents stay forgotten.
#[test]
fn a_restore_that_is_killed_forgets_nothing_less() {
    for step in ["restored", "later generation removed", "restored generation recorded"] {
        let mut place = IndexPlace::new("exact");
        for docs in dealt(made_docs(60), 3, 41) {
            place.same_batch(&docs).ends_with(0);
        }
        let index = place.at("index");
        let removed = removed_ids(&place.out(0));
        let gone = place.docs[0].iter().find(|doc| !removed.contains(&doc.id)).unwrap().id.clone();
        looked_after(&index, &["forget", "--id", &gone]).ends_with(0);
        let info = || {
            let told = looked_after(&index, &["info", "--json"]).ends_with(0).stdout;
            serde_json::from_str::<serde_json::Value>(&told).unwrap()
        };
        let before = info();
        let mut command = program();
        command.args(["index", "restore"]).arg(&index).arg("2").env("DUPSIFT_STOP_AT", step);
        assert_eq!(Ran::of(command.output().unwrap()).code, -1, "{step}");
        looked_after(&index, &["restore", "2"]).ends_with(0);
        assert_eq!(info()["forgotten"], before["forgotten"], "{step}");
        assert_eq!(names_in(&index.join("batches")).len(), 2, "{step}");
        looked_after(&index, &["verify"]).ends_with(0);
    }
}

/// Checks that forgotten documents stay forgotten when rows are merged and when the next batch is recomputed.
#[test]
fn forgotten_documents_stay_forgotten_when_rows_are_merged() {
    let mut place = IndexPlace::new("exact,minhash");
    let batches = dealt(made_docs(400), 11, 37);
    for docs in &batches {
        place.same_batch(docs).ends_with(0);
    }
    let index = place.at("index");
    for batch in ["n3", "n10"] {
        looked_after(&index, &["forget", "--batch", batch]).ends_with(0);
    }
    let forgotten = || {
        let told = looked_after(&index, &["info", "--json"]).ends_with(0).stdout;
        serde_json::from_str::<serde_json::Value>(&told).unwrap()["forgotten"].clone()
    };
    let before = forgotten();
    assert!(looked_after(&index, &["compact"]).ends_with(0).stdout.contains("merged into"));
    assert_eq!(forgotten(), before);
    place.again(10, &["--overwrite"]).ends_with(0);
    assert_eq!(forgotten(), before);
    looked_after(&index, &["verify"]).ends_with(0);
}

/// Checks that refused commands leave the disk unchanged, including folders, locks and times.
#[test]
fn a_refused_command_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let docs = made_docs(60);
    write_docs(&at("c/a.parquet"), &docs, 20);
    write_docs(&at("d/a.parquet"), &docs, 20);
    write_docs(&at("ref/a.parquet"), &docs[..5], 20);
    std::fs::create_dir_all(at("bad")).unwrap();
    std::fs::write(at("bad/a.parquet"), "not Parquet").unwrap();
    std::fs::create_dir(at("empty")).unwrap();
    let typed = |line: &str| {
        let mut command = program();
        command.current_dir(folder.path()).args(line.split(' '));
        Ran::of(command.output().unwrap())
    };
    typed("run c --out q --algorithms exact,minhash --no-report").ends_with(0);
    typed("run c --out n0 --index S --algorithms exact,minhash --no-report").ends_with(0);
    std::os::unix::fs::symlink(at("S"), at("link")).unwrap();
    std::os::unix::fs::symlink(at("q"), at("qlink")).unwrap();
    let refused = [
        // Commands with nested folders.
        "run c --out q --overwrite --index q/seen",
        "run c --out qlink --overwrite --index q/seen",
        "run c --out q --overwrite --index d/../qlink/seen",
        "run c --out q --overwrite --index q",
        "run c --out new --index new",
        "run c --out new --index ./d/../new",
        "run c --out new --index new/in",
        "run c --out new --index new.held",
        "run c --out new --index new.held/in",
        "run c --out new/in --index new",
        "run c --out S/night2 --index S",
        "run c --out S/night2",
        "run c --out S --overwrite",
        "run c --out S --overwrite --index S",
        "run c --out link/night2 --index S",
        "run c --out S/../S/rows/night2 --index NEW",
        "run c --out q/pairs/x",
        "run c --out q/sub --index NEW",
        "run c --out new --index S/sub",
        "run c --out new --index q",
        "run c --out new --index q/sub",
        "run c --out new --work S",
        "run c --out new --work S/rows",
        "run c --out new --work q",
        "run c --out new --work qlink/pairs",
        "run c --out new --index empty --work empty",
        "run c --out ref/new --reference ref",
        "purify c --out S/p",
        "purify c --out q/p",
        "compare c --out S/p",
        "compare c --out q/p",
        "stream c --out S/p",
        "stream c --out q/p",
        // Commands with invalid values, columns, files and recipes.
        "run c --out q",
        "run c --out deep/new/path --index NEW/in --algorithms repeats",
        "run c --out deep/new/path --index NEW/in --algorithms nothing",
        "run c --out deep/new/path --index NEW/in --prefilter",
        "run c --out deep/new/path --index NEW/in --id-column nothing",
        "run c --out deep/new/path --index NEW/in --keep nothing",
        "run nothing --out deep/new/path --index NEW/in",
        "run bad --out deep/new/path --index NEW/in",
        "run bad --out deep/new/path --index empty",
        "run bad c --out deep/new/path --index NEW/in --strict",
        "run c --out deep/new/path --index NEW/in --stats c",
        "run c --out deep/new/path --index NEW/in --stats nothing",
        "run c --out deep/new/path --index NEW/in --algorithms cosine --stats q",
        "run c --out deep/new/path --index NEW/in --reference S",
        "run c --out deep/new/path --index NEW/in --scope url",
        "run c --out deep/new/path --index NEW/in --memory 1MiB",
        "run c --out deep/new/path --index NEW/in --work nothing",
        "run c --out deep/new/path --index NEW/in --previous nothing",
        "run c --out deep/new/path --index c",
        "run c --out deep/new/path --index S --algorithms exact,minhash:rows=7",
        "run c --out deep/new/path --index S --algorithms exact,minhash --planned-documents 7",
        "run d --out n0 --index S --algorithms exact,minhash",
        "run c --out deep/new/path --index S --algorithms exact,minhash --batch n0",
        "run c --out n0 --index S --algorithms exact,minhash --no-report --corpus keep",
        "run c --out deep/new/path --reference nothing",
        "run c --out deep/new/path --reference bad",
        "run c --out deep/new/path --reference S --algorithms exact",
        "run bad --out deep/new/path",
        "purify c --out deep/new/path --html-column nothing",
        "purify nothing --out deep/new/path",
        "compare c --out deep/new/path --algorithms nothing",
        "compare bad --out deep/new/path",
        "stream c --out deep/new/path --filter nothing",
        "stream bad --out deep/new/path",
        // Commands that read results, and commands that maintain an index between runs.
        "accept q",
        "accept nothing.held",
        "accept deep/nothing.held",
        "index info q",
        "index verify nothing",
        "index info empty",
        "index compact empty",
        "index compact nothing",
        "index forget S --id nothing",
        "index forget S --batch nothing",
        "index forget nothing --batch n0",
        "index restore S 9",
        "index restore q 1",
        "index restore nothing 1",
        "evaluate q --truth nothing",
        "report nothing",
        "explain nothing d1",
        "clean deep/nothing/x",
    ];
    let before = tree(folder.path());
    for line in refused {
        let ran = typed(line);
        assert!([1, 2].contains(&ran.code), "{line}: exit code {}: {}", ran.code, ran.stderr);
        assert!(!ran.stderr.contains("this is a bug"), "{line}: {}", ran.stderr);
        same_tree(&before, folder.path(), line);
    }
    // Everything still works after the refused commands.
    typed("run c --out n0 --index S --algorithms exact,minhash --no-report").ends_with(0).says(&["already published"]);
    typed("run d --out n1 --index S --algorithms exact,minhash --no-report").ends_with(0);
    typed("run c --out q --overwrite --algorithms exact --no-report").ends_with(0);
    typed("run c --out deep/new/path --index NEW/in --algorithms exact --no-report").ends_with(0);
    typed("run c --out one --reference n0 --algorithms exact --no-report").ends_with(0);
}

/// Returns a function that runs the program as a user with read access only; `None` if this is not possible on the machine.
fn as_another_user(folder: &Path) -> Option<impl Fn(&[&str]) -> Ran + use<>> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    mode(folder, 0o755);
    std::fs::create_dir(folder.join("theirs")).unwrap();
    mode(&folder.join("theirs"), 0o777);
    let program = crate::kit::built();
    let user = ["--reuid=65534", "--regid=65534", "--clear-groups", program];
    let command = move |arguments: &[&str]| {
        let mut command = std::process::Command::new("setpriv");
        command.args(user).args(arguments).env("NO_COLOR", "1").env_remove("RUST_LOG").env("HOME", "/nonexistent");
        command
    };
    let works = command(&["--version"]).output().is_ok_and(|output| output.status.success());
    works.then_some(move |arguments: &[&str]| Ran::of(command(arguments).output().unwrap()))
}

/// Checks that another user's index can be read and used as a reference, even while its owner adds a batch.
#[test]
fn an_index_that_may_only_be_read_is_read() {
    let mut place = two_batches(38);
    let (index, out) = (place.at("index"), place.at("theirs/o"));
    let Some(they) = as_another_user(&place.at("")) else {
        eprintln!("skipped: no other user can be had here (setpriv as root)");
        return;
    };
    write_docs(&place.at("in/2.parquet"), &made_docs(80), 300);
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let (shown, corpus) = (path(&index), path(&place.at("in/2.parquet")));
    let before = tree(&index);
    they(&["index", "info", &shown]).ends_with(0);
    they(&["index", "verify", &shown]).ends_with(0);
    let typed = |out: &Path| {
        let words = ["run", &corpus, "--out", out.to_str().unwrap(), "--reference", &shown];
        let rest = ["--algorithms", "exact,minhash", "--no-progress", "--threads", "2", "--memory", "512MiB"];
        [&words[..], &rest].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let theirs = typed(&out);
    they(&theirs.iter().map(String::as_str).collect::<Vec<_>>()).ends_with(0);
    assert!(!removed_ids(&out).is_empty());
    let ours = place.at("out/ours");
    Ran::of(program().args(typed(&ours)).output().unwrap()).ends_with(0);
    assert!(result_bytes(&out) == result_bytes(&ours));
    let removed = Table::read(&place.out(1).join("removed")).texts("id");
    let theirs = path(&place.at("theirs"));
    they(&["explain", &path(&place.out(1)), &removed[0], "--work", &theirs]).ends_with(0);
    they(&["report", &path(&out)]).ends_with(0);
    same_tree(&before, &index, "a look by another user");
    // Commands that write to the index report an error.
    they(&["index", "forget", &shown, "--batch", "n0"]).ends_with(1).says(&["Permission denied"]);
    same_tree(&before, &index, "a change that another user may not make");
    place.batch(made_docs(20)).ends_with(0);
    they(&["index", "verify", &shown]).ends_with(0);
}
