//! Tests the files of an index: batches that are repeated, killed, held, merged, forgotten or damaged, and recipes that differ.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::index_place::{IndexPlace, dealt, law, looked_after, same};
use crate::kit::{
    Doc, Ran, Table, files_below, made_docs, names_in, numbered, pairs, program, record, result_bytes, write_docs,
};

#[test]
fn the_same_batch_again_changes_nothing_and_another_one_with_its_name_is_reported() {
    let mut place = IndexPlace::new("exact,minhash");
    for docs in dealt(made_docs(200), 2, 5) {
        place.batch(docs).ends_with(0);
    }
    let before = (result_bytes(&place.out(1)), names_in(&place.at("index")));
    place.again(1, &[]).ends_with(0).says(&["was already published"]);
    assert!((result_bytes(&place.out(1)), names_in(&place.at("index"))) == before);
    // A recomputed batch replaces its earlier result.
    place.again(1, &["--overwrite"]).ends_with(0);
    assert!(result_bytes(&place.out(1)) == before.0, "the same batch, other bytes");
    let together = place.together(&[]);
    assert!(place.agrees(&together) > 0);
    place.again(0, &["--overwrite"]).ends_with(2).says(&["n0", "followed by n1"]);
    write_docs(&place.at("in/1.parquet"), &made_docs(20), 10);
    place.again(1, &["--overwrite"]).ends_with(2).says(&["n1", "with different input files", "`--batch"]);
    place.again(1, &["--overwrite", "--batch", "third"]).ends_with(0);
}

/// The steps of publication, in order. Once the `output` step is reached, the batch is published.
const STEPS: [&str; 9] =
    ["documents", "rows", "intent", "statistics named", "documents named", "rows named", "output", "manifest", "swept"];

/// Checks batches that are killed at each step of publication. If the next batch runs first, it removes nothing in favor of an unpublished
/// document. If the killed batch is repeated, its result is the same as if it had never been killed.
#[test]
fn a_batch_that_is_killed_while_it_is_published_harms_no_other() {
    let batches = dealt(made_docs(240), 3, 7);
    let whole = law("exact,minhash", batches.iter().map(|docs| docs.iter().map(same).collect()).collect());
    for step in STEPS {
        let mut place = IndexPlace::new("exact,minhash");
        place.same_batch(&batches[0]).ends_with(0);
        write_docs(&place.at("in/1.parquet"), &batches[1], 300);
        place.docs.push(batches[1].iter().map(same).collect());
        assert_ne!(place.killed_at(1, step).code, 0, "{step}: it was not killed");
        let published = STEPS.iter().position(|known| *known == step) >= Some(6);
        assert_eq!(place.out(1).exists(), published, "{step}");
        // The next batch continues without the killed batch.
        write_docs(&place.at("in/2.parquet"), &batches[2], 300);
        let out = place.at("out/next");
        let index = place.at("index");
        place.with(&[place.at("in/2.parquet")], &out, &["--index", index.to_str().unwrap()]).ends_with(0);
        let ids: Vec<&str> = batches[1].iter().map(|doc| &*doc.id).collect();
        let removed = Table::read(&out.join("removed")).texts("kept_id");
        let met = removed.iter().any(|kept| ids.contains(&&**kept));
        assert_eq!(met, published, "{step}: whom documents go for");
        assert_eq!(record(&out)["index"]["generation"].as_u64(), Some(if published { 3 } else { 2 }), "{step}");
        if !published {
            place.again(1, &["--batch", "late"]).ends_with(0);
        } else {
            assert!(result_bytes(&place.out(1)) == result_bytes(&whole.out(1)), "{step}: other bytes");
        }
    }
}

/// Checks that a batch that was killed before it was published gives the same bytes when it is repeated.
#[test]
fn a_killed_batch_run_again_gives_the_same_result() {
    let batches = dealt(made_docs(240), 2, 8);
    let whole = law("exact,minhash,simhash", batches.iter().map(|docs| docs.iter().map(same).collect()).collect());
    for step in ["documents", "rows named", "intent"] {
        let mut place = IndexPlace::new("exact,minhash,simhash");
        place.same_batch(&batches[0]).ends_with(0);
        write_docs(&place.at("in/1.parquet"), &batches[1], 300);
        assert_ne!(place.killed_at(1, step).code, 0);
        place.again(1, &[]).ends_with(0);
        assert!(result_bytes(&place.out(1)) == result_bytes(&whole.out(1)), "{step}: other bytes");
        assert_eq!(names_in(&place.at("index/rows")), names_in(&whole.at("index/rows")));
        // The rows and sketch words of each document are also the same.
        for folder in names_in(&whole.at("index/rows")) {
            for name in names_in(&whole.at("index/rows").join(&folder)) {
                let bytes =
                    |place: &IndexPlace| std::fs::read(place.at("index/rows").join(&folder).join(&name)).unwrap();
                assert!(bytes(&place) == bytes(&whole), "{step}: {folder}/{name} has other bytes");
            }
        }
    }
    assert!(whole.at("index/rows").join(&names_in(&whole.at("index/rows"))[1]).join("+sketches-simhash.run").exists());
}

/// Checks that a batch with many more candidates than earlier batches suggest is held, that the index does not change, and that the batch
/// is published if the allowed factor is larger.
#[test]
fn a_batch_of_other_documents_is_held_back_by_its_candidates() {
    let mut place = IndexPlace::new("minhash");
    place.batch(made_docs(200)).ends_with(0);
    let forms = (0..60)
        .map(|number| format!("Invoice {number}: the goods that you named in your order of last week were sent to your house today by the usual carrier, and should be there soon"));
    write_docs(&place.at("in/1.parquet"), &numbered(forms), 30);
    let before = place.out(0);
    let against = ["--previous", before.to_str().unwrap(), "--max-pairs-factor", "1000000", "--max-removed-share", "1"];
    place.again(1, &against).ends_with(4).says(&[
        "candidates per document",
        "times the",
        "more than the factor of 10 allowed by `--max-candidates-factor`",
    ]);
    let held = record(&place.at("out/n1.held"));
    assert_eq!(held["guards"][0]["name"], "max-candidates-factor");
    assert!(held["guards"][0]["measured"].as_f64() > held["guards"][0]["limit"].as_f64());
    let batches = || {
        let told = looked_after(&place.at("index"), &["info", "--json"]).ends_with(0);
        serde_json::from_str::<serde_json::Value>(&told.stdout).unwrap()["batches"].as_array().unwrap().len()
    };
    assert_eq!((batches(), place.out(1).exists()), (1, false));
    place.again(1, &[&against[..], &["--max-candidates-factor", "1000000"]].concat()).ends_with(0);
    assert_eq!((batches(), place.out(1).exists()), (2, true));
}

/// Checks that a flipped bit in any kind of file is detected by the run that reads it, or by `verify`, and that nothing is published.
#[test]
fn damage_is_found_and_named() {
    let batches = dealt(made_docs(240), 2, 9);
    let mut place = IndexPlace::new("exact,minhash:verify=jaccard:0.5,versions");
    place.same_batch(&batches[0]).ends_with(0);
    write_docs(&place.at("in/1.parquet"), &batches[1], 300);
    let folder = |kind: &str| place.at("index").join(kind).join(&names_in(&place.at("index").join(kind))[0]);
    let verify = || looked_after(&place.at("index"), &["verify"]);
    verify().ends_with(0);
    let counts = files_below(&folder("statistics"));
    let words = counts.into_iter().find(|path| path.extension().is_some_and(|ending| ending == "parquet")).unwrap();
    for file in [
        folder("rows").join("minhash.run"),
        folder("rows").join("+copies.run"),
        folder("rows").join("+sketches-versions.run"),
        folder("rows").join("+pairs-versions.run"),
        folder("rows").join("+lines.run"),
        folder("batches").join("part-000000.parquet"),
        words.clone(),
        folder("statistics").join("run.json"),
    ] {
        let whole = std::fs::read(&file).unwrap();
        // In a run file, the changed byte is among the first rows.
        let at = if file.extension().is_some_and(|ending| ending == "run") { 33_000 } else { whole.len() - 600 };
        let mut torn = whole.clone();
        torn[at] ^= 1;
        std::fs::write(&file, &torn).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        verify().ends_with(1).says(&[name, "checksum"]);
        // Only the texts of indexed documents that take part are read.
        if !name.starts_with("part-") {
            place.again(1, &[]).ends_with(1).says(&[name]);
            assert!(!place.out(1).exists() && names_in(&place.at("index/batches")).len() == 1, "{name}");
        }
        std::fs::write(&file, &whole).unwrap();
    }
    let whole = std::fs::read(&words).unwrap();
    std::fs::remove_file(&words).unwrap();
    place.again(1, &[]).ends_with(1).says(&[".parquet", "it is missing"]);
    std::fs::write(&words, &whole).unwrap();
    place.again(1, &[]).ends_with(0);
}

/// Checks that complete and undamaged files of another batch, or of another index, are not used in place of the files that the index
/// lists.
#[test]
fn a_file_of_another_batch_is_named() {
    let batches = dealt(made_docs(240), 3, 9);
    let place_of = || {
        let mut place = IndexPlace::new("exact,minhash");
        place.same_batch(&batches[0]).ends_with(0);
        place.same_batch(&batches[1]).ends_with(0);
        write_docs(&place.at("in/2.parquet"), &batches[2], 300);
        place
    };
    let place = place_of();
    let folders = |kind: &str| -> Vec<(String, String)> {
        names_in(&place.at("index").join(kind)).into_iter().map(|name| (kind.to_owned(), name)).collect()
    };
    let (rows, documents) = (folders("rows"), folders("batches"));
    let at = |(kind, folder): &(String, String), file: &str| place.at("index").join(kind).join(folder).join(file);
    let refused = |files: Vec<(PathBuf, PathBuf)>, name: &str| {
        let saved: Vec<_> = files.iter().map(|(_, to)| std::fs::read(to).unwrap()).collect();
        files.iter().for_each(|(from, to)| _ = std::fs::copy(from, to).unwrap());
        place.again(2, &[]).ends_with(1).says(&[name, "it is not the file that the index lists under this name"]);
        looked_after(&place.at("index"), &["verify"]).ends_with(1);
        assert!(!place.out(2).exists(), "{name}");
        files.iter().zip(saved).for_each(|((_, to), bytes)| std::fs::write(to, bytes).unwrap());
    };
    for name in ["exact.run", "minhash.run", "+copies.run"] {
        refused(vec![(at(&rows[1], name), at(&rows[0], name))], name);
    }
    // The documents are swapped together with their checksums.
    let both = ["part-000000.parquet", "part-000000.sums"];
    refused(both.map(|name| (at(&documents[1], name), at(&documents[0], name))).to_vec(), "part-000000.sums");
    let mut other = IndexPlace::new("exact,minhash");
    other.same_batch(&batches[2]).ends_with(0);
    let name = "minhash.run";
    refused(vec![(other.at("index/rows").join(&rows[0].1).join(name), at(&rows[0], name))], name);
    place.again(2, &[]).ends_with(0);
    let whole = place_of();
    whole.again(2, &[]).ends_with(0);
    assert!(result_bytes(&place.out(2)) == result_bytes(&whole.out(2)));
}

/// Returns the positions of the column chunks in a Parquet file, by name, and the position of the footer.
fn chunks(path: &Path) -> Vec<(String, Range<usize>)> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let groups = reader.metadata().row_groups().iter();
    let mut chunks: Vec<_> = groups
        .flat_map(|group| group.columns())
        .map(|chunk| {
            let (start, length) = chunk.byte_range();
            (chunk.column_path().string(), start as usize..(start + length) as usize)
        })
        .collect();
    let end = chunks.iter().map(|(_, range)| range.end).max().unwrap();
    chunks.push(("footer".into(), end..path.metadata().unwrap().len() as usize));
    chunks
}

/// Checks flipped bits everywhere in an index. A run that uses the index either writes the same bytes or ends with an error that contains
/// the file name. The run never writes a different result, and is never ended by a signal.
#[test]
fn a_flipped_bit_in_an_index_changes_no_result() {
    let batches = dealt(made_docs(200), 2, 12);
    let mut place = IndexPlace::new("exact,minhash:verify=jaccard:0.5");
    place.more = vec!["--chain".into(), "remove".into(), "--remove-if".into(), "pair".into()];
    place.same_batch(&batches[0]).ends_with(0);
    write_docs(&place.at("in/1.parquet"), &batches[1], 300);
    let (index, out) = (place.at("index"), place.at("out/matched"));
    let go = || {
        let _ = std::fs::remove_dir_all(&out);
        place.with(&[place.at("in/1.parquet")], &out, &["--reference", index.to_str().unwrap()])
    };
    go().ends_with(0);
    let whole_result = result_bytes(&out);
    assert!(record(&out)["index"]["indexed"].as_u64() > Some(20), "old documents take part");
    let mut stretches = Vec::new();
    for path in ["batches", "rows", "statistics"].iter().flat_map(|kind| files_below(&index.join(kind))) {
        let length = path.metadata().unwrap().len() as usize;
        let name = path.strip_prefix(&index).unwrap().display().to_string();
        if path.extension().is_some_and(|ending| ending == "parquet") && name.starts_with("batches") {
            let parts = chunks(&path).into_iter();
            stretches.extend(parts.map(|(column, range)| (path.clone(), format!("{name} {column}"), range, 24)));
        } else {
            // A run file begins with a table of buckets, most of which are empty in this test.
            stretches.push((path, name, 0..length, 20));
        }
    }
    let (mut flips, mut found) = (0, BTreeMap::new());
    for (path, name, range, count) in stretches.into_iter().filter(|(_, _, range, _)| !range.is_empty()) {
        let whole = std::fs::read(&path).unwrap();
        for number in 0..count {
            let mut flipped = whole.clone();
            let at = range.start + (range.len() - 1) * number / (count - 1);
            flipped[at] ^= 1 << (number % 8);
            std::fs::write(&path, &flipped).unwrap();
            let ran = go();
            flips += 1;
            let (code, file) = (ran.code, path.file_name().unwrap().to_str().unwrap());
            match code {
                0 => assert!(result_bytes(&out) == whole_result, "{name}, byte {at}: another result"),
                1 => assert!(ran.stderr.contains(file), "{name}, byte {at}: {}", ran.stderr),
                _ => panic!("{name}, byte {at}: exit code {code}: {}", ran.stderr),
            }
            *found.entry(name.clone()).or_insert(0) += u64::from(code == 1);
        }
        std::fs::write(&path, &whole).unwrap();
    }
    // Flipped bits are detected in all data that is used: the columns with ids, texts, hashes and fates, as well as footers, rows and
    // counts.
    assert!(flips > 200 && found.values().all(|&found| found > 0), "{flips}: {found:?}");
    go().ends_with(0);
    assert!(result_bytes(&out) == whole_result);
}

/// Checks that results have the same bytes after row files are merged into fewer files.
#[test]
fn merged_rows_are_the_same_rows() {
    let batches = dealt(made_docs(600), 11, 10);
    let algorithms = "exact,minhash,simhash,versions";
    let (mut plain, mut merged) = (IndexPlace::new(algorithms), IndexPlace::new(algorithms));
    for (batch, docs) in batches.iter().enumerate() {
        plain.same_batch(docs).ends_with(0);
        merged.same_batch(docs).ends_with(0);
        assert!(result_bytes(&plain.out(batch)) == result_bytes(&merged.out(batch)), "batch {batch}");
        looked_after(&merged.at("index"), &["compact"]).ends_with(0);
    }
    let folders = |place: &IndexPlace| names_in(&place.at("index/rows")).len();
    looked_after(&merged.at("index"), &["verify"]).ends_with(0);
    assert!(looked_after(&merged.at("index"), &["info"]).ends_with(0).stdout.contains("11 batches"));
    let manifest = looked_after(&merged.at("index"), &["info", "--json"]).ends_with(0).stdout;
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert!(manifest["rows"].as_array().unwrap().len() == 4 && folders(&plain) == 11, "{}", manifest["rows"]);
}

/// Checks that algorithms that use no counts behave as if a forgotten document had never existed.
#[test]
fn what_is_forgotten_is_met_no_more() {
    let batches = dealt(made_docs(200), 3, 11);
    // The counts come from the first batch in both places, with and without the second batch.
    let algorithms = "exact,minhash,minhash:verify=jaccard:0.3,margin=0.1,as=best,versions";
    let mut place = IndexPlace::new(algorithms);
    place.same_batch(&batches[0]).ends_with(0);
    place.same_batch(&batches[1]).ends_with(0);
    looked_after(&place.at("index"), &["forget", "--batch", "n1"]).ends_with(0);
    looked_after(&place.at("index"), &["forget", "--batch", "n7"]).ends_with(2).says(&["there is no batch \"n7\""]);
    looked_after(&place.at("index"), &["forget", "--id", "nothing"]).ends_with(2).says(&["no document with the id"]);
    place.same_batch(&batches[2]).ends_with(0);
    let mut without = IndexPlace::new(algorithms);
    without.same_batch(&batches[0]).ends_with(0);
    without.same_batch(&batches[2]).ends_with(0);
    let ids = |out: PathBuf, label: &str| -> Vec<(String, String)> {
        let mut ids: Vec<_> = pairs(&out, label).into_iter().map(|pair| (pair.id_a, pair.id_b)).collect();
        ids.sort();
        ids
    };
    for label in ["exact", "minhash", "best", "versions"] {
        assert_eq!(ids(place.out(2), label), ids(without.out(1), label), "{label}");
    }
    // If one document in the first batch is forgotten, only the pairs with this document are missing.
    let all = ids(without.out(1), "minhash");
    let old: Vec<&str> = batches[0].iter().map(|doc| &*doc.id).collect();
    let gone = all.iter().find(|(a, _)| old.contains(&&**a)).unwrap().0.clone();
    looked_after(&without.at("index"), &["forget", "--id", &gone]).ends_with(0);
    without.again(1, &["--overwrite"]).ends_with(0);
    let left: Vec<_> = all.into_iter().filter(|(a, b)| *a != gone && *b != gone).collect();
    assert_eq!(ids(without.out(1), "minhash"), left);
}

#[test]
fn what_was_made_otherwise_is_refused_line_by_line() {
    let mut place = IndexPlace::new("exact,minhash");
    place.batch(made_docs(50)).ends_with(0);
    let refused = |algorithms: &str, more: &[&str], says: &[&str]| {
        let other = IndexPlace::new(algorithms);
        let index = place.at("index");
        let more = [&["--index", index.to_str().unwrap(), "--batch", "other"], more].concat();
        other.with(&[place.at("in/0.parquet")], &other.at("out/x"), &more).ends_with(2).says(says);
        assert_eq!(names_in(&place.at("index/batches")).len(), 1);
    };
    refused(
        "exact,minhash:rows=7",
        &[],
        &["was created with different options", "minhash: rows=8 in the index, rows=7 in this run"],
    );
    refused("exact", &[], &["minhash in the index, but not in this run"]);
    refused("exact,minhash,tf", &[], &["tf in this run, but not in the index"]);
    refused("exact,minhash", &["--tokenizer", "char"], &["words: ", "tokenizer"]);
    refused("exact,minhash", &["--tokenizer", "jieba"], &["words: ", "tokenizer"]);
    refused(
        "exact,minhash",
        &["--planned-documents", "5"],
        &["`--planned-documents`: 100000000 in the index, 5 in this run"],
    );
    refused("exact,minhash:verify=jaccard:0.5,margin=0.1:0.5", &[], &["margin=M:D", "remove :D"]);
    refused("repeats", &[], &["repeats: "]);
    refused("shingles:join=exact", &[], &["join=exact", "use another join"]);
    refused("exact,minhash", &["--prefilter"], &["`--prefilter` skips rows"]);
    // A folder with other files is not an index.
    let more = ["--index", place.at("in").to_str().unwrap().to_owned().leak()];
    place.with(&[place.at("in/0.parquet")], &place.at("out/y"), &more).ends_with(2).says(&["is not part of an index"]);
}

/// Checks that a different number of threads and a different memory limit give the same results and the same files.
#[test]
fn threads_and_memory_change_no_byte() {
    let batches = dealt(made_docs(500), 3, 15);
    let algorithms = "exact,minhash:verify=jaccard:0.5,simhash,versions";
    let places = [["1", "256MiB"], ["5", "2GiB"]].map(|[threads, memory]| {
        let mut place = IndexPlace::new(algorithms);
        place.more = ["--threads", threads, "--memory", memory].map(String::from).to_vec();
        batches.iter().for_each(|docs| _ = place.same_batch(docs).ends_with(0));
        place
    });
    let files = |place: &IndexPlace, kind: &str| -> Vec<(String, Vec<u8>)> {
        let below = files_below(&place.at("index").join(kind)).into_iter();
        below
            .map(|path| {
                let name = path.strip_prefix(place.at("index")).unwrap().display().to_string();
                (name, std::fs::read(&path).unwrap())
            })
            .collect()
    };
    for batch in 0..3 {
        assert!(result_bytes(&places[0].out(batch)) == result_bytes(&places[1].out(batch)), "batch {batch}");
    }
    for kind in ["rows", "batches"] {
        let (one, other) = (files(&places[0], kind), files(&places[1], kind));
        assert!(one.len() >= 3 && one == other, "{kind}");
    }
}

/// Checks that a held batch is added to the index when it is accepted, as if it had been published immediately, even if an earlier attempt
/// to accept it was killed.
#[test]
fn an_accepted_batch_is_in_its_index() {
    let mut batches = dealt(made_docs(300), 3, 16);
    batches[1].extend((0..60).map(|at| Doc { id: format!("t{at}"), text: "One page of all.".into(), title: None }));
    let place_of = || {
        let mut place = IndexPlace::new("exact,minhash,versions");
        let previous = place.out(0).display().to_string();
        place.same_batch(&batches[0]).ends_with(0);
        place.more =
            ["--guard-rows", "50", "--max-removed-share", "0.15", "--previous", &previous].map(String::from).to_vec();
        place
    };
    let mut at_once = place_of();
    write_docs(&at_once.at("in/1.parquet"), &batches[1], 300);
    at_once.docs.push(batches[1].iter().map(same).collect());
    at_once.again(1, &["--accept"]).ends_with(3);
    at_once.more.clear();
    at_once.same_batch(&batches[2]).ends_with(0);
    for step in ["", "intent", "output", "manifest"] {
        let mut place = place_of();
        place.same_batch(&batches[1]).ends_with(4);
        let (held, index) = (place.at("out/n1.held"), place.at("index"));
        let accept =
            |step: &str| Ran::of(program().arg("accept").arg(&held).env("DUPSIFT_STOP_AT", step).output().unwrap());
        let told = || looked_after(&index, &["info"]).ends_with(0).stdout;
        assert!(told().contains("1 batch,"), "{}", told());
        assert_eq!(accept(step).code == 0, step.is_empty(), "{step}");
        if step == "intent" {
            // The killed attempt to accept the batch had no effect.
            assert!(held.exists() && told().contains("1 batch,"), "{}", told());
            accept("").ends_with(0);
        }
        accept("").ends_with(0).says(&["already accepted"]);
        place.more.clear();
        assert!(told().contains("2 batches,"), "{step}: {}", told());
        looked_after(&index, &["verify"]).ends_with(0);
        place.same_batch(&batches[2]).ends_with(0);
        for batch in [1, 2] {
            assert!(result_bytes(&place.out(batch)) == result_bytes(&at_once.out(batch)), "{step}: batch {batch}");
        }
        assert_eq!(names_in(&index.join("rows")).len(), 3);
    }
    // After the index has changed, the batch can no longer be accepted.
    let mut place = place_of();
    place.same_batch(&batches[1]).ends_with(4);
    let held = place.at("out/n1.held");
    looked_after(&place.at("index"), &["forget", "--id", &batches[0][0].id]).ends_with(0);
    let accept = || Ran::of(program().arg("accept").arg(&held).output().unwrap());
    accept()
        .ends_with(2)
        .says(&["no longer holds the data of the batch", "run the batch again on the same files with `--accept`"]);
    assert!(held.exists() && record(&held)["accepted"].is_null());
    place.again(1, &["--accept"]).ends_with(3);
    assert_eq!(names_in(&place.at("index/rows")).len(), 2);
    accept().ends_with(2);
}
