//! `repeats`: finds documents in which most sentences also occur in other documents, and pairs documents that share most of their
//! sentences.
//!
//! Source: the counting Bloom filter of Fan, Cao, Almeida, Broder 2000, applied to the features of documents; the rule for pairs is
//! dupsift's interpretation, and you can adjust it with `share`. A first pass inserts each distinct feature of a document into the filter
//! once. A document is a suspect if the share of its features that have a count of at least 2 reaches `share`. Two suspects are a pair if
//! the features they have in common make up at least the same share of the larger document's features.
//!
//! ```text
//! share 0.8:  A = {a b c d e}, B = {a b c d f}, C = {x y z}:  A and B have 4 of 5 repeated; 4 common of 5 -> a pair; C: none
//! ```
//!
//! Cost: one more pass, and 7.2 bytes per feature, at most `filter_mib` in total. A document is indexed under its n + 1 - ceil(share n)
//! rarest features, so that no pair is missed. Limitations: a filter that is too small counts some features that occur only once as
//! repeated, so there are more suspects, but never fewer pairs. A sentence that occurs on every page produces a long list;
//! `--max-candidates` limits the comparisons within this list, and skipped comparisons are counted.

use super::contract::{
    Algorithm, Corpus, Decided, Facts, FeatureKind, Kind, Learner, Notes, ParamSpec, Params, SignatureScheme, Signer,
    Verify,
};
use super::kit::sentences::Sentences;
use super::kit::shingling::{Shingling, words_of_hashes};
use dupsift_core::error::{Error, Result};
use dupsift_core::row::{Pair, RowShape, Signatures};
use dupsift_spill::bloom::CountingBloom;
use dupsift_text::Analysis;
use dupsift_text::shingle::distinct;
use std::borrow::Cow;

/// Implements the `repeats` algorithm.
pub(crate) struct Repeats;

const FACTS: Facts = Facts {
    name: "repeats",
    aliases: &["bloom_features"],
    source: "Fan, Cao, Almeida, Broder 2000, Summary cache (the counting Bloom filter), applied to sentences or shingles",
    summary: "Two documents are duplicates if most of their sentences also occur elsewhere and they share most of the sentences in the larger document.",
    when_not_to_use: "on text without sentence punctuation (use feature=shingles instead); if sentences are often changed slightly",
    inputs: "text",
    params: &[
        ParamSpec {
            name: "feature",
            kind: Kind::Choice(&["sentences", "shingles"]),
            default: "sentences",
            help: "features to count: sentences, or shingles of ngram words (in Chinese: characters)",
        },
        ParamSpec {
            name: "ngram",
            kind: Kind::Int(1, 100),
            default: "5",
            help: "words per shingle for feature=shingles",
        },
        ParamSpec {
            name: "share",
            kind: Kind::Real(0.01, 1.0),
            default: "0.8",
            help: "at least this share of a candidate's features must also occur in other documents, and a pair must have at least this share of the larger document's features in common",
        },
        ParamSpec {
            name: "min_features",
            kind: Kind::Int(1, 1_000_000),
            default: "3",
            help: "documents with fewer distinct features have no signature",
        },
        ParamSpec {
            name: "filter_mib",
            kind: Kind::Int(1, 1 << 20),
            default: "64",
            help: "maximum size of the counters in MiB; with less than 7.2 bytes per feature, there are more candidates but the same pairs",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for Repeats {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn learner<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Option<Box<dyn Learner + 'c>>> {
        let most_bytes = params.count("filter_mib") << 20;
        Ok(Some(Box::new(RepeatsLearner { features: FeaturesOf::new(params), most_bytes })))
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let features = FeaturesOf::new(params);
        let share = params.real("share");
        Ok(Box::new(RepeatsSigner {
            features,
            check: CommonShare { features, share },
            min_features: params.count("min_features"),
            filter: CountingBloom::of_numbers(corpus.model.iter().copied()),
        }))
    }
}

/// Defines the features of a document.
#[derive(Clone, Copy)]
struct FeaturesOf {
    /// `None` if the features are sentences.
    shingling: Option<Shingling>,
}

impl FeaturesOf {
    fn new(params: &Params) -> FeaturesOf {
        let shingling = Shingling { ngram: params.count("ngram"), chars: false };
        FeaturesOf { shingling: (params.word("feature") == "shingles").then_some(shingling) }
    }

    /// Writes the distinct features to `out`, in ascending order of their hashes.
    fn of(self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        match self.shingling {
            Some(shingling) => shingling.cut_all(document, out),
            None => Sentences.hashes(document, out),
        }
        distinct(out);
    }

    /// Returns the features in the order of the text, including repetitions, each with its text.
    fn with_texts<'t>(self, document: &'t Analysis<'_>) -> Vec<(u64, Cow<'t, str>)> {
        if let Some(shingling) = self.shingling {
            return shingling.with_texts(document);
        }
        let mut texts = Vec::with_capacity(document.sentences().len());
        Sentences::each(document, |hash, sentence| texts.push((hash, sentence.to_owned().into())));
        texts
    }

    /// Appends the features; the previous contents of `out` do not change.
    fn append(self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let mut features = Vec::new();
        self.of(document, &mut features);
        out.append(&mut features);
    }
}

struct RepeatsLearner {
    features: FeaturesOf,
    most_bytes: usize,
}

impl Learner for RepeatsLearner {
    fn note(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        self.features.append(document, out);
    }

    fn learn(&self, notes: &Notes<'_>) -> Result<Vec<u64>> {
        /// The filter's false-positive rate if there is enough memory: the share of features that occur once but are counted as repeated.
        const RATE: f64 = 1e-3;
        /// The maximum number of copies of the filter that exist at the same time.
        const AT_ONCE: u64 = 3;
        let features = (0..notes.count).map(|at| notes.get(at).len() as u64).sum();
        // Three copies briefly exist at the same time: the filter, the numbers that are passed on, and the signer's own filter. The size
        // does not depend on the machine's memory, because the size determines which documents are suspects.
        let bytes = CountingBloom::bytes_for(features, RATE).min(self.most_bytes as u64);
        let room = notes.memory_bytes as u64 / AT_ONCE;
        if bytes > room {
            return Err(Error::usage(format!(
                "repeats: a filter of {} MiB for {features} features does not fit in `memory`; raise `memory` by {} MiB, or use filter_mib={} or less (more candidates, but the same pairs)",
                bytes >> 20,
                ((bytes - room) * AT_ONCE).div_ceil(1 << 20),
                room >> 20
            )));
        }
        let filter = CountingBloom::new(features, RATE, self.most_bytes);
        for at in 0..notes.count {
            notes.go_on()?;
            notes.get(at).iter().for_each(|&feature| filter.insert(feature));
        }
        Ok(filter.numbers().collect())
    }
}

struct RepeatsSigner {
    features: FeaturesOf,
    check: CommonShare,
    min_features: usize,
    /// `None` if nothing was learned from the corpus. Every feature then counts as repeated.
    filter: Option<CountingBloom>,
}

impl Signer for RepeatsSigner {
    fn scheme(&self) -> SignatureScheme {
        SignatureScheme {
            rules: &["common_features"],
            // The number of features (the rarest ones) under which a typical page is indexed.
            rows_per_document: 8,
            ..SignatureScheme::new(RowShape::KEY64)
        }
    }

    fn sign(&self, document: &Analysis<'_>, out: &mut Signatures) {
        let mut features = out.take_numbers();
        self.features.of(document, &mut features);
        let count = features.len();
        if count == 0 {
            return out.none("no features");
        }
        if count < self.min_features {
            return out.none("fewer features than min_features");
        }
        let times = |feature: u64| self.filter.as_ref().map_or(2, |filter| filter.count(feature));
        let mut counted: Vec<(u8, u64)> = features.iter().map(|&feature| (times(feature), feature)).collect();
        out.leave_numbers(features);
        let repeated = counted.iter().filter(|one| one.0 >= 2).count();
        // The product was rounded, so a small value is subtracted. One more feature in the lists does no harm.
        let needed = (self.check.share * count as f64 - 1e-9).ceil() as usize;
        if repeated < needed {
            return out.none("too few repeated features");
        }
        counted.sort_unstable();
        // A document that shares enough features with this document (at least `needed`) shares at least one of this document's first
        // features. Features that occur only once match no other document.
        let first = &counted[..count + 1 - needed.clamp(1, count)];
        first.iter().filter(|one| one.0 >= 2).for_each(|&(_, feature)| out.push(0, feature.into(), 0, &[]));
        if first.iter().all(|one| one.0 < 2) {
            out.none("too few repeated features");
        }
    }

    /// Returns one entry per key: the sentence or shingle with this hash.
    fn words_of_keys(&self, document: &Analysis<'_>, keys: &[u128]) -> Vec<Option<String>> {
        words_of_hashes(&self.features.with_texts(document), keys)
    }

    fn verify(&self) -> Option<&dyn Verify> {
        Some(&self.check)
    }
}

/// Checks the ratio of shared features to all features of the larger document.
struct CommonShare {
    features: FeaturesOf,
    share: f64,
}

impl Verify for CommonShare {
    fn name(&self) -> String {
        format!("common:{}", self.share)
    }

    fn evidence(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        self.features.append(document, out);
    }

    fn compare(&self, a: &[u64], b: &[u64], candidate: Pair) -> Decided<Pair> {
        let common = a.iter().filter(|feature| b.binary_search(feature).is_ok()).count();
        let similarity = common as f64 / a.len().max(b.len()).max(1) as f64;
        Ok((similarity >= self.share).then(|| candidate.with_similarity(similarity as f32)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::CorpusStats;
    use crate::testing::examples::{params, sign, sign_with, similarity, words_of_rows};
    use dupsift_text::{Pipeline, TextOptions};

    const A: &str = "Один. Два. Три. Четыре. Пять.";
    const B: &str = "Один. Два. Три. Четыре. Шесть. Один.";
    const C: &str = "Икс. Игрек. Зет. Один.";

    #[test]
    fn suspects_meet_in_a_repeated_feature_and_are_checked() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let stats = CorpusStats::none();
        let corpus = Corpus::new(3, &stats);
        let learner = Repeats.learner(&params(&Repeats, ""), &corpus).unwrap().unwrap();
        let notes = [A, B, C].map(|text| {
            let mut note = Vec::new();
            learner.note(&pipeline.analyse(text), &mut note);
            note
        });
        let model = learner.learn(&Notes::in_memory(&notes)).unwrap();
        let signer = Repeats.signer(&params(&Repeats, ""), &Corpus { model: &model, ..corpus }).unwrap();
        let keys =
            |text| sign_with(signer.as_ref(), text).map(|rows| rows.into_iter().map(|row| row.1).collect::<Vec<_>>());
        let (a, b) = (keys(A).unwrap(), keys(B).unwrap());
        // Two of the five features are chosen, but "пять" occurs only once and matches no other document.
        assert_eq!((a.len(), b.len()), (1, 1));
        assert_eq!(a, b);
        assert_eq!(keys(C), Err("too few repeated features"));
        let check = signer.verify().unwrap();
        let evidence = |text| {
            let mut numbers = Vec::new();
            check.evidence(&pipeline.analyse(text), &mut numbers);
            numbers
        };
        assert_eq!(similarity(check, &evidence(A), &evidence(B)), Ok(Some(0.8)));
        assert_eq!(similarity(check, &evidence(A), &evidence(C)), Ok(None));
    }

    #[test]
    fn each_key_has_its_sentence_or_shingle() {
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let stats = CorpusStats::none();
        let words = |typed: &str, text| {
            let signer = Repeats.signer(&params(&Repeats, typed), &Corpus::new(3, &stats)).unwrap();
            let mut words = words_of_rows(&*signer, &pipeline.analyse(text));
            words.sort();
            words
        };
        // If the share is this low, each distinct feature is a key.
        assert_eq!(words("share=0.01", "Один, два. Три! Четыре? ТРИ."), ["один два", "три", "четыре"]);
        let shingles = words("share=0.01,feature=shingles,ngram=2", "Один, два. Три, 网页");
        assert_eq!(shingles, ["два. три", "один, два", "три, 网", "网页"]);
        assert!(words("", B).iter().all(|one| B.to_lowercase().contains(one)));
    }

    #[test]
    fn a_filter_that_memory_has_no_room_for_is_refused_and_not_made_smaller() {
        let stats = CorpusStats::none();
        let features: Vec<u64> = (0..1 << 20).collect();
        let learn = |settings| {
            let learner = Repeats.learner(&params(&Repeats, settings), &Corpus::new(3, &stats)).unwrap().unwrap();
            learner.learn(&Notes::new(1, 5 << 20, |_| &features, || Ok(())))
        };
        let refused = learn("").unwrap_err().to_string();
        assert!(refused.contains("filter_mib=1 ") && refused.contains("by 17 MiB"), "{refused}");
        assert!(learn("filter_mib=1").is_ok());
    }

    /// 7/25 is 0.28, but in floating-point arithmetic, 0.28 times 25 is slightly more than 7.
    #[test]
    fn a_share_that_is_reached_exactly_is_reached() {
        let text = |own: &str| {
            (0..25).map(|n| if n < 7 { format!("Общее {n}. ") } else { format!("{own} {n}. ") }).collect::<String>()
        };
        let texts = [text("Моё"), text("Твоё")];
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let stats = CorpusStats::none();
        let corpus = Corpus::new(2, &stats);
        let learner = Repeats.learner(&params(&Repeats, "share=0.28"), &corpus).unwrap().unwrap();
        let notes = texts.each_ref().map(|text| {
            let mut note = Vec::new();
            learner.note(&pipeline.analyse(text), &mut note);
            note
        });
        let model = learner.learn(&Notes::in_memory(&notes)).unwrap();
        let signer = Repeats.signer(&params(&Repeats, "share=0.28"), &Corpus { model: &model, ..corpus }).unwrap();
        let rows = texts.each_ref().map(|text| sign_with(signer.as_ref(), text).unwrap());
        assert!(rows[0].iter().any(|row| rows[1].iter().any(|other| row.1 == other.1)));
    }

    #[test]
    fn small_documents_have_no_signature() {
        assert_eq!(sign(&Repeats, "", "Один. Два."), Err("fewer features than min_features"));
        assert_eq!(sign(&Repeats, "", "?!"), Err("no features"));
        assert_eq!(sign(&Repeats, "feature=shingles", "один два три четыре пять шесть семь восемь").unwrap().len(), 1);
    }
}
