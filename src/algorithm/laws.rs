//! Laws of the registry itself: every member keeps the house rules that its files alone cannot show.

use super::kit::examples::{D1, params};
use super::*;
use crate::corpus::CorpusStats;
use crate::row::{RowLayout, Signatures};
use crate::text::{Field, FieldValue, Pipeline, TextOptions};

#[test]
fn names_are_unique_sorted_and_well_formed() {
    let names: Vec<&str> = ALGORITHMS.iter().map(|algorithm| algorithm.name()).collect();
    assert!(names.is_sorted(), "the list is alphabetical");
    let mut all: Vec<&str> = ALGORITHMS.iter().flat_map(|a| a.facts().aliases).chain(&names).copied().collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "a name or alias stands twice");
    assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
}

#[test]
fn every_default_and_preset_is_valid_and_every_fact_is_told() {
    for algorithm in ALGORITHMS {
        let _ = params(*algorithm, "");
        for (_, preset) in algorithm.facts().presets {
            let _ = params(*algorithm, preset);
        }
        for text in [
            algorithm.facts().source,
            algorithm.facts().summary,
            algorithm.facts().when_not_to_use,
            algorithm.facts().inputs,
        ] {
            assert!(!text.is_empty(), "{}", algorithm.name());
        }
        for spec in specs(*algorithm) {
            assert!(!spec.help.is_empty(), "{}: {}", algorithm.name(), spec.name);
        }
        assert!(by_name(algorithm.name()).is_ok());
    }
    let unknown = by_name("minhsh").err().expect("unknown").to_string();
    assert!(unknown.contains("did you mean \"minhash\"?") && unknown.contains("three_plus_five"), "{unknown}");
}

proptest::proptest! {
    /// Whatever stands in a text or a title, it is signed or has a reason, and the same way twice.
    #[test]
    fn any_text_is_signed_or_has_a_reason(
        text in "([a-cа-в网页搜的]{0,3}[ .,!?。，！_|\\n\u{0}\u{301}\u{200d}\u{1f600}-]{0,2}){0,30}",
        title in "\\PC{0,12}",
    ) {
        let stats = CorpusStats::none();
        let corpus = Corpus::new(100, &stats);
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        for algorithm in ALGORITHMS {
            let signer = algorithm.signer(&params(*algorithm, ""), &corpus).expect("defaults");
            let sign = || {
                let mut out = Signatures::default();
                let document = pipeline.analyse(&text).with_fields([FieldValue::Text(&title); Field::ALL.len()]);
                signer.sign(&document, &mut out);
                let rows: Vec<_> = out.rows(0).map(|row| (row.position, row.key, row.order, row.sketch.to_vec())).collect();
                (out.reason(), rows)
            };
            let (reason, rows) = sign();
            proptest::prop_assert!(reason.is_some() || !rows.is_empty(), "{}", algorithm.name());
            proptest::prop_assert!(rows.iter().all(|row| row.3.len() == signer.shape().sketch), "{}", algorithm.name());
            proptest::prop_assert_eq!((reason, rows), sign());
        }
    }
}

/// Rows fit the declared shape; empty documents have a reason and no rows; case, width and Unicode form do not count.
#[test]
fn signatures_keep_their_shape_and_ignore_dress() {
    let stats = CorpusStats::none();
    let corpus = Corpus::new(100, &stats);
    let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
    for algorithm in ALGORITHMS {
        let signer = algorithm.signer(&params(*algorithm, ""), &corpus).expect("defaults");
        let layout = RowLayout::new(signer.shape(), 100);
        let rows = |text: &str| {
            let mut out = Signatures::default();
            // Members that read titles get one, for a corpus without the column signs nothing with them.
            let fields = [FieldValue::Text("Ещё одна погода"); Field::ALL.len()];
            signer.sign(&pipeline.analyse(text).with_fields(fields), &mut out);
            let mut bytes = Vec::new();
            for row in out.rows(5) {
                assert!(row.position < signer.shape().positions);
                assert_eq!(row.sketch.len(), signer.shape().sketch);
                layout.encode(&row, &mut bytes);
            }
            (out.reason(), bytes)
        };
        for nothing in ["", " \n ", "\u{200B}"] {
            let (reason, bytes) = rows(nothing);
            assert!(nothing == "\u{200B}" || reason.is_some(), "{} signs nothing", algorithm.name());
            assert!(reason.is_none() || bytes.is_empty());
        }
        let text = format!(
            "{D1} Ещё одно предложение для числа слов, café и 3.14, 网页搜索引擎和重复网页。 Рыба плавает в реке, а дом стоит у леса."
        );
        let dressed = text.to_uppercase().replace("3.14", "３.１４").replace('É', "E\u{301}").replace("Й", "И\u{306}");
        assert_eq!(rows(&text).0, None, "{}", algorithm.name());
        if algorithm.name() != "exact" {
            assert_eq!(rows(&text), rows(&dressed), "{}", algorithm.name());
        }
    }
}
