//! Tests properties of all steps from raw text to words, using random text in mixed scripts.

use std::sync::OnceLock;

use proptest::prelude::*;

use super::choices::{TextOptions, TokenizerKind};
use super::pipeline::Pipeline;
use super::word::Word;

/// Fragments that are difficult in combination: different scripts, combining marks without a base, invisible and invalid characters,
/// emoji, and boundaries.
const PARTS: &[&str] = &[
    "a",
    "B",
    "word",
    "can't",
    "3.14",
    "1,000",
    "_",
    "'",
    "’",
    ".",
    "?!",
    "...",
    "…",
    ",",
    ":",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\u{2029}",
    "\u{3000}",
    "кот",
    "Й",
    "и\u{306}",
    "ё",
    "中",
    "中文",
    "清华大学",
    "々",
    "〇",
    "𠀀",
    "\u{F900}",
    "。",
    "！",
    "，",
    "”",
    "）",
    "か",
    "カー",
    "カ\u{3099}",
    "ﾊﾟ",
    "ภาษาไทย",
    "ำ",
    "๑",
    "ລາວ",
    "ខ្មែរ",
    "မြန်မာ",
    "၁",
    "हिन्दी",
    "\u{94D}",
    "عَرَبِيّ",
    "한국어",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{345}",
    "\u{FE0F}",
    "\u{2066}",
    "а\u{301}",
    "\u{300}",
    "\u{200D}",
    "\u{200B}",
    "\u{AD}",
    "\u{FFFD}",
    "\0",
    "😀",
    "👩\u{200D}👩",
    "🇷🇺",
    "Σ",
    "ΟΔΟΣ",
    "ﷺ",
    "½",
    "№",
    "™",
    "ﬁ",
    "İ",
    "ǅ",
    "・",
    "㍿",
    "\u{10FFFF}",
];

const KINDS: [TokenizerKind; 4] =
    [TokenizerKind::Dict, TokenizerKind::Jieba, TokenizerKind::Bigram, TokenizerKind::Char];

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::collection::vec(proptest::sample::select(PARTS), 0..24).prop_map(|parts| parts.concat()),
        "\\PC{0,24}",
    ]
}

fn pipeline(tokenizer: TokenizerKind, stem: bool) -> Pipeline {
    Pipeline::new(&TextOptions { tokenizer, stem, ..TextOptions::default() }).expect("good options")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Checks that each letter and digit is in exactly one word (with bigrams, in one or two words), and that words are in order.
    #[test]
    fn no_letter_is_lost(raw in texts()) {
        for kind in KINDS {
            let overlap = kind == TokenizerKind::Bigram;
            let pipeline = shared(&kind);
            let analysis = pipeline.analyse(&raw);
            let mut covered = vec![0_u32; analysis.text().len()];
            let mut last = 0;
            for word in analysis.words() {
                prop_assert!(word.start < word.end && word.start >= last);
                prop_assert!(analysis.word(word).contains(|c: char| c.is_alphanumeric() || super::script::is_han(c)));
                prop_assert!(!analysis.word(word).contains(' '));
                prop_assert_eq!(word.hash, dupsift_core::hash::hash64(analysis.word(word).as_bytes()));
                covered[word.start as usize..word.end as usize].iter_mut().for_each(|count| *count += 1);
                last = if overlap { word.start } else { word.end };
            }
            for (place, c) in analysis.text().char_indices().filter(|(_, c)| c.is_alphanumeric()) {
                let count = covered[place];
                prop_assert!(count == 1 || overlap && count == 2, "the character {:?} of the text {:?} belongs to {} words", c, raw, count);
            }
        }
    }

    /// Checks that the sentences, in order, contain exactly the words of the text, and that no sentence is empty.
    #[test]
    fn sentences_are_all_the_words(raw in texts()) {
        let pipeline = shared(&TokenizerKind::Dict);
        let analysis = pipeline.analyse(&raw);
        let mut next = 0;
        let mut canonical = Vec::new();
        for sentence in analysis.sentences() {
            prop_assert!(sentence.start == next && sentence.end > next);
            next = sentence.end;
            let mut written = String::new();
            analysis.write_sentence(sentence, &mut written);
            canonical.push(written);
        }
        prop_assert_eq!(next as usize, analysis.words().len());
        prop_assert_eq!(canonical.join(" "), analysis.canonical());
    }

    /// Checks that the order of calls makes no difference, and that the words of the `char` tokenizer are the shingle tokens.
    #[test]
    fn order_of_asking_makes_no_difference(raw in texts(), stem in any::<bool>()) {
        for kind in KINDS {
            let pipeline = if stem { stemming(&kind) } else { shared(&kind) };
            let (tokens_first, words_first) = (pipeline.analyse(&raw), pipeline.analyse(&raw));
            let tokens = tokens_first.tokens();
            let words: &[Word] = words_first.words();
            prop_assert_eq!(tokens, words_first.tokens());
            prop_assert_eq!(tokens_first.words(), words);
            if kind == TokenizerKind::Char {
                let of_words: Vec<u64> = words.iter().map(|word| word.hash).collect();
                prop_assert_eq!(of_words, tokens.iter().map(|token| token.hash).collect::<Vec<u64>>());
            }
        }
    }

    /// Checks that a second analysis finds the same words without the dictionary.
    #[test]
    fn known_cuts_give_the_same_words(raw in texts(), stem in any::<bool>()) {
        for kind in KINDS {
            let pipeline = if stem { stemming(&kind) } else { shared(&kind) };
            let first = pipeline.analyse(&raw);
            let mut bits = Vec::new();
            first.write_han_starts(&mut bits);
            let again = pipeline.analyse_again(&raw, &bits);
            prop_assert_eq!(first.words(), again.words());
            prop_assert_eq!(first.sentences(), again.sentences());
            prop_assert_eq!(first.tokens(), again.tokens());
            prop_assert_eq!(again.segmented(), 0);
            let mut counts = std::collections::BTreeMap::new();
            first.words().iter().for_each(|word| *counts.entry(word.hash).or_insert(0) += 1);
            let counted: std::collections::BTreeMap<u64, u32> =
                first.counted().iter().map(|one| (one.word.hash, one.tf)).collect();
            prop_assert_eq!(counts, counted);
        }
    }

    /// Checks that NFD and invisible characters do not change the words.
    #[test]
    fn spelling_makes_no_difference(raw in texts()) {
        let pipeline = shared(&TokenizerKind::Dict);
        let decomposed = icu_normalizer::DecomposingNormalizer::new_nfd().normalize(&raw).into_owned();
        let dotted: String = raw.chars().flat_map(|c| [c, '\u{200B}']).collect();
        let analysis = pipeline.analyse(&raw);
        for other in [&decomposed, &dotted] {
            let other = pipeline.analyse(other);
            prop_assert_eq!(other.text(), analysis.text());
            prop_assert_eq!(other.words(), analysis.words());
            prop_assert_eq!(other.sentences(), analysis.sentences());
        }
    }
}

/// Returns the pipeline for a tokenizer. All cases share it, because loading the dictionary is slow.
fn shared(kind: &TokenizerKind) -> &'static Pipeline {
    static ALL: OnceLock<[Pipeline; 4]> = OnceLock::new();
    let all = ALL.get_or_init(|| KINDS.map(|kind| pipeline(kind, false)));
    &all[KINDS.iter().position(|other| other == kind).expect("one of four")]
}

fn stemming(kind: &TokenizerKind) -> &'static Pipeline {
    static ALL: OnceLock<[Pipeline; 4]> = OnceLock::new();
    let all = ALL.get_or_init(|| KINDS.map(|kind| pipeline(kind, true)));
    &all[KINDS.iter().position(|other| other == kind).expect("one of four")]
}

/// Tests input that makes naive segmenters slow: 3 MB of a single repeated character must not take longer than a second or two.
#[test]
fn long_and_monotonous_texts_are_cut_whole() {
    let pipeline = shared(&TokenizerKind::Dict);
    for (part, words) in
        [("的", None), ("1", Some(1)), ("a", Some(1)), ("𪚥", None), ("a.", Some(1)), ("ก", None), ("\u{301}a", None)]
    {
        let raw = part.repeat(3_000_000 / part.len());
        let analysis = pipeline.analyse(&raw);
        assert_eq!(words.unwrap_or(analysis.words().len()), analysis.words().len(), "{part}");
        let length: usize = analysis.words().iter().map(|word| analysis.word(word).len()).sum();
        assert!(length + 4 >= analysis.text().len(), "{part}: {length} of {}", analysis.text().len());
    }
}
