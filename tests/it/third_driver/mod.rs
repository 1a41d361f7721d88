//! Tests that the stages can be used independently: a driver of a few hundred lines that makes no decisions itself ([`driver`]) produces
//! the same rows as `run`.

mod driver;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};
use dupsift::algorithm::ALGORITHMS;
use dupsift_algorithms::recipe::{DEFAULT_PRESET, Recipe};

use crate::kit::{
    Doc, Table, done, made_docs, read_docs, record, run, sample_docs, samples, write_columns, write_docs,
};
use driver::{Asked, ClusterRow, Document, Driver, PairRow, RemovedRow, Said};

const ASKED: Asked = Asked { max_group: 1000, max_candidates: 10_000_000, signs_copies: true };

fn recipe(algorithms: &str, count_copies: bool) -> Recipe {
    Recipe { count_copies, ..Recipe::new(Recipe::parse_algorithms(algorithms).unwrap()) }
}

fn documents(docs: &[Doc]) -> Vec<Document> {
    let titled = docs.iter().any(|doc| doc.title.is_some());
    let document = |doc: &Doc| Document { text: Some(doc.text.clone()), title: titled.then(|| doc.title.clone()) };
    docs.iter().map(document).collect()
}

fn pair_rows(out: &Path, label: &str) -> Vec<PairRow> {
    let table = Table::read(&out.join(format!("pairs/algorithm={label}")));
    let (a, b, rules) = (table.numbers("doc_a"), table.numbers("doc_b"), table.texts("matched_by"));
    let (similarity, distance, next) =
        (table.floats("similarity"), table.floats("distance"), table.floats("next_best"));
    let (relation, why) = (table.texts("relation"), table.texts("why"));
    let related = |row: usize| (relation[row] != "null").then(|| (relation[row].clone(), why[row].clone(), next[row]));
    let row = |row: usize| {
        (a[row] as u64, b[row] as u64, similarity[row].unwrap(), distance[row], rules[row].clone(), related(row))
    };
    (0..table.len()).map(row).collect()
}

fn cluster_rows(out: &Path, label: &str) -> Vec<ClusterRow> {
    let table = Table::read(&out.join(format!("clusters/algorithm={label}")));
    let (doc, size, is_best) = (table.numbers("doc"), table.numbers("cluster_size"), table.flags("is_representative"));
    let (similarity, cluster) = (table.floats("similarity_to_representative"), table.texts("cluster_id"));
    let best: BTreeMap<&str, u64> =
        (0..table.len()).filter(|&row| is_best[row]).map(|row| (cluster[row].as_str(), doc[row] as u64)).collect();
    let row = |row: usize| (doc[row] as u64, best[cluster[row].as_str()], size[row] as u64, similarity[row]);
    let mut rows: Vec<ClusterRow> = (0..table.len()).map(row).collect();
    rows.sort_by_key(|row| row.0);
    rows
}

fn removed_rows(out: &Path) -> Vec<RemovedRow> {
    let table = Table::read(&out.join("removed"));
    let (doc, kept, similarity) = (table.numbers("doc"), table.numbers("kept_doc"), table.floats("similarity"));
    (0..table.len()).map(|row| (doc[row] as u64, kept[row] as u64, similarity[row])).collect()
}

/// Compares the result of the driver with the tables and the record of a run; returns the number of pairs.
#[track_caller]
fn same((said, removed): &(Vec<Said>, Vec<RemovedRow>), out: &Path) -> usize {
    let record = record(out);
    let mut pairs = 0;
    let tally = |counts: &BTreeMap<Cow<'static, str>, u64>| serde_json::to_value(counts).unwrap();
    let reports = record["algorithms"].as_array().unwrap();
    assert_eq!(said.len(), reports.len());
    for (said, report) in said.iter().zip(reports) {
        let label = &said.label;
        assert_eq!(report["label"].as_str(), Some(label.as_str()));
        let expected = pair_rows(out, label);
        let differ = said.pairs.iter().zip(&expected).find(|(one, other)| one != other);
        assert!(
            differ.is_none() && said.pairs.len() == expected.len(),
            "{label}: {} and {} pairs, {differ:?}",
            said.pairs.len(),
            expected.len()
        );
        assert_eq!(said.clusters, cluster_rows(out, label), "{label}");
        assert_eq!(report["signed"], said.signed.signed, "{label}");
        assert_eq!(report["unsigned"], tally(&said.signed.unsigned), "{label}");
        assert_eq!(report["flagged"], tally(&said.signed.flagged), "{label}");
        assert_eq!(report["left_out"], said.compared.left_out, "{label}");
        // For an algorithm without verification, the kept pairs of representatives are the candidates.
        if !report["verify"].is_null() {
            assert_eq!(report["candidates"], said.candidates, "{label}");
        }
        pairs += expected.len();
    }
    assert_eq!(*removed, removed_rows(out));
    pairs
}

#[test]
fn all_members_say_the_same_of_the_samples() {
    let done = done(samples(), &["--algorithms", "all"]);
    let said = Driver::run(&documents(&sample_docs()), &recipe("all", true), ASKED, 1);
    assert!(same(&said, &done.out()) > 1000 && said.0.len() == ALGORITHMS.len());
}

/// Runs the default preset on the first 6,000 documents of `mixed-100m` in the folder given by `DUPSIFT_CORPORA`; `DUPSIFT_DOCUMENTS`
/// changes the number of documents. Without that folder, the test runs on the samples.
#[test]
fn the_default_preset_says_the_same_of_a_mixed_corpus() {
    let mixed = std::env::var_os("DUPSIFT_CORPORA").map(|folder| Path::new(&folder).join("mixed-100m/docs"));
    let first = std::env::var("DUPSIFT_DOCUMENTS").ok().and_then(|number| number.parse().ok()).unwrap_or(6_000);
    let read = |place: PathBuf| read_docs(&place).into_iter().take(first).collect();
    let docs: Vec<Doc> = mixed.filter(|place| place.is_dir()).map_or_else(sample_docs, read);
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("docs.parquet");
    write_docs(&input, &docs, 1000);
    let done = done(&input, &[]);
    for (seed, signs_copies) in [(2, false), (3, true)] {
        let asked = Asked { signs_copies, ..ASKED };
        let said = Driver::run(&documents(&docs), &recipe(DEFAULT_PRESET.algorithms, true), asked, seed);
        assert!(same(&said, &done.out()) > 20);
    }
}

/// Returns a corpus with everything that a driver easily forgets: rows without text and texts that consist of white space, which
/// are counted; copies without a signature, which still count as copies; a class above the limit that is linked to
/// other classes; and titles that are identical, too common, or missing.
fn forgettable() -> Vec<Document> {
    let mut docs: Vec<Document> = documents(&made_docs(400));
    for (at, doc) in docs.iter_mut().enumerate() {
        let title = ["Rates rise", "> so they say", "Weather"][at % 3];
        doc.text = doc.text.take().map(|text| format!("{title}\n{text}"));
        doc.title = Some((at % 5 > 0).then(|| title.to_string()));
    }
    for (at, text) in [None, Some(""), Some(" \n"), Some("?!"), Some("да")].into_iter().enumerate() {
        (0..4).for_each(|turn| docs[31 * (at + 1) + 7 * turn].text = text.map(String::from));
    }
    // Twelve copies with identical titles, and versions of these copies before and after them.
    for at in 0..12 {
        docs[300 + 3 * at] = docs[100].clone();
    }
    for at in [90, 120, 399] {
        docs[at] = docs[100].clone();
        let more = docs[at].text.take().map(|text| format!("{text} И ещё {at} слово."));
        docs[at].text = more;
    }
    docs
}

const RULES: &str = "exact,tf,simhash:distance=12,min_features=3,random_projection:max_distance=24,min_features=3,\
    minhash:bands=20,rows=3,verify=jaccard:0.4,margin=either:0.02:0.25,as=whole,\
    minhash:bands=20,rows=3,margin=0.05,as=near,simhash:distance=12,min_features=3,verify=lcs:0.8,as=checked,\
    tf:verify=lcs:0.5,margin=0.1,as=both,cosine:tf=sublinear,threshold=0.6,margin=0.05,verify=jaccard:0.3,as=last,\
    versions,versions:verify=jaccard:0.3,as=told,shingles:preset=contained,\
    shingles:join=lsh,threshold=0.5,as=lsh,near_page,keywords,lsi,repeats";

#[test]
fn nothing_is_forgotten() {
    let mut docs = forgettable();
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("docs.parquet");
    let ids: ArrayRef = Arc::new(StringArray::from_iter_values((0..docs.len()).map(|doc| format!("d{doc}"))));
    let texts: ArrayRef = Arc::new(docs.iter().map(|doc| doc.text.as_deref()).collect::<StringArray>());
    let titles: ArrayRef = Arc::new(docs.iter().map(|doc| doc.title.clone().flatten()).collect::<StringArray>());
    write_columns(&input, &[("id", ids), ("text", texts), ("title", titles)], 64);
    // Rows with blank text are rejected, like rows without text.
    docs.iter_mut().for_each(|doc| doc.text = doc.text.take().filter(|text| !text.trim().is_empty()));
    for (count_copies, max_group, max_candidates) in [(true, 1000, 10_000_000), (false, 5, 30)] {
        let out = folder.path().join(format!("out-{count_copies}"));
        let settings =
            format!("--count-copies={count_copies} --max-group={max_group} --max-candidates={max_candidates}");
        let more: Vec<&str> = ["--algorithms", RULES].into_iter().chain(settings.split(' ')).collect();
        // Rows without text are rejected.
        let ran = run(&[&input], &out, &more);
        assert!([0, 3].contains(&ran.code), "{}", ran.stderr);
        for (seed, signs_copies) in [(4, false), (5, true)] {
            let asked = Asked { max_group, max_candidates, signs_copies };
            let said = Driver::run(&docs, &recipe(RULES, count_copies), asked, seed);
            assert!(same(&said, &out) > 1000);
            for (said, report) in said.0.iter().zip(record(&out)["algorithms"].as_array().unwrap()) {
                // Extra copies are excluded before anything is compared.
                assert_eq!(report["compared"], said.compared.made, "{}", said.label);
                assert!(said.pairs.iter().any(|pair| pair.4 == "copy"), "{}", said.label);
            }
        }
    }
}
