//! `segments`: splits documents into segments, each with a fingerprint. Documents that share enough fingerprints are duplicates.
//!
//! Source: Shivakumar, Garcia-Molina 1998/99 (chunks of lines); the segment signature in a Chinese survey of page deduplication. Cost: a
//! first pass for the fingerprint counts, O(text) for splitting, one row for each fingerprint that another document may share, and a second
//! computation of the candidates' fingerprints.
//!
//! The documents of a pair share at least M fingerprints (and, if `ratio` is set, at least that share of the smaller set). If all documents
//! order their fingerprints the same way, the first n - M + 1 of n fingerprints are enough to find the pair. The order is rarest first, and
//! a fingerprint that occurs in no other document needs no row. A document with fewer than M fingerprints is a duplicate only of a document
//! with the same set.
//!
//! ```text
//! M = 3; a: p q r s (counts 2 2 3 9), b: p q r t: a is listed under p and q; common p q r -> a pair, similarity 3 / 4
//! ```
//!
//! Limitations: with `equal`, one insertion shifts all boundaries. Navigation text shared by many pages produces false pairs at a cost that
//! grows with the square of the number of pages; `max_df` drops segments that occur in too many documents.

use super::contract::{
    Algorithm, Corpus, Decided, Facts, FeatureKind, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer, Verify,
};
use super::kit::passages::{Passage, beginning, lines, paragraphs};
use crate::corpus::CorpusStats;
use crate::measure::common;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::{combine, hash64};
use dupsift_core::row::{Pair, RowShape, Signatures};
use dupsift_text::Analysis;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;

/// Implements the `segments` algorithm.
pub(crate) struct Segments;

const FACTS: Facts = Facts {
    name: "segments",
    aliases: &[],
    source: "Shivakumar, Garcia-Molina 1999, Finding near-replicas of documents on the web; segment signature",
    summary: "Two documents are duplicates if they share enough paragraphs or other segments.",
    when_not_to_use: "if most pages share navigation text or a license of several paragraphs, unless max_df or ratio is set; if copies have small changes in every paragraph",
    inputs: "text, segment counts",
    params: &[
        ParamSpec {
            name: "segment",
            kind: Kind::Choice(&["paragraph", "lines", "equal", "words"]),
            default: "paragraph",
            help: "paragraph: text between blank lines (each line, if there are no blank lines); lines: `size` lines; equal: `size` parts with equal word counts, the first ones a word longer if necessary; words: `size` words",
        },
        ParamSpec {
            name: "size",
            kind: Kind::Int(0, 1_000_000),
            default: "0",
            help: "number of lines, parts or words (see segment); 0: 4 lines, 10 parts or 50 words",
        },
        ParamSpec {
            name: "min_seg_words",
            kind: Kind::Int(1, 10_000),
            default: "5",
            help: "drop segments with fewer words; in paragraphs and lines, a word is a run of letters and digits, or two characters in a script without spaces",
        },
        ParamSpec {
            name: "min_common",
            kind: Kind::Int(1, 10_000),
            default: "3",
            help: "M: number of segments that a pair must share; documents with fewer segments match only if their segments are the same",
        },
        ParamSpec {
            name: "ratio",
            kind: Kind::Real(0.0, 1.0),
            default: "0",
            help: "minimum share of shared segments, relative to the document with fewer segments; 0: any share",
        },
        ParamSpec {
            name: "max_df",
            kind: Kind::Int(0, i64::MAX),
            default: "0",
            help: "drop segments that occur in more documents than this (boilerplate); 0: drop none",
        },
    ],
    shorthands: &[],
    presets: &[("lines2", "segment=lines,size=2,min_common=25"), ("lines4", "segment=lines,size=4,min_common=15")],
    revision: 1,
};

impl Algorithm for Segments {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        Needs { features: Some(Box::new(Cutter::new(params))), ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let cutter = Cutter::new(params);
        if cutter.mode == "words" && cutter.size < cutter.least {
            return Err(Error::usage(format!(
                "segments: a segment of size={} words cannot have min_seg_words={} words; raise size or lower min_seg_words",
                cutter.size, cutter.least
            )));
        }
        Ok(Box::new(SegmentsSigner {
            cutter,
            min_common: params.count("min_common"),
            ratio: params.real("ratio"),
            max_df: params.count("max_df") as u64,
            stats: corpus.stats,
        }))
    }
}

/// Defines how documents are split.
#[derive(Clone, Copy)]
struct Cutter {
    mode: &'static str,
    size: usize,
    /// The minimum number of words in a segment.
    least: usize,
    /// The salt that separates the fingerprints of these settings from the fingerprints of other settings.
    salt: u64,
}

impl Cutter {
    fn new(params: &Params) -> Cutter {
        let mode = params.word("segment");
        let size = match (params.count("size"), mode) {
            (_, "paragraph") => 0,
            (0, "lines") => 4,
            (0, "equal") => 10,
            (0, _) => 50,
            (size, _) => size,
        };
        let cutter = Cutter { mode, size, least: params.count("min_seg_words"), salt: 0 };
        Cutter { salt: hash64(cutter.name().as_bytes()), ..cutter }
    }

    /// Passes the fingerprint and the place of each segment to `each`, in order.
    fn cut(&self, document: &Analysis<'_>, mut each: impl FnMut(u64, Place)) {
        let words = document.words();
        let mut add_words = |place: Range<usize>| {
            let part = &words[place.clone()];
            if part.len() >= self.least {
                each(part.iter().fold(self.salt, |hash, word| combine(hash, word.hash)), Place::Words(place));
            }
        };
        match self.mode {
            "words" => {
                let starts = (0..words.len()).step_by(self.size);
                starts.for_each(|start| add_words(start..words.len().min(start + self.size)));
            }
            "equal" => {
                let mut start = 0;
                for part in (1..=self.size).rev() {
                    let end = start + (words.len() - start).div_ceil(part);
                    add_words(start..end);
                    start = end;
                }
            }
            mode => {
                let places = if mode == "lines" {
                    let lines = lines(document);
                    let chunks = lines.chunks(self.size);
                    chunks.map(|lines| lines[0].place.start..lines[lines.len() - 1].place.end).collect()
                } else {
                    paragraphs(document)
                };
                let mut passage = Passage::default();
                for place in places {
                    passage.clear();
                    passage.add(&document.text()[place.clone()]);
                    if passage.half_words() >= 2 * self.least {
                        each(combine(self.salt, passage.fingerprint()), Place::Text(place));
                    }
                }
            }
        }
    }
}

/// Holds the place of a segment in its document.
enum Place {
    /// A range of word positions.
    Words(Range<usize>),
    /// A range in the normalized text.
    Text(Range<usize>),
}

impl FeatureKind for Cutter {
    fn name(&self) -> String {
        format!("segments:{}:{}:{}", self.mode, self.size, self.least)
    }

    fn hashes(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        self.cut(document, |fingerprint, _| out.push(fingerprint));
    }
}

struct SegmentsSigner<'c> {
    cutter: Cutter,
    min_common: usize,
    ratio: f64,
    max_df: u64,
    stats: &'c CorpusStats,
}

impl SegmentsSigner<'_> {
    /// Appends the distinct fingerprints of a document in ascending order, including boilerplate.
    fn fingerprints(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        self.cutter.hashes(document, out);
        out.sort_unstable();
        out.dedup();
    }

    /// Returns (document frequency, fingerprint) pairs, without boilerplate.
    fn counted(&self, fingerprints: &[u64]) -> Vec<(u64, u64)> {
        let mut counted = Vec::with_capacity(fingerprints.len());
        let mut next = fingerprints.iter();
        self.stats.feature_df_of_many(fingerprints.iter().copied(), |df| {
            if let Some(&fingerprint) = next.next()
                && (self.max_df == 0 || df <= self.max_df)
            {
                counted.push((df, fingerprint));
            }
        });
        counted
    }
}

impl Signer for SegmentsSigner<'_> {
    fn scheme(&self) -> SignatureScheme {
        SignatureScheme {
            rules: &["segments"],
            // The number of segments (the rarest ones) under which a typical page is indexed.
            rows_per_document: 8,
            ..SignatureScheme::new(RowShape::KEY64)
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let mut fingerprints = out.take_numbers();
        self.fingerprints(document, &mut fingerprints);
        let found = fingerprints.len();
        let mut counted = self.counted(&fingerprints);
        out.leave_numbers(fingerprints);
        if found == 0 {
            return out.none("no segment has min_seg_words words");
        }
        if counted.is_empty() {
            return out.none("all segments are too common");
        }
        if counted.len() < found {
            out.flag("segments above max_df left out");
        }
        if counted.len() < self.min_common {
            out.flag("fewer segments than min_common");
        }
        counted.sort_unstable();
        let enough = (counted.len() + 1).saturating_sub(self.min_common).max(1);
        // If the counts cover the corpus, a segment that occurs only in this document cannot lead to a pair. At least one row is needed:
        // without rows, a document would have no signature, and its exact copies would have no pairs.
        let alone = |df: u64| df <= 1 && self.stats.covers();
        let useless = counted[..enough].iter().take_while(|one| alone(one.0)).count();
        for (_, fingerprint) in &counted[useless.min(enough - 1)..enough] {
            out.push(0, (*fingerprint).into(), 0, &[]);
        }
    }

    /// Returns one entry per key: the beginning of the first segment with this fingerprint.
    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        let mut places = BTreeMap::new();
        self.cutter.cut(document, |fingerprint, place| {
            places.entry(u128::from(fingerprint)).or_insert(place);
        });
        let of_words = OnceCell::new();
        let text = |place: &Place| match place {
            Place::Text(place) => beginning(&document.text()[place.clone()]),
            Place::Words(words) => {
                let places = &of_words.get_or_init(|| document.places())[words.clone()];
                beginning(&document.text()[places[0].start..places[places.len() - 1].end])
            }
        };
        keys.iter().map(|key| places.get(key).map(text)).collect()
    }

    fn verify(&self) -> Option<&dyn Verify> {
        Some(self)
    }
}

impl Verify for SegmentsSigner<'_> {
    fn name(&self) -> String {
        format!("common segments:{}", self.min_common)
    }

    /// Appends the fingerprints without boilerplate, in ascending order.
    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let mut fingerprints = Vec::new();
        self.fingerprints(document, &mut fingerprints);
        out.extend(self.counted(&fingerprints).into_iter().map(|(_, fingerprint)| fingerprint));
    }

    /// Requires enough shared fingerprints, in number and as a share of the smaller set. If a set has fewer fingerprints than `min_common`,
    /// the other set must be equal to it.
    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        let fewer = a.len().min(b.len());
        if fewer < self.min_common {
            return Ok((fewer > 0 && a == b).then(|| candidate.with_similarity(1.0)));
        }
        let common = common(a, b);
        let share = common as f64 / fewer as f64;
        Ok((common >= self.min_common && share >= self.ratio).then(|| candidate.with_similarity(share as f32)))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::examples::{params, sign, words_of_rows};
    use crate::testing::in_memory::{all_pairs, run};
    use dupsift_core::hash::splitmix64;
    use dupsift_text::{Pipeline, TextOptions};

    /// Returns the number of fingerprints in a text.
    fn count(typed: &str, text: &str) -> usize {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let mut all = Vec::new();
        Cutter::new(&params(&Segments, typed)).hashes(&pipeline.analyse(text), &mut all);
        all.len()
    }

    #[test]
    fn modes_and_short_segments() {
        let text = "a b c d e f\ng h i j k\n\nl m n o\n\n网页搜索引擎去重算法";
        assert_eq!(count("", text), 2);
        assert_eq!(count("min_seg_words=4", text), 3);
        assert_eq!(count("min_seg_words=6", text), 1);
        assert_eq!(count("segment=lines,size=1", text), 3);
        // 11 words and nine half-words.
        assert_eq!(count("segment=lines,size=2", text), 2);
        let words = (0..23).map(|n| format!("w{n}")).collect::<Vec<_>>().join(" ");
        assert_eq!(count("segment=words,size=6", &words), 4);
        assert_eq!(count("segment=words,size=9", &words), 3);
        assert_eq!(count("segment=words,size=7", &words), 3);
        assert_eq!(count("segment=equal,size=4", &words), 4);
        assert_eq!(count("segment=equal,size=5", &words), 3);
        assert_eq!(count("segment=equal,size=100,min_seg_words=1", &words), 23);
        // Letters count; punctuation and quotation marks do not.
        let rows = |text| sign(&Segments, "", text).unwrap();
        assert_eq!(rows("One, two: \"three\" four-five six."), rows("\n ONE two three four five six"));
        assert_ne!(rows("One two three four five six."), rows("One two three four five seven."));
    }

    #[test]
    fn each_key_has_the_beginning_of_its_segment() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let stats = CorpusStats::none();
        let words = |typed: &str, text: &str| {
            let typed = format!("min_common=1,{typed}");
            let signer = Segments.signer(&params(&Segments, &typed), &Corpus::new(9, &stats)).unwrap();
            let mut words = words_of_rows(&*signer, &pipeline.analyse(text));
            words.sort();
            words
        };
        let text = "One, two.\nThree\n\nfour FIVE\n\nsix, seven!\n\nOne two three";
        assert_eq!(words("min_seg_words=2", text), ["four five", "one, two. three", "six, seven!"]);
        assert_eq!(
            words("min_seg_words=2,segment=lines,size=3", text),
            ["one, two. three four five", "six, seven! one two three"]
        );
        let of_words = ["five six, seven! one", "one, two. three four", "two three"];
        assert_eq!(words("min_seg_words=2,segment=words,size=4", text), of_words);
        // A segment of words ends directly after its last word, without the punctuation that follows.
        let equal = ["five six, seven", "one two three", "one, two. three four"];
        assert_eq!(words("min_seg_words=1,segment=equal,size=3", text), equal);
        assert_eq!(words("min_seg_words=9", &"网".repeat(300)), ["网".repeat(200) + "…"]);
        assert_eq!(words("min_seg_words=9,segment=words", &"w ".repeat(150)), ["w ".repeat(49) + "w"]);
    }

    #[test]
    fn rows_reasons_and_contradictions() {
        let text = |n: usize| (0..n).map(|n| format!("a b c d e{n}\n\n")).collect::<String>();
        // The text has n - M + 1 rows.
        assert_eq!(sign(&Segments, "", &text(7)).unwrap().len(), 5);
        assert_eq!(sign(&Segments, "", &text(2)).unwrap().len(), 1);
        assert_eq!(sign(&Segments, "min_common=1", &text(7)).unwrap().len(), 7);
        assert_eq!(sign(&Segments, "", "too few words"), Err("no segment has min_seg_words words"));
        let stats = CorpusStats::none();
        let signer = |typed| Segments.signer(&params(&Segments, typed), &Corpus::new(9, &stats)).err();
        assert!(signer("segment=words,size=4").unwrap().to_string().contains("min_seg_words=5"));
        assert!(signer("segment=words").is_none());
    }

    /// Returns documents made of random paragraphs from a small set. Some paragraphs are common, some are rare.
    fn made(count: u64) -> (Vec<String>, Vec<BTreeSet<u64>>) {
        let mut at = 0;
        let mut random = |below: u64| {
            at += 1;
            splitmix64(7, at) % below
        };
        let sets: Vec<BTreeSet<u64>> =
            (0..count).map(|_| (0..random(9)).map(|_| random(40) * random(40) / 12).collect()).collect();
        let text =
            |set: &BTreeSet<u64>| set.iter().rev().map(|n| format!("the paragraph of number p{n}\n\n")).collect();
        (sets.iter().map(text).collect(), sets)
    }

    #[test]
    fn equals_comparing_all_with_all() {
        let (texts, sets) = made(160);
        for (typed, min_common, ratio, max_df) in [
            ("", 3, 0.0, usize::MAX),
            ("min_common=1", 1, 0.0, usize::MAX),
            ("min_common=2,ratio=0.7", 2, 0.7, usize::MAX),
            ("min_common=2,max_df=12", 2, 0.0, 12),
        ] {
            let df = |n: &u64| sets.iter().filter(|set| set.contains(n)).count();
            let kept: Vec<BTreeSet<u64>> =
                sets.iter().map(|set| set.iter().filter(|n| df(n) <= max_df).copied().collect()).collect();
            let expected = all_pairs(texts.len(), |a, b| {
                let (a, b) = (&kept[a], &kept[b]);
                let (common, fewer) = (a.intersection(b).count(), a.len().min(b.len()));
                match fewer {
                    0 => false,
                    _ if fewer < min_common => a == b,
                    _ => common >= min_common && common as f64 / fewer as f64 >= ratio,
                }
            });
            let found = run(&Segments, typed, &texts);
            assert_eq!(found.numbers(), expected, "{typed}");
            assert!(expected.len() > 20, "{typed}: {}", expected.len());
            for ((a, b), pair) in &found.pairs {
                let common = kept[*a].intersection(&kept[*b]).count();
                assert_eq!(pair.score.similarity, (common as f64 / kept[*a].len().min(kept[*b].len()) as f64) as f32);
            }
            let reason = |doc: usize| match (sets[doc].is_empty(), kept[doc].is_empty()) {
                (true, _) => Some("no segment has min_seg_words words"),
                (_, true) => Some("all segments are too common"),
                _ => None,
            };
            (0..texts.len()).for_each(|doc| assert_eq!(found.unsigned.get(&doc).copied(), reason(doc)));
        }
    }
}
