//! Tests `--sample`, which limits a run to a sample of the documents.

use std::collections::BTreeSet;
use std::fs;

use crate::kit::{Ran, Table, assert_same_bytes, made_docs, pairs, program, record, run, write_docs};

/// Checks that the result for a sample is the same as for a corpus that consists of the sampled documents, with any number of threads and
/// files.
#[test]
fn a_sample_is_a_corpus_of_its_documents() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let docs = made_docs(400);
    write_docs(&at("docs/a.parquet"), &docs[..150], 40);
    write_docs(&at("docs/b.parquet"), &docs[150..], 40);
    write_docs(&at("one/a.parquet"), &docs, 400);
    // Every algorithm that needs statistics uses the statistics of the sample.
    let of = ["--algorithms", "exact,versions,cosine,minhash", "--sample", "150", "--seed", "3"];
    run(&[&at("docs")], &at("out"), &[&of[..], &["--threads", "1"]].concat()).ends_with(0);
    let said =
        run(&[&at("docs")], &at("four"), &[&of[..], &["--threads", "4", "--memory", "128MiB"]].concat()).ends_with(0);
    assert!(said.stdout.starts_with("sample: 150 of 400 documents in 2 files"), "{}", said.stdout);
    assert!(said.stdout.contains("whole corpus: about "), "{}", said.stdout);
    assert!(fs::read_to_string(at("four/report.html")).unwrap().contains("a sample of 400 documents"));
    assert_same_bytes(&at("out"), &at("four"), "threads and memory");
    run(&[&at("one")], &at("joined"), &of).ends_with(0);
    let report = record(&at("out"));
    assert_eq!((&report["documents"]["rows"], &report["documents"]["sampled_from"]), (&150.into(), &400.into()));
    assert_eq!((&report["options"]["sample"], &report["options"]["seed"]), (&"150".into(), &3.into()));
    let removal = &report["removal"];
    assert_eq!(removal["kept"].as_u64().unwrap() + removal["removed"].as_u64().unwrap(), 150);

    let sample = dupsift_engine::session::sample::Sample::draw(
        dupsift_engine::options::sample_size::SampleSize::Count(150),
        3,
        400,
    );
    let chosen: Vec<_> = (0..400).filter(|&doc| sample.has(doc as u64)).map(|doc| docs[doc].clone()).collect();
    write_docs(&at("chosen/a.parquet"), &chosen, 50);
    run(&[&at("chosen")], &at("expected"), &of[..2]).ends_with(0);
    for label in ["exact", "versions", "cosine", "minhash"] {
        let found = |out: &str| -> Vec<_> {
            let line = |pair: crate::kit::PairLine| (pair.id_a, pair.id_b, pair.similarity.to_bits(), pair.related);
            pairs(&at(out), label).into_iter().map(line).collect()
        };
        assert_eq!(found("out"), found("expected"), "{label}");
        assert_eq!(found("joined"), found("expected"), "{label}");
    }
    let removed = |out: &str| -> BTreeSet<(String, String, String)> {
        let table = Table::read(&at(out).join("removed"));
        let (kept, reasons) = (table.texts("kept_id"), table.texts("reason"));
        table.texts("id").into_iter().zip(kept).zip(reasons).map(|((id, kept), reason)| (id, kept, reason)).collect()
    };
    assert!(removed("out").len() > 10);
    assert_eq!(removed("out"), removed("expected"));

    // Tests a share, a comparison, and options that make no sense with a sample.
    run(&[&at("docs")], &at("share"), &["--sample", "0.25"]).ends_with(0);
    let rows = record(&at("share"))["documents"]["rows"].as_u64().unwrap();
    assert!((60..140).contains(&rows), "{rows}");
    let compared = program()
        .args(["compare", "--no-progress", "--algorithms", "exact,minhash", "--sample", "100"])
        .arg(at("docs"))
        .arg("--out")
        .arg(at("compared"))
        .output();
    let compared = Ran::of(compared.unwrap()).ends_with(0).stdout;
    assert!(compared.contains("sample: 100 of 400 documents"), "{compared}");
    Ran::of(program().arg("apply").arg(at("out")).output().unwrap()).ends_with(2).says(&["read only a sample"]);
    let refused = |more: &[&str], says: &str| drop(run(&[&at("docs")], &at("no"), more).ends_with(2).says(&[says]));
    refused(&["--sample", "2.5"], "expected a number of documents");
    refused(&["--sample", "5", "--corpus", "keep"], "`--corpus`");
    refused(&["--sample", "5", "--index", "seen"], "`--index`");
    refused(&["--sample", "5", "--reference", "seen"], "`--reference`");
    refused(&["--seed", "5"], "`--sample` is not given");
    assert!(!at("no").exists());
}

/// Checks that a dry run on a sample reports the same number of removed documents as a run on the sample, estimates the share and the time
/// for the complete corpus, and leaves no files behind.
#[test]
fn a_dry_run_estimates_on_a_sample() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_docs(&at("docs/a.parquet"), &made_docs(400), 40);
    fs::create_dir(at("work")).unwrap();
    let sampled = |out: &str, more: &[&str]| {
        let work = at("work").display().to_string();
        let of = [&["--sample", "200", "--algorithms", "exact,minhash", "--work", &work], more].concat();
        run(&[&at("docs")], &at(out), &of).ends_with(0).stdout
    };
    let (dry, wet) = (sampled("dry", &["--dry-run"]), sampled("wet", &[]));
    let line = |said: &str, begin: &str| {
        said.lines().find(|line| line.starts_with(begin)).unwrap_or_else(|| panic!("no {begin:?} in {said}")).to_owned()
    };
    for begin in ["sample: 200 of 400 documents in 1 file: ", "removed: ", "whole corpus: about "] {
        assert_eq!(line(&dry, begin), line(&wet, begin));
    }
    let time = line(&dry, "estimated time: ");
    let mut seconds = time.split(' ').filter_map(|word| word.trim_start_matches('(').parse::<f64>().ok());
    let (all, sample) = (seconds.next().unwrap(), seconds.next().unwrap());
    assert!((all - 2.0 * sample).abs() < 0.16, "{time}");
    assert!(!at("dry").exists());
    assert_eq!(fs::read_dir(at("work")).unwrap().count(), 0);
    assert!(dry.starts_with("passes over the sample\n"), "{dry}");
    // No output folder has to be specified.
    let without = |verb: &str, more: &[&str]| {
        let mut command = program();
        command.arg(verb).arg(at("docs")).args(["--dry-run", "--algorithms", "exact,minhash"]).args(more);
        Ran::of(command.output().unwrap()).ends_with(0)
    };
    let ran = without("run", &["--sample", "200"])
        .says(&["sample of 200 of 400 documents in 1 file", "of text in the sample"]);
    assert_eq!(line(&ran.stdout, "whole corpus: "), line(&dry, "whole corpus: "));
    let all = without("run", &["--sample", "1000"]).stdout;
    let all = line(&all, "whole corpus: about ");
    assert!(!all.contains(" to ") && all.contains("% would be removed"), "{all}");
    let plain = without("run", &[]);
    assert!(!plain.stdout.contains("sample") && !plain.stderr.contains("sample"), "{}", plain.stderr);
    without("compare", &["--sample", "200"]).says(&["sample of 200 of 400 documents"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "the corpus, work and the sampled run");
}

/// Checks that the result for a sample can be explained, reported and evaluated. The sampled documents have the same numbers as in the
/// corpus.
#[test]
fn the_result_of_a_sample_is_looked_at_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_docs(&at("docs/a.parquet"), &made_docs(400), 40);
    let out = at("out");
    run(&[&at("docs")], &out, &["--sample", "200", "--algorithms", "exact,minhash"]).ends_with(0);
    let removed = Table::read(&out.join("removed"));
    let (id, kept) = (removed.texts("id")[0].clone(), removed.texts("kept_id")[0].clone());
    let ran = |args: &[&str]| {
        let mut command = program();
        command.arg(args[0]).arg(&out).args(&args[1..]);
        Ran::of(command.output().unwrap()).ends_with(0).stdout
    };
    assert!(ran(&["explain", &id, &kept]).contains("removed in favor of"));
    ran(&["report"]);
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(!page.contains(&format!("dupsift apply {}", out.display())));
    let outside = Ran::of(program().arg("explain").arg(&out).arg("no-such-id").output().unwrap());
    outside.ends_with(2).says(&["no document in the sample has the id \"no-such-id\"", "only 200 of "]);
    fs::write(at("truth.csv"), format!("id_a,id_b\n{id},{kept}\n")).unwrap();
    let truth = at("truth.csv").display().to_string();
    assert!(ran(&["evaluate", "--truth", &truth]).contains("(removed)"));
    fs::write(at("docs/a.parquet"), b"").unwrap();
    let changed = Ran::of(program().arg("explain").arg(&out).args([&id, &kept]).output().unwrap());
    changed.ends_with(2);
}

/// Checks that with `--keep none`, the first document of a cluster is also removed, and is included when the clusters of removed documents
/// are evaluated.
#[test]
fn a_run_that_keeps_none_is_evaluated() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write_docs(&at("docs/a.parquet"), &made_docs(200), 40);
    let figures = |out: &str, more: &[&str]| {
        run(&[&at("docs")], &at(out), &[&["--algorithms", "exact,minhash"], more].concat()).ends_with(0);
        let removed = Table::read(&at("best").join("removed"));
        let (id, kept) = (removed.texts("id")[0].clone(), removed.texts("kept_id")[0].clone());
        fs::write(at("truth.csv"), format!("id_a,id_b\n{id},{kept}\n")).unwrap();
        let mut command = program();
        command.arg("evaluate").arg(at(out)).arg("--truth").arg(at("truth.csv"));
        let said = Ran::of(command.output().unwrap()).ends_with(0).stdout;
        said.lines().find(|line| line.contains("(removed)")).unwrap_or_else(|| panic!("{said}")).to_owned()
    };
    assert!(figures("best", &[]).contains("(removed)"));
    assert!(figures("none", &["--keep", "none"]).contains("(removed)"));
}
