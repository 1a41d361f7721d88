//! `core_words`: what the page says it is about first, then the largest segments of its text.
//!
//! Source: the two-stage method of the Chinese survey; the concrete steps are our interpretation. Core words: the words of
//! the title without the name of the site (weight 3), the page's keywords (2) and its description (1), each column
//! counting once, times ln(N / df); the five heaviest, in alphabetical order, are the key. Only documents with equal keys
//! are compared, by the hashes of their five largest segments: two must agree, or all of them if one has fewer. Cost: a
//! first pass for the word counts, O(words), one row a document.
//!
//! A paragraph of 50 words is a segment; smaller ones between two such are put together until they have 50, what is left
//! over is dropped. A text without any such segment is one. Two Chinese characters are a word.
//!
//! ```text
//! title "Погода в Москве - Новости", keywords "погода, прогноз":  погода 5 x idf, прогноз 2, москве 3, в 3
//! ```
//!
//! Limits: pages of one site often share title, keywords and description; then the segments decide alone.

use super::contract::{Algorithm, Corpus, Describe, Facts, Match, Sign, Signer, Stats};
use super::kit::passages::{Passage, paragraphs};
use super::kit::title::without_site;
use super::kit::top_words::Heaviest;
use super::params::{Kind, ParamSpec, Params};
use crate::corpus::CorpusStats;
use crate::error::Result;
use crate::hash::hash64;
use crate::row::{Row, RowShape, Score, Signatures};
use crate::text::{Analysis, Field};

/// The member.
pub struct CoreWords;

const FACTS: Facts = Facts {
    name: "core_words",
    aliases: &[],
    source: "two-stage method of the survey of ten methods: core words, then content segments",
    summary: "Two documents are duplicates if the core words of title, keywords and description are the same, and the largest segments of the text agree.",
    when_not_to_use: "on a corpus without titles, or where the same text stands under different titles",
    inputs: "text, title, keywords, description, word counts",
    params: &[
        ParamSpec { name: "core", kind: Kind::Int(1, 100), default: "5", help: "core words of a document" },
        ParamSpec {
            name: "title_weight",
            kind: Kind::Real(0.0, 100.0),
            default: "3",
            help: "weight of a word of the title; 0: the title is not read",
        },
        ParamSpec {
            name: "keywords_weight",
            kind: Kind::Real(0.0, 100.0),
            default: "2",
            help: "weight of a word of the page's keywords; 0: they are not read",
        },
        ParamSpec {
            name: "description_weight",
            kind: Kind::Real(0.0, 100.0),
            default: "1",
            help: "weight of a word of the page's description; 0: it is not read",
        },
        ParamSpec {
            name: "strip_suffix",
            kind: Kind::Flag,
            default: "true",
            help: "read titles without the name of the site",
        },
        ParamSpec {
            name: "fallback",
            kind: Kind::Choice(&["skip", "body"]),
            default: "skip",
            help: "documents without title, keywords and description: skip gives no signature, body takes the words of the text by tf ln(N / df)",
        },
        ParamSpec {
            name: "seg_words",
            kind: Kind::Int(1, 100_000),
            default: "50",
            help: "words of the smallest segment; two Chinese characters are a word",
        },
        ParamSpec {
            name: "segments",
            kind: Kind::Int(1, 32),
            default: "5",
            help: "so many of the largest segments are compared",
        },
        ParamSpec {
            name: "min_common",
            kind: Kind::Int(1, 32),
            default: "2",
            help: "M: segments that must agree; all of them where a document has fewer",
        },
    ],
    presets: &[],
};

impl Algorithm for CoreWords {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs_stats(&self, _: &Params) -> Stats {
        Stats::WORDS
    }

    fn fields(&self, _: &Params) -> &'static [Field] {
        &Field::ALL
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
    /// By field.
    weights: [f64; 3],
    strip_suffix: bool,
    body: bool,
    /// Half words of the smallest segment.
    least: usize,
    segments: usize,
    min_common: usize,
    stats: &'c CorpusStats,
}

/// A word that a column says.
struct Said<'t> {
    word: &'t str,
    hash: u64,
    df: u64,
    weight: f64,
}

/// The distinct words of a column, stop words left out.
fn words_of<'t>(column: &'t Analysis<'_>, weight: f64, out: &mut Vec<Said<'t>>) {
    let words = column.counted().iter().zip(column.frequencies()).filter(|(one, _)| !one.word.stop);
    let said = |word, hash, df| Said { word, hash, df, weight };
    out.extend(words.map(|(one, frequency)| said(column.word(&one.word), one.word.hash, frequency.df)));
}

impl CoreWordsSigner<'_> {
    /// The core words in alphabetical order, joined; empty if the page says nothing about itself.
    fn core(&self, document: &Analysis<'_>) -> String {
        let mut said = Vec::new();
        let title = document.field(Field::Title).filter(|_| self.strip_suffix).map(without_site);
        for (&field, &weight) in Field::ALL.iter().zip(&self.weights) {
            if weight == 0.0 {
                continue;
            }
            match title.as_ref().filter(|_| field == Field::Title) {
                Some(stripped) => words_of(stripped, weight, &mut said),
                None => document.field(field).into_iter().for_each(|column| words_of(column, weight, &mut said)),
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

    /// The same of the text itself.
    fn core_of_body(&self, document: &Analysis<'_>) -> String {
        let mut heaviest = Heaviest::new(self.core);
        for (one, frequency) in document.counted().iter().zip(document.frequencies()) {
            if !one.word.stop {
                heaviest.push(f64::from(one.tf) * self.stats.idf(frequency.df), document, one);
            }
        }
        heaviest.join()
    }

    /// Fingerprints of the largest segments, the largest first; of equal ones the first.
    fn segments(&self, document: &Analysis<'_>) -> Vec<u64> {
        let text = document.text();
        let mut found: Vec<(usize, u64)> = Vec::new();
        let (mut one, mut small) = (Passage::default(), Passage::default());
        let places = paragraphs(document);
        for place in &places {
            one.clear();
            one.add(&text[place.clone()]);
            if one.half_words() >= self.least {
                found.push((one.half_words(), one.fingerprint()));
                small.clear();
                continue;
            }
            small.add(&text[place.clone()]);
            if small.half_words() >= self.least {
                found.push((small.half_words(), small.fingerprint()));
                small.clear();
            }
        }
        if found.is_empty() {
            one.clear();
            places.into_iter().for_each(|place| one.add(&text[place]));
            found.extend((one.half_words() > 0).then(|| (one.half_words(), one.fingerprint())));
        }
        // Stable, so ties stay in order.
        found.sort_by_key(|one| std::cmp::Reverse(one.0));
        let mut largest: Vec<u64> = Vec::with_capacity(self.segments);
        for (_, fingerprint) in found {
            // 0 stands for no segment.
            let fingerprint = fingerprint.max(1);
            if largest.len() < self.segments && !largest.contains(&fingerprint) {
                largest.push(fingerprint);
            }
        }
        largest
    }
}

impl Sign for CoreWordsSigner<'_> {
    /// The sketch holds the fingerprints of the segments, and 0 where there are fewer.
    fn shape(&self) -> RowShape {
        RowShape { sketch: 8 * self.segments, ..RowShape::KEY64 }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let mut core = self.core(document);
        if core.is_empty() {
            if !self.body {
                let there = Field::ALL.iter().any(|&field| document.has_column(field));
                return out.none(if there { "no title, keywords or description" } else { "no column" });
            }
            core = self.core_of_body(document);
            out.flag("core words of the text");
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
        out.push(0, hash64(core.as_bytes()).into(), 0, &sketch[..8 * self.segments]);
    }
}

impl Match for CoreWordsSigner<'_> {
    fn is_equivalence(&self) -> bool {
        false
    }

    /// Common segments over those of the document that has fewer.
    fn judge(&self, a: &Row<'_>, b: &Row<'_>) -> Option<Score> {
        let some = |segment: &&[u8; 8]| **segment != [0; 8];
        let segments = |row: &Row<'_>| row.sketch.as_chunks::<8>().0.iter().filter(some).count();
        let (a_chunks, b_chunks) = (a.sketch.as_chunks::<8>().0, b.sketch.as_chunks::<8>().0);
        let common = a_chunks.iter().filter(some).filter(|segment| b_chunks.contains(segment)).count();
        let fewer = segments(a).min(segments(b));
        let similarity = common as f32 / fewer.max(1) as f32;
        (common > 0 && common >= self.min_common.min(fewer)).then_some(Score { similarity, distance: None })
    }

    fn rules(&self) -> &'static [&'static str] {
        &["core_and_segments"]
    }
}

impl Describe for CoreWordsSigner<'_> {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::algorithm::kit::examples::params;
    use crate::algorithm::kit::in_memory::{all_pairs, run_beside};
    use crate::hash::splitmix64;
    use crate::text::FieldValue::{NoColumn, Null, Text};
    use crate::text::{Pipeline, TextOptions};

    fn signer<'c>(typed: &str, stats: &'c CorpusStats) -> CoreWordsSigner<'c> {
        let params = params(&CoreWords, typed);
        CoreWordsSigner {
            core: params.count("core"),
            weights: [3.0, 2.0, 1.0],
            strip_suffix: params.flag("strip_suffix"),
            body: false,
            least: 2 * params.count("seg_words"),
            segments: params.count("segments"),
            min_common: params.count("min_common"),
            stats,
        }
    }

    #[test]
    fn worked_core() {
        use crate::corpus::TermTable;
        // A corpus of ten documents none of which has the words: each has an idf of ln 10, and the columns decide.
        let stats = CorpusStats::new(10, 40, 1, TermTable::empty(), TermTable::empty());
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let fields = [Text("Погода в Москве - Новости"), Text("погода, прогноз"), Text("Прогноз на завтра; погода")];
        let document = pipeline.analyse("").with_fields(fields).counted_over(&stats);
        // погода 6, в 3, москве 3, прогноз 3, завтра 1, на 1.
        assert_eq!(signer("core=1", &stats).core(&document), "погода");
        assert_eq!(signer("", &stats).core(&document), "в завтра москве погода прогноз");
        assert_eq!(signer("core=4,strip_suffix=false", &stats).core(&document), "в москве новости погода");
        let nothing = pipeline.analyse("текст").with_fields([Null, Text(" - "), NoColumn]);
        assert_eq!(signer("", &stats).core(&nothing), "");
    }

    #[test]
    fn worked_segments() {
        let stats = CorpusStats::none();
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let segments = |typed: &str, text: &str| signer(typed, &stats).segments(&pipeline.analyse(text));
        let whole = |text: &str| {
            let mut passage = Passage::default();
            passage.add(text);
            passage.fingerprint()
        };
        let text = "a b c\n\nd e\n\nf\n\ng h i j k l\n\nm n\n\n网页搜索引擎\n\no";
        // a b c d e, then g h i j k l alone: f before it is dropped; m n and three words of Chinese, and o is left over.
        let expected = ["g h i j k l", "a b c d e", "m n 网页搜索引擎"].map(whole);
        assert_eq!(segments("seg_words=5", text), expected);
        assert_eq!(segments("seg_words=5,segments=2", text), expected[..2]);
        // Nothing is as large: all of it is one.
        assert_eq!(segments("", text), [whole(&text.replace('\n', " "))]);
        assert_eq!(segments("seg_words=2", "a b\n\nA B!\n\nc d"), ["a b", "c d"].map(whole));
        assert!(segments("", "?!").is_empty());
    }

    #[test]
    fn reasons() {
        let texts = ["слова", "слова", "?!", "слова"].map(String::from);
        let fields = [[NoColumn; 3], [Null, NoColumn, Text("—")], [Text("слово"); 3], [Text("слово"); 3]];
        let reasons = |typed| run_beside(&CoreWords, typed, &texts, &fields).unsigned.into_iter().collect::<Vec<_>>();
        assert_eq!(reasons(""), [(0, "no column"), (1, "no title, keywords or description"), (2, "no words")]);
        assert_eq!(reasons("fallback=body"), [(2, "no words")]);
    }

    /// Case, width and Unicode form of a column do not count.
    #[test]
    fn dress_does_not_count() {
        let title = "Ещё одна Погода: café и 3.14, 网页搜索 - Сайт";
        let dressed = title.to_uppercase().replace("3.14", "３.１４").replace('É', "E\u{301}").replace(" - ", " － ");
        let fields = [title, &dressed].map(|title| [Text(title), NoColumn, Text(title)]);
        let texts = ["слово", "СЛОВО!"].map(String::from);
        assert_eq!(run_beside(&CoreWords, "core=100", &texts, &fields).numbers(), BTreeSet::from([(0, 1)]));
    }

    #[test]
    fn equals_comparing_all_with_all() {
        let mut at = 0;
        let mut random = |below: u64| {
            at += 1;
            splitmix64(13, at) % below
        };
        let sets: Vec<BTreeSet<u64>> = (0..200).map(|_| (0..1 + random(6)).map(|_| random(9)).collect()).collect();
        let text = |set: &BTreeSet<u64>| set.iter().map(|n| format!("the paragraph of number p{n}\n\n")).collect();
        let texts: Vec<String> = sets.iter().map(text).collect();
        let titles = ["Погода завтра", "погода: Завтра!", "Новости дня"];
        let chosen: Vec<usize> = sets.iter().map(|_| random(3) as usize).collect();
        let fields: Vec<_> = chosen.iter().map(|&title| [Text(titles[title]), NoColumn, Null]).collect();
        for (typed, min_common) in [("seg_words=5,segments=9", 2), ("seg_words=5,segments=9,min_common=4", 4)] {
            let share = |a: usize, b: usize| {
                let fewer = sets[a].len().min(sets[b].len());
                let common = sets[a].intersection(&sets[b]).count();
                ((chosen[a] == 2) == (chosen[b] == 2) && common > 0 && common >= min_common.min(fewer))
                    .then(|| common as f32 / fewer as f32)
            };
            let found = run_beside(&CoreWords, typed, &texts, &fields);
            assert_eq!(found.numbers(), all_pairs(texts.len(), |a, b| share(a, b).is_some()));
            assert!(found.pairs.len() > 50);
            for ((a, b), pair) in &found.pairs {
                assert_eq!(Some(pair.score.similarity), share(*a, *b));
            }
        }
    }
}
