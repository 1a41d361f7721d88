//! Tests `--keep-texts`, which stores texts so that removals can be explained and shown after the corpus has been overwritten.

use std::path::{Path, PathBuf};

use crate::kit::{Doc, Ran, Table, files_below, made_docs, program, record, removed_ids, run, sample_docs, write_docs};

struct Place(tempfile::TempDir);

impl Place {
    /// Creates a place with two files, so that the document numbers in the second file depend on the first file.
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        let docs: Vec<Doc> = sample_docs().into_iter().step_by(10).chain(made_docs(60)).collect();
        let (first, second) = docs.split_at(docs.len() / 3);
        write_docs(&place.at("today/a.parquet"), first, 40);
        write_docs(&place.at("today/b.parquet"), second, 40);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, out: &str, more: &[&str]) -> PathBuf {
        let mut command = program();
        command.arg("run").arg(self.at("today")).arg("--out").arg(self.at(out)).args([
            "--no-progress",
            "--max-template-share",
            "1",
        ]);
        command.args(["--max-removed-share", "1"]).args(more);
        Ran::of(command.output().unwrap()).ends_with(0);
        self.at(out)
    }

    /// Overwrites the corpus with the corpus of a different day.
    fn overwrite(&self) {
        for name in ["today/a.parquet", "today/b.parquet"] {
            std::fs::remove_file(self.at(name)).unwrap();
            write_docs(&self.at(name), &made_docs(7), 40);
        }
    }
}

fn explained(out: &Path, id: &str) -> Ran {
    Ran::of(program().arg("explain").arg(out).args([id, "--json"]).output().unwrap())
}

fn texts(out: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = files_below(&out.join("texts"));
    files.into_iter().map(|file| (file.strip_prefix(out).unwrap().into(), std::fs::read(&file).unwrap())).collect()
}

#[test]
fn a_removal_is_explained_when_the_corpus_was_overwritten() {
    let place = Place::new();
    let (with, without) = (place.run("with", &["--keep-texts"]), place.run("without", &[]));
    let removed = removed_ids(&with);
    let chosen: Vec<&String> = removed.iter().step_by(removed.len() / 8).collect();
    let before: Vec<String> = chosen.iter().map(|id| explained(&with, id).ends_with(0).stdout).collect();
    let kept: Vec<i64> = Table::read(&with.join("removed")).numbers("kept_doc");
    let kept_out =
        (0..).find(|doc| !kept.contains(doc) && !Table::read(&with.join("removed")).numbers("doc").contains(doc));
    place.overwrite();
    for (id, before) in chosen.iter().zip(&before) {
        let after = explained(&with, id).ends_with(0);
        assert_eq!(&after.stdout, before, "{id}");
        assert!(after.stderr.contains("texts are read from"), "{}", after.stderr);
        explained(&without, id).ends_with(2).says(&["the corpus has changed since the run"]);
    }
    // A document that is not involved in any removal is not stored, but it can still be requested by its number.
    let number = kept_out.unwrap().to_string();
    let typed = [number.as_str(), &Table::read(&with.join("removed")).numbers("doc")[0].to_string(), "--docs"]
        .map(str::to_owned);
    Ran::of(program().arg("explain").arg(&with).args(&typed).output().unwrap()).ends_with(2).says(&[
        "texts/ contains only removed documents and those kept in their place",
        "help: ",
        "`--input DIR`",
    ]);
    // An id that does not belong to a stored text may belong to another document in the corpus.
    for unknown in ["no-such-id", &format!("{}x", removed[0])] {
        let ran = explained(&with, unknown).ends_with(2);
        ran.says(&["no document in texts/ has the id", "only the removed documents", "pass `--input DIR`"]);
    }
}

#[test]
fn the_report_keeps_its_browser_of_removals() {
    let place = Place::new();
    let out = place.run("out", &["--keep-texts"]);
    let page = || std::fs::read_to_string(out.join("report.html")).unwrap();
    let browser = |page: &str| page[page.find("id=\"removals\"").expect("a browser of removals")..].len();
    let before = browser(&page());
    place.overwrite();
    Ran::of(program().arg("report").arg(&out).output().unwrap()).ends_with(0);
    let after = page();
    assert!(!after.contains("The texts could not be read"));
    assert!(browser(&after) * 10 > before * 9, "{} of {before} bytes", browser(&after));
}

#[test]
fn texts_are_the_same_on_any_number_of_threads_and_are_no_others() {
    let place = Place::new();
    let one = place.run("one", &["--keep-texts", "--threads", "1"]);
    let five = place.run("five", &["--keep-texts", "--threads", "5", "--memory", "160MiB"]);
    assert!(texts(&one) == texts(&five), "other bytes");
    assert_eq!(texts(&one).len(), 2);
    let removed = Table::read(&one.join("removed"));
    let mut named: Vec<String> = removed.texts("id").into_iter().chain(removed.texts("kept_id")).collect();
    named.sort();
    named.dedup();
    let stored = Table::read(&one.join("texts"));
    assert_eq!(stored.len() as u64, record(&one)["documents"]["rows"].as_u64().unwrap());
    let column = |name: &str| -> Vec<Option<String>> {
        let column =
            arrow::compute::cast(stored.0.column_by_name(name).unwrap(), &arrow::datatypes::DataType::Utf8).unwrap();
        let column = arrow::array::AsArray::as_string::<i32>(&column).clone();
        column.iter().map(|value| value.map(str::to_owned)).collect()
    };
    let (ids, found) = (column("id"), column("text"));
    let mut ids: Vec<String> = ids.into_iter().flatten().collect();
    ids.sort();
    assert_eq!(ids, named);
    assert_eq!(found.iter().flatten().count(), named.len());
    assert_eq!(record(&one)["stored_texts"]["rows"], named.len());
    // The result can be replaced by the same run, although it contains more files.
    place.run("one", &["--keep-texts", "--overwrite"]);
}

/// Checks that each batch can be explained, although the folder of the crawl contains only the last batch.
#[test]
fn batches_are_explained_after_the_crawl_was_overwritten() {
    let place = Place::new();
    let index = place.at("seen").to_string_lossy().into_owned();
    let more = ["--keep-texts", "--index", &index];
    let monday = place.run("monday", &more);
    std::fs::rename(place.at("today/b.parquet"), place.at("today/c.parquet")).unwrap();
    std::fs::remove_file(place.at("today/a.parquet")).unwrap();
    let tuesday = place.run("tuesday", &more);
    let seen = removed_ids(&tuesday)[0].clone();
    let before = explained(&tuesday, &seen).ends_with(0).stdout;
    std::fs::remove_file(place.at("today/c.parquet")).unwrap();
    assert_eq!(explained(&tuesday, &seen).ends_with(0).stdout, before);
    explained(&monday, &removed_ids(&monday)[0]).ends_with(0);
}

/// Checks that the stored text of a page is the text that was compared, without the menu and everything else around the article.
#[test]
fn the_texts_of_pages_are_stored_without_their_frames() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("pages")).unwrap();
    let body = "<p>The council will repair the old bridge over the river next year, because its pillars have become unsafe.</p>";
    for (name, menu) in [("a", "home and news"), ("b", "start and archive")] {
        let page = format!("<html><body><nav>{menu}</nav><article>{}</article></body></html>", body.repeat(4));
        std::fs::write(at(&format!("pages/{name}.html")), page).unwrap();
    }
    let out = at("out");
    run(&[&at("pages")], &out, &["--whole-files", "--purify", "readability", "--keep-texts"]).ends_with(0);
    let removed = removed_ids(&out);
    assert_eq!(removed.len(), 1);
    let before = explained(&out, &removed[0]).ends_with(0).stdout;
    std::fs::remove_dir_all(at("pages")).unwrap();
    let after = explained(&out, &removed[0]).ends_with(0);
    assert_eq!(after.stdout, before);
    for stored in Table::read(&out.join("texts")).texts("text") {
        assert!(
            stored.contains("The council will repair") && !stored.contains("news") && !stored.contains("archive"),
            "{stored}"
        );
    }
}
