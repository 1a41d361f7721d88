//! Compares each algorithm's revision and a hash of its signatures with the recorded values. An index with different signatures must be
//! rejected, so signatures must not change without a new revision.

use super::*;
use crate::testing::examples::{D1, params};
use crate::testing::in_memory;
use dupsift_core::hash::hash64;
use dupsift_core::row::{RowLayout, Signatures};
use dupsift_text::{Field, FieldValue, Pipeline, TextOptions};

/// The file with one line per algorithm: the name, the revision, and a hash of the signatures of the texts below.
const KNOWN: &str = "tests/golden_signatures.txt";

#[test]
fn other_signatures_are_another_revision() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
    let mut texts = in_memory::texts(9, 120, 60);
    texts.extend([
        D1.to_owned(),
        format!("{D1} 网页搜索引擎和重复网页。\n\nКот и пёс, кот и рыба плавают в реке 3.14."),
        String::new(),
    ]);
    let mut found = Vec::new();
    for algorithm in ALGORITHMS {
        let fields = [FieldValue::Text("Ещё одна погода"); Field::ALL.len()];
        let place = folder.path().join(algorithm.name());
        std::fs::create_dir(&place).expect("a folder");
        let stats = in_memory::count(*algorithm, "", &texts, &vec![fields; texts.len()], (&pipeline, &place));
        let signer =
            algorithm.signer(&params(*algorithm, ""), &Corpus::new(texts.len() as u64, &stats)).expect("defaults");
        let planned = algorithm.signer(&params(*algorithm, ""), &Corpus::new(100_000_000, &stats)).expect("defaults");
        let layout = RowLayout::new(signer.scheme().shape, 1000);
        let mut bytes = Vec::new();
        for (doc, text) in texts.iter().enumerate() {
            let mut out = Signatures::default();
            signer.sign(&pipeline.analyse(text).counted_over(&stats).with_fields(fields), &mut out);
            out.rows(doc as u64).for_each(|row| layout.encode(&row, &mut bytes));
            out.sketch_of_document().iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            // An index keeps the keys of the second round for its documents. The scheme of these keys depends on the planned size of the
            // index.
            let Some(shape) = planned.scheme().probe_shape() else { continue };
            for row in out.rows(doc as u64) {
                let mut probes = Signatures::default();
                planned.probes(&row, &mut probes);
                probes.rows(doc as u64).for_each(|row| RowLayout::new(shape, 1000).encode(&row, &mut bytes));
            }
        }
        // Some algorithms sign nothing without a learned model.
        let corpus = Corpus::new(texts.len() as u64, &stats);
        let learns = algorithm.learner(&params(*algorithm, ""), &corpus).expect("defaults").is_some();
        assert!(learns || !bytes.is_empty(), "{} signs nothing", algorithm.name());
        found.push((algorithm.name(), algorithm.facts().revision, hash64(&bytes)));
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(KNOWN);
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let mut lines = String::new();
    for (name, revision, hash) in found {
        let begin = format!("{name} {revision} ");
        let line = format!("{begin}{hash:016x}\n");
        if let Some(before) = known.lines().find(|line| line.starts_with(&begin)) {
            assert_eq!(before, line.trim_end(), "the signatures of {name} have changed: raise its revision");
        }
        lines += &line;
    }
    // A line is rewritten only if the revision is new.
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &lines).expect("written");
    }
    assert!(
        lines == std::fs::read_to_string(&path).unwrap_or_default(),
        "UPDATE_EXPECT=1 adds the new revisions to {KNOWN}"
    );
}
