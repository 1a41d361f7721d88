//! Tests properties that hold for all algorithms.

use super::*;
use crate::corpus::{CorpusStats, Records, Words, Written, written};
use crate::testing::examples::{D1, params};
use crate::testing::in_memory;
use dupsift_core::row::{RowLayout, RowShape, Score, Signatures};
use dupsift_text::{Field, FieldValue, Pipeline, TextOptions};

#[test]
fn names_are_unique_sorted_and_well_formed() {
    let names: Vec<&str> = ALGORITHMS.iter().map(|algorithm| algorithm.name()).collect();
    assert!(names.is_sorted(), "the list is alphabetical");
    let mut all: Vec<&str> = ALGORITHMS.iter().flat_map(|a| a.facts().aliases).chain(&names).copied().collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "a name or alias occurs twice");
    assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
}

#[test]
fn every_default_and_preset_is_valid_and_every_fact_is_reported() {
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
    /// Every document has either a signature or a reason for having none, and signing it twice gives the same result.
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
            let shape = signer.scheme().shape;
            let sign = || {
                let mut out = Signatures::default();
                let document = pipeline.analyse(&text).with_fields([FieldValue::Text(&title); Field::ALL.len()]);
                signer.sign(&document, &mut out);
                let rows: Vec<_> = out.rows(0).map(|row| (row.position, row.key, row.order, row.sketch.to_vec())).collect();
                (out.reason(), rows)
            };
            let (reason, rows) = sign();
            proptest::prop_assert!(reason.is_some() || !rows.is_empty(), "{}", algorithm.name());
            proptest::prop_assert!(rows.iter().all(|row| row.3.len() == shape.sketch), "{}", algorithm.name());
            proptest::prop_assert_eq!((reason, rows), sign());
        }
    }
}

/// Rows fit the declared shape. Empty documents get a reason and no rows. Case, width and Unicode normalization form
/// are ignored.
#[test]
fn signatures_keep_their_shape_and_ignore_dress() {
    let stats = CorpusStats::none();
    let corpus = Corpus::new(100, &stats);
    let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
    for algorithm in ALGORITHMS {
        let signer = algorithm.signer(&params(*algorithm, ""), &corpus).expect("defaults");
        let shape = signer.scheme().shape;
        let layout = RowLayout::new(shape, 100);
        let rows = |text: &str| {
            let mut out = Signatures::default();
            // Algorithms that read titles receive a title, because they sign nothing in a corpus without a title column.
            let fields = [FieldValue::Text("Ещё одна погода"); Field::ALL.len()];
            signer.sign(&pipeline.analyse(text).with_fields(fields), &mut out);
            let mut bytes = Vec::new();
            for row in out.rows(5) {
                assert!(row.position < shape.positions);
                assert_eq!(row.sketch.len(), shape.sketch);
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

/// If an algorithm declares that it needs only the words of a document, the words give the same signatures and evidence as the text.
#[test]
fn signatures_of_kept_words_are_those_of_the_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipeline =
        Pipeline::new(&TextOptions { stop_words: ["и", "w0"].map(String::from).to_vec(), ..TextOptions::default() })
            .expect("options");
    let mut texts = in_memory::texts(5, 150, 40);
    // Adds first lines, a different script in some texts, and texts with few or no words.
    texts.iter_mut().step_by(3).for_each(|text| *text = text.replacen(' ', "\n", 1));
    texts.iter_mut().step_by(7).for_each(|text| text.push_str(" 网页搜索引擎和重复网页 Кот и пёс и кот"));
    texts.extend(["", "?!\n", "и", "w1 w1\nw1", "搜索\n引擎"].map(String::from));
    let (mut by_words, mut early) = (0, 0);
    for algorithm in ALGORITHMS {
        let typed: &[&str] = match algorithm.name() {
            "cosine" => &["tf=sublinear,join=heavy", "idf=false"],
            "versions" => &["head=0.3,tf=raw,join=exact", "head=0", "relate=false"],
            "fingerprint" => &["weight=tf_over_df"],
            "imatch" => &["top=8"],
            "keyword_match" => &["weight=tf_idf", "words=3,common=2"],
            "lex_rand" => &["min_terms=1"],
            "tf_ridf" => &["bm25_tf=true", "words=2,min_distinct=1"],
            _ => &[],
        };
        let presets = algorithm.facts().presets.iter().map(|(_, settings)| *settings);
        for typed in presets.chain([""]).chain(typed.iter().copied()) {
            let params = params(*algorithm, typed);
            let needs = algorithm.needs(&params);
            let Reads::Words { first_line } = needs.reads else { continue };
            by_words += 1;
            // Feature counts and columns other than the text column are not kept.
            assert!(needs.features.is_none() && needs.fields.is_empty());
            let no_fields = vec![Default::default(); texts.len()];
            let place = folder.path().join(by_words.to_string());
            std::fs::create_dir(&place).expect("a folder");
            let stats = in_memory::count(*algorithm, typed, &texts, &no_fields, (&pipeline, &place));
            let signer = algorithm.signer(&params, &Corpus::new(texts.len() as u64, &stats)).expect("valid");
            let rows = |out: &Signatures| {
                let rows = out.rows(0).map(|row| (row.position, row.key, row.order, row.sketch.to_vec()));
                (out.reason(), out.flags().to_vec(), rows.collect::<Vec<_>>(), out.sketch_of_document().to_vec())
            };
            let mut sign = |document: &dupsift_text::Analysis<'_>| {
                let (mut out, mut evidence) = (Signatures::default(), Vec::new());
                signer.sign(document, &mut out);
                signer.verify().iter().for_each(|check| check.evidence(document, &mut evidence));
                let signed = (rows(&out), evidence);
                if let Some(method) = signer.vectors() {
                    let (mut out, mut evidence) = (Signatures::default(), Vec::new());
                    method.sign_with_evidence(document, &mut out, &mut evidence);
                    assert_eq!((rows(&out), evidence), signed, "{}: in one step", algorithm.name());
                    early += 1;
                }
                signed
            };
            let Written { lengths, letters, records } = written(&pipeline, &texts, first_line);
            let words = Words::look_up(&lengths, letters.as_bytes(), &stats).expect("words");
            let mut records = Records::new(&records, first_line);
            for text in &texts {
                for times in [1, 3] {
                    let document = pipeline.analyse(text).counted_over(&stats).counted_times(times);
                    let mut again = records.clone();
                    let kept_words = again.next(&words).expect("a document").words;
                    let kept_words = pipeline.read_back(kept_words).counted_times(times);
                    assert_eq!(sign(&kept_words), sign(&document), "{} {typed}: {text:?}", algorithm.name());
                    if times == 3 {
                        records = again;
                    }
                }
            }
        }
    }
    assert!(early > 0, "cosine collects no evidence while it computes signatures");
    assert!(by_words >= 18, "only {by_words} algorithms compute signatures from words alone");
}

/// The example in docs/dev/add-an-algorithm.md is identical to the compiled code, and the algorithm finds pairs without additional code.
#[test]
fn the_skeleton_of_a_new_algorithm_works() {
    use super::skeleton::FirstWords;
    let page = include_str!("../../../../docs/dev/add-an-algorithm.md");
    let (_, code) = include_str!("skeleton.rs").split_once("\n\n").expect("a header");
    assert!(
        page.contains(&format!("```rust\n{code}```\n")),
        "docs/dev/add-an-algorithm.md does not show crates/algorithms/src/algorithm/skeleton.rs"
    );
    assert_eq!(specs(&FirstWords).iter().map(|spec| spec.name).collect::<Vec<_>>(), ["words", "verify", "margin"]);

    let texts = ["Кот, пёс; птица летит.", "Рыба плавает", "КОТ ПЁС", "кот", "рыба плавает в реке"].map(String::from);
    let found = in_memory::run(&FirstWords, "words=2", &texts);
    assert_eq!(found.numbers().into_iter().collect::<Vec<_>>(), [(0, 2), (1, 4)]);
    assert_eq!(found.unsigned.into_iter().collect::<Vec<_>>(), [(3, "fewer words than the signature needs")]);
    assert!(found.pairs.values().all(|pair| pair.score == Score::EQUAL && pair.matched == 1));

    let stats = CorpusStats::none();
    let corpus = Corpus::new(5, &stats);
    let signer = FirstWords.signer(&params(&FirstWords, ""), &corpus).expect("defaults");
    let scheme = signer.scheme();
    assert!(scheme.is_equivalence() && signer.verify().is_none());
    assert_eq!((scheme.shape, scheme.signature_bits), (RowShape { key_bits: 128, ..RowShape::KEY64 }, Some(128)));
    assert_eq!((scheme.rows_per_document, scheme.rules, scheme.notes), (1, &["equal"][..], vec![]));
}
