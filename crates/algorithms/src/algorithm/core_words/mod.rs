//! `core_words`: first compares the topics that pages declare, then the largest segments of their text.
//!
//! Source: the two-stage method in the Chinese survey; the concrete steps are dupsift's interpretation. Core words come from the title
//! without the name of the site (weight 3), the page's keywords (2) and its description (1). A word counts once per column, and the sum of
//! its weights is multiplied by ln(N / df). The five heaviest words, in alphabetical order, are the key. Only documents with equal keys are
//! compared, by the hashes of their five largest segments: at least two must agree (one if a document has only one segment). Cost: a first
//! pass that counts words and title parts; O(words); one row per document.
//!
//! The name of the site is the part that many titles share. A part (`kit/title.rs`) that occurs in more than 3 titles and in more than 1%
//! of all titles is dropped from the title, unless nothing would remain.
//!
//! Paragraphs are joined until they have 50 words in total; then the next segment begins. If fewer words remain at the end of the text,
//! they are added to the last segment. A word is a run of letters and digits; two Chinese characters count as one word.
//!
//! ```text
//! title "Погода в Москве - Новости", keywords "погода, прогноз":  погода 5 x idf, прогноз 2, москве 3, в 3
//! ```
//!
//! Limitations: pages from the same site often share the title, keywords and description, so only the segments distinguish them.

mod titles;

use crate::algorithm::contract::{
    Algorithm, Corpus, Facts, FeatureKind, Kind, Needs, ParamSpec, Params, SignatureScheme, Signer,
};
use crate::algorithm::kit::passages::{Passage, paragraphs};
use crate::algorithm::kit::top_words::Heaviest;
use crate::corpus::CorpusStats;
use dupsift_core::error::Result;
use dupsift_core::hash::hash64;
use dupsift_core::row::{Row, RowShape, Score, Signatures};
use dupsift_text::{Analysis, Field};
use titles::{TitleParts, own_parts};

/// Implements the `core_words` algorithm.
pub(crate) struct CoreWords;

const FACTS: Facts = Facts {
    name: "core_words",
    aliases: &[],
    source: "survey of ten methods for deduplicating pages, two-stage method (core words, then content segments)",
    summary: "Two documents are duplicates if they have the same core words in the title, keywords and description, and their largest segments match.",
    when_not_to_use: "on documents without titles, or if copies have different titles",
    inputs: "text, title, keywords, description, word counts",
    params: &[
        ParamSpec { name: "core", kind: Kind::Int(1, 100), default: "5", help: "number of core words per document" },
        ParamSpec {
            name: "title_weight",
            kind: Kind::Real(0.0, 100.0),
            default: "3",
            help: "weight of words in the title; 0: the title is ignored",
        },
        ParamSpec {
            name: "keywords_weight",
            kind: Kind::Real(0.0, 100.0),
            default: "2",
            help: "weight of words in the page's keywords; 0: the keywords are ignored",
        },
        ParamSpec {
            name: "description_weight",
            kind: Kind::Real(0.0, 100.0),
            default: "1",
            help: "weight of words in the page's description; 0: the description is ignored",
        },
        ParamSpec {
            name: "strip_suffix",
            kind: Kind::Flag,
            default: "true",
            help: "remove site names from titles, that is, parts that occur in more than 1% of all titles and in more than 3 titles",
        },
        ParamSpec {
            name: "fallback",
            kind: Kind::Choice(&["skip", "body"]),
            default: "skip",
            help: "for documents that have no title, keywords or description: skip creates no signature; body uses the words of the text, weighted by tf ln(N / df)",
        },
        ParamSpec {
            name: "seg_words",
            kind: Kind::Int(1, 100_000),
            default: "50",
            help: "minimum number of words in a segment; a word is a run of letters and digits, or two characters in a script without spaces",
        },
        ParamSpec {
            name: "segments",
            kind: Kind::Int(1, 32),
            default: "5",
            help: "how many of the largest segments to compare",
        },
        ParamSpec {
            name: "min_common",
            kind: Kind::Int(1, 32),
            default: "2",
            help: "M: number of segments that must match; if a document has fewer, all of its segments must match",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for CoreWords {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        let features = params.flag("strip_suffix").then(|| Box::new(TitleParts) as Box<dyn FeatureKind>);
        Needs { word_counts: true, features, fields: &Field::ALL, ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let weights = ["title_weight", "keywords_weight", "description_weight"];
        Ok(Box::new(CoreWordsSigner {
            core: params.count("core"),
            weights: weights.map(|name| params.real(name)),
            strip_suffix: params.flag("strip_suffix"),
            body: params.word("fallback") == "body",
            least: 2 * params.count("seg_words"),
            segments: params.count("segments"),
            min_common: params.count("min_common"),
            stats: corpus.stats,
        }))
    }
}

struct CoreWordsSigner<'c> {
    core: usize,
    /// The weight of each field.
    weights: [f64; 3],
    strip_suffix: bool,
    body: bool,
    /// The minimum length of a segment in half-words; a Chinese character counts as one half-word.
    least: usize,
    segments: usize,
    min_common: usize,
    stats: &'c CorpusStats,
}

/// Holds a word from a column, with its document frequency and weight.
struct Said<'t> {
    word: &'t str,
    hash: u64,
    df: u64,
    weight: f64,
}

/// Appends the distinct words of a column, without stop words.
fn words_of<'t>(column: &'t Analysis<'_>, weight: f64, out: &mut Vec<Said<'t>>) {
    let words = column.counted().iter().zip(column.frequencies()).filter(|(one, _)| !one.word.stop);
    let said = |word, hash, df| Said { word, hash, df, weight };
    out.extend(words.map(|(one, frequency)| said(column.word(&one.word), one.word.hash, frequency.df)));
}

impl CoreWordsSigner<'_> {
    /// Returns the core words in alphabetical order, joined into one string. The string is empty if the page has no title, keywords or
    /// description.
    fn core(&self, document: &Analysis<'_>) -> String {
        let title = document.field(Field::Title).filter(|_| self.strip_suffix);
        let own = title.map_or_else(Vec::new, |title| own_parts(title, self.stats));
        let own: Vec<Analysis<'_>> =
            title.iter().flat_map(|title| own.iter().map(|part| title.part(part.clone()))).collect();
        let mut said = Vec::new();
        for (&field, &weight) in Field::ALL.iter().zip(&self.weights) {
            let from = said.len();
            if weight > 0.0 && field == Field::Title && !own.is_empty() {
                own.iter().for_each(|part| words_of(part, weight, &mut said));
                // A word that occurs in two parts of a title counts once.
                said[from..].sort_by_key(|one| one.hash);
                let mut known = None;
                let distinct = said.split_off(from).into_iter().filter(|one| known.replace(one.hash) != Some(one.hash));
                said.extend(distinct);
            } else if weight > 0.0 {
                document.field(field).into_iter().for_each(|column| words_of(column, weight, &mut said));
            }
        }
        let mut heaviest = Heaviest::new(self.core);
        said.sort_by_key(|one| one.hash);
        for same in said.chunk_by(|a, b| a.hash == b.hash) {
            let weight: f64 = same.iter().map(|one| one.weight).sum();
            heaviest.push_word(weight * self.stats.idf(same[0].df), same[0].word, 1);
        }
        heaviest.join()
    }

    /// Like `CoreWordsSigner::core`, but uses the words of the text itself.
    fn core_of_body(&self, document: &Analysis<'_>) -> String {
        let mut heaviest = Heaviest::new(self.core);
        for (one, frequency) in document.counted().iter().zip(document.frequencies()) {
            if !one.word.stop {
                heaviest.push(f64::from(one.tf) * self.stats.idf(frequency.df), document, one);
            }
        }
        heaviest.join()
    }

    /// Returns the core words that make up the key, and whether they come from the text. The string is empty if there are no core words.
    fn signed_core(&self, document: &Analysis<'_>) -> (String, bool) {
        let core = self.core(document);
        if core.is_empty() && self.body { (self.core_of_body(document), true) } else { (core, false) }
    }

    /// Returns the fingerprints of the largest segments, largest first; segments of the same size stay in text order.
    fn segments(&self, document: &Analysis<'_>) -> Vec<u64> {
        let (text, places) = (document.text(), paragraphs(document));
        let mut found: Vec<(usize, u64)> = Vec::new();
        let mut one = Passage::default();
        // The first paragraphs of the current and the previous segment.
        let (mut begin, mut before) = (0, 0);
        for (at, place) in places.iter().enumerate() {
            one.add(&text[place.clone()]);
            if one.half_words() >= self.least {
                found.push((one.half_words(), one.fingerprint()));
                one.clear();
                (before, begin) = (begin, at + 1);
            }
        }
        if one.half_words() > 0 {
            if found.pop().is_some() {
                one.clear();
                places[before..].iter().for_each(|place| one.add(&text[place.clone()]));
            }
            found.push((one.half_words(), one.fingerprint()));
        }
        // The sort is stable, so ties keep their order.
        found.sort_by_key(|one| std::cmp::Reverse(one.0));
        let mut largest: Vec<u64> = Vec::with_capacity(self.segments);
        for (_, fingerprint) in found {
            // 0 means that there is no segment.
            let fingerprint = fingerprint.max(1);
            if largest.len() < self.segments && !largest.contains(&fingerprint) {
                largest.push(fingerprint);
            }
        }
        largest
    }
}

fn key(core: &str) -> u128 {
    hash64(core.as_bytes()).into()
}

impl Signer for CoreWordsSigner<'_> {
    fn scheme(&self) -> SignatureScheme {
        // The sketch holds the fingerprints of the segments, padded with 0.
        let shape = RowShape { sketch: 8 * self.segments, ..RowShape::KEY64 };
        SignatureScheme { rules: &["core_and_segments"], ..SignatureScheme::new(shape) }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let (core, is_of_text) = self.signed_core(document);
        if is_of_text {
            out.flag("core words of the text");
        } else if core.is_empty() {
            let there = Field::ALL.iter().any(|&field| document.has_column(field));
            return out.none(if there { "no title, keywords or description" } else { "no column" });
        }
        let segments = self.segments(document);
        if core.is_empty() || segments.is_empty() {
            return out.none("no words");
        }
        if segments.len() < self.min_common {
            out.flag("fewer segments than min_common");
        }
        let mut sketch = [0; 256];
        for (bytes, fingerprint) in sketch.as_chunks_mut::<8>().0.iter_mut().zip(&segments) {
            *bytes = fingerprint.to_be_bytes();
        }
        out.push(0, key(&core), 0, &sketch[..8 * self.segments]);
    }

    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        let (core, _) = self.signed_core(document);
        let own = Some(key(&core)).filter(|_| !core.is_empty());
        keys.iter().map(|&key| (own == Some(key)).then(|| core.clone())).collect()
    }

    /// Requires at least `min_common` shared segments, or all segments if one of the documents has fewer.
    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        let some = |segment: &&[u8; 8]| **segment != [0; 8];
        let segments = |row: &Row<'_>| row.sketch.as_chunks::<8>().0.iter().filter(some).count();
        let (a_chunks, b_chunks) = (a.sketch.as_chunks::<8>().0, b.sketch.as_chunks::<8>().0);
        let common = a_chunks.iter().filter(some).filter(|segment| b_chunks.contains(segment)).count();
        let fewer = segments(a).min(segments(b));
        let similarity = common as f32 / fewer.max(1) as f32;
        (common > 0 && common >= self.min_common.min(fewer)).then_some(Score { similarity, distance: None })
    }
}

#[cfg(test)]
mod tests;
