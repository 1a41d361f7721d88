//! Computes the signatures of a document whose text and title are arbitrary bytes, using every algorithm with its default parameters.
//! Checks that nothing panics, that rows have the declared shape, and that the same document gives the same rows.
#![no_main]

use std::sync::LazyLock;

use dupsift::algorithm::{ALGORITHMS, Corpus, Params, Signer, specs};
use dupsift_algorithms::corpus::CorpusStats;
use dupsift_core::row::{RowLayout, Signatures};
use dupsift_text::{FieldValue, Pipeline, TextOptions};
use libfuzzer_sys::fuzz_target;

static STATS: LazyLock<CorpusStats> = LazyLock::new(CorpusStats::none);
static PIPELINE: LazyLock<Pipeline> =
    LazyLock::new(|| Pipeline::new(&TextOptions::default()).expect("default options"));
static SIGNERS: LazyLock<Vec<Box<dyn Signer>>> = LazyLock::new(|| {
    let corpus = Corpus::new(1000, &STATS);
    let signer = |algorithm: &&'static dyn dupsift::algorithm::Algorithm| {
        let params = Params::check(algorithm.name(), &specs(*algorithm), &[]).expect("defaults");
        algorithm.signer(&params, &corpus).expect("defaults")
    };
    ALGORITHMS.iter().map(signer).collect()
});

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let (title, text) = text.split_once('\n').unwrap_or(("", &text));
    let fields = [FieldValue::Text(title), FieldValue::Null, FieldValue::NoColumn];
    for signer in SIGNERS.iter() {
        let rows = || {
            let mut out = Signatures::default();
            signer.sign(&PIPELINE.analyse(text).with_fields(fields), &mut out);
            let shape = signer.scheme().shape;
            let layout = RowLayout::new(shape, 1000);
            let mut bytes = Vec::new();
            for row in out.rows(7) {
                assert!(row.position < shape.positions && row.sketch.len() == shape.sketch);
                layout.encode(&row, &mut bytes);
            }
            (out.reason(), bytes)
        };
        assert_eq!(rows(), rows());
    }
});
