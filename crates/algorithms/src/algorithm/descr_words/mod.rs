//! `descr_words` (A9): finds which of a few thousand support words are frequent in a document.
//!
//! Source: Ilyinsky, Kuzmin, Melkov, Segalovich 2002, An efficient method to detect duplicates of web documents with the use of inverted
//! index (a poster); Zelenkov, Segalovich 2007, Descr Words: recall 0.44, precision 0.77 in that study. The poster describes the
//! properties of good words; the procedure in `support_words.rs` is dupsift's interpretation. Cost: one pass for the counts, one for the
//! notes (eight bytes per word and sampled document), several over the notes, and one row per document.
//!
//! ```text
//! f = tf / tf_max; bit of a word = f above the threshold of that word; signature = hash of the numbers of the bits that are set
//! thresholds  кот 12/64, окно 20/64, птица 30/64;   "Кот, кот, окно, птица": f = 1, 0.5, 0.5 -> bits кот, окно, птица
//! ```
//!
//! Limitations: unrelated pages with the same few bits are merged (a higher `min_bits` reduces this, but then fewer documents have a
//! signature). The words depend on the corpus, so signatures are comparable only within one run. Words with the same score are ordered by
//! hash, because their letters are not kept.

mod support_words;

use crate::algorithm::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, Learner, Needs, Notes, ParamSpec, Params, SignatureScheme, Signer,
};
use crate::algorithm::kit::places::Places;
use crate::algorithm::kit::training::{SAMPLE, Sample, frequency_for};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::Digest;
use dupsift_core::number::{counted, thousands};
use dupsift_core::row::Reason;
use dupsift_text::Analysis;
use support_words::{Goals, STEPS, choose, note_of, word_of};

/// Implements the `descr_words` algorithm.
pub(crate) struct DescrWords;

const FACTS: Facts = Facts {
    name: "descr_words",
    aliases: &["A9"],
    source: "Ilyinsky, Kuzmin, Melkov, Segalovich 2002; Zelenkov, Segalovich 2007, Descr Words",
    summary: "Two documents are duplicates if the same support words are frequent in both. Support words are learned from the corpus.",
    when_not_to_use: "if precision matters, because documents with few support words match by chance; on short documents, which have no support words",
    inputs: "text, word counts, a sample of the corpus",
    params: &[
        ParamSpec {
            name: "max_words",
            kind: Kind::Int(0, 1_000_000),
            default: "0",
            help: "number of support words; 0: 4,000 or 2% of the number of documents, whichever is less",
        },
        ParamSpec {
            name: "min_bits",
            kind: Kind::Int(1, 1000),
            default: "3",
            help: "documents with fewer support words have no signature",
        },
        ParamSpec {
            name: "delta",
            kind: Kind::Real(0.0, 0.5),
            default: "0.05",
            help: "a frequency is unsafe if it is within this distance of the threshold; the distance is rounded to a multiple of 1/64",
        },
        ParamSpec {
            name: "quality",
            kind: Kind::Real(0.0, 1.0),
            default: "0",
            help: "first round: for each word, the minimum share of documents in which its frequency is safe",
        },
        ParamSpec {
            name: "df_min",
            kind: Kind::Int(1, i64::MAX),
            default: "10",
            help: "a word must occur in at least this many documents, and its frequency must be above its threshold in at least this many",
        },
        ParamSpec {
            name: "candidates",
            kind: Kind::Int(1, 10_000_000),
            default: "50000",
            help: "maximum number of candidate words: the most frequent words that occur in at most half of the documents",
        },
        SAMPLE,
        ParamSpec {
            name: "digest",
            kind: Kind::Choice(&["xxh3_64", "xxh3_128"]),
            default: "xxh3_64",
            help: "hash of the positions of the set bits",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

impl Algorithm for DescrWords {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, _: &Params) -> Needs {
        Needs { word_counts: true, ..Needs::default() }
    }

    fn learner<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Option<Box<dyn Learner + 'c>>> {
        let documents = corpus.stats.documents();
        let (df_min, commonest) = (params.count("df_min") as u64, documents / 2);
        let sample = params.count("sample");
        let share = (sample as f64 / documents.max(1) as f64).min(1.0);
        let max_words = match params.count("max_words") {
            0 => (documents / 50).clamp(1, 4000) as usize,
            words => words,
        };
        Ok(Some(Box::new(DescrWordsLearner {
            rarest: frequency_for(corpus.stats, df_min, commonest, params.count("candidates")),
            commonest,
            sample: Sample::new(sample, documents),
            goals: Goals {
                documents: (df_min as f64 * share).ceil().min(f64::from(u32::MAX)) as u32,
                near: (params.real("delta") * STEPS as f64).round() as usize,
                quality: params.real("quality"),
                min_bits: params.count("min_bits") as u32,
                max_words,
            },
        })))
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let name = params.word("digest");
        let digest =
            Digest::by_name(name).ok_or_else(|| Error::Internal(format!("descr_words: no digest {name:?}")))?;
        Ok(Box::new(DescrWordsSigner {
            min_bits: params.count("min_bits"),
            digest,
            model: corpus.model.split_first_chunk().map(|(head, words)| Model {
                head: *head,
                places: Places::new(words.iter().map(|&word| word_of(word) / STEPS)),
                words: words.to_vec(),
            }),
        }))
    }
}

struct DescrWordsLearner {
    /// The lowest document frequency of candidates, inclusive; `commonest` is the highest.
    rarest: u64,
    commonest: u64,
    sample: Sample,
    goals: Goals,
}

impl Learner for DescrWordsLearner {
    fn note(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        if !self.sample.has(document) {
            return;
        }
        let most = most_frequent(document);
        for (counted, frequency) in document.counted().iter().zip(document.frequencies()) {
            if !counted.word.stop && (self.rarest..=self.commonest).contains(&frequency.df) {
                out.push(note_of(counted.word.hash, counted.tf, most));
            }
        }
    }

    /// Returns the number of documents, candidates, covered documents and rounds, followed by each support word with its threshold in the
    /// low bits.
    fn learn(&self, notes: &Notes<'_>) -> Result<Vec<u64>> {
        let chosen = choose(notes, &self.goals)?;
        let mut model = vec![notes.count as u64, chosen.candidates, chosen.covered, chosen.rounds];
        model.extend(chosen.words.iter().map(|(word, threshold)| word | threshold));
        Ok(model)
    }
}

/// Returns the count of the most frequent word, at least 1.
fn most_frequent(document: &Analysis<'_>) -> u32 {
    document.counted().iter().filter(|counted| !counted.word.stop).map(|counted| counted.tf).max().unwrap_or(1)
}

struct Model {
    head: [u64; 4],
    /// The words with their thresholds. The position of a word is its bit number.
    words: Vec<u64>,
    places: Places,
}

struct DescrWordsSigner {
    min_bits: usize,
    digest: Digest,
    /// `None` if nothing was learned from the corpus. Every word of a document is then a support word, identified by its hash.
    model: Option<Model>,
}

impl DescrWordsSigner {
    /// Returns the bit number of the word, if the bit is set.
    fn bit(&self, hash: u64, tf: u32, most: u32) -> Option<u64> {
        let Some(model) = &self.model else { return Some(hash) };
        let place = model.places.of(word_of(hash) / STEPS)?;
        let threshold = model.words[place] % STEPS;
        (u64::from(tf) * STEPS > threshold * u64::from(most)).then_some(place as u64)
    }
}

impl KeySigner for DescrWordsSigner {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        if document.words().is_empty() {
            return Err("no words");
        }
        let most = most_frequent(document);
        let words = document.counted().iter().filter(|counted| !counted.word.stop);
        let mut bits: Vec<u64> = words.filter_map(|counted| self.bit(counted.word.hash, counted.tf, most)).collect();
        if bits.len() < self.min_bits {
            return Err("fewer support words than min_bits");
        }
        bits.sort_unstable();
        // The bytes must be the same on every machine.
        bits.iter_mut().for_each(|bit| *bit = bit.to_le());
        Ok(self.digest.of(bytemuck::cast_slice(&bits)).into())
    }

    fn key_scheme(&self) -> SignatureScheme {
        let said = |model: &Model| {
            let [documents, candidates, covered, rounds] = model.head;
            let words = counted(model.words.len() as u64, "support word");
            format!(
                "{words} chosen from {candidates} in {rounds}; they cover {covered} of {documents} in the sample",
                candidates = counted(candidates, "candidate"),
                rounds = counted(rounds, "round"),
                covered = thousands(covered),
                documents = counted(documents, "document")
            )
        };
        let notes = self.model.iter().map(said).collect();
        SignatureScheme { notes, ..SignatureScheme::one_key(self.digest.bits()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::CorpusStats;
    use crate::testing::examples::{counted, params, sign_with};
    use dupsift_core::hash::hash64;
    use dupsift_text::{Pipeline, TextOptions};

    fn word(word: &str, threshold: u64) -> u64 {
        word_of(hash64(word.as_bytes())) | threshold
    }

    #[test]
    fn bits_are_set_above_the_threshold_of_the_word() {
        let mut model = vec![0; 4];
        model.extend([word("кот", 12), word("окно", 20), word("птица", 32)]);
        let stats = CorpusStats::none();
        let corpus = Corpus { model: &model, ..Corpus::new(9, &stats) };
        let signer = |typed: &str| DescrWords.signer(&params(&DescrWords, typed), &corpus).unwrap();
        let bits = |typed: &str, text: &str| sign_with(signer(typed).as_ref(), text).map(|rows| rows[0].1);
        let hash = |bits: &[u64]| Ok(u128::from(hash64(bytemuck::cast_slice(bits))));
        // f of "птица" is 0.5, which is not above 32/64.
        assert_eq!(bits("min_bits=1", "Кот, кот, окно, птица"), hash(&[0, 1]));
        assert_eq!(bits("min_bits=1", "Птица, кот и кот; окно. Птица!"), hash(&[0, 1, 2]));
        assert_eq!(bits("", "Птица, кот и кот; окно. Птица!"), hash(&[0, 1, 2]));
        assert_eq!(bits("", "Кот, кот, окно, птица"), Err("fewer support words than min_bits"));
        assert_eq!(bits("min_bits=1", "Собака лает"), Err("fewer support words than min_bits"));
        assert_eq!(bits("", "..."), Err("no words"));
        assert_eq!(signer("digest=xxh3_128").scheme().shape.key_bits, 128);
    }

    /// Learns from texts and signs them; checks that words that are too common or too rare are not learned.
    #[test]
    fn learnt_words_describe_the_documents() {
        let texts = ["и лес лес река", "и лес лес бор", "и бор бор гать", "и лес река бор раз"];
        let stats =
            counted(8, 40, &[("и", 8, 8), ("лес", 3, 5), ("река", 2, 2), ("бор", 3, 4), ("гать", 2, 2), ("раз", 1, 1)]);
        let corpus = Corpus::new(8, &stats);
        let typed = params(&DescrWords, "df_min=2,min_bits=2,max_words=9");
        let learner = DescrWords.learner(&typed, &corpus).unwrap().unwrap();
        let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
        let note = |text: &&str| {
            let mut out = Vec::new();
            learner.note(&pipeline.analyse(text).counted_over(&stats), &mut out);
            out
        };
        let notes: Vec<_> = texts.iter().map(note).collect();
        assert_eq!(notes.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 3], "neither и nor раз");
        let model = learner.learn(&Notes::in_memory(&notes)).unwrap();
        assert_eq!(model[0], 4);
        let signer = DescrWords.signer(&typed, &Corpus { model: &model, ..corpus }).unwrap();
        let said = signer.scheme().notes;
        assert!(said[0].ends_with("of 4 documents in the sample"), "{said:?}");
        assert_eq!(sign_with(signer.as_ref(), texts[0]), sign_with(signer.as_ref(), "Лес, река; лес, новое слово"));
        assert_ne!(sign_with(signer.as_ref(), texts[0]), sign_with(signer.as_ref(), texts[1]));
        // If there are no documents, nothing is learned, and no word is a support word.
        let none = learner.learn(&Notes::in_memory(&[])).unwrap();
        let signer = DescrWords.signer(&typed, &Corpus { model: &none, ..corpus }).unwrap();
        assert_eq!(sign_with(signer.as_ref(), texts[0]), Err("fewer support words than min_bits"));
    }
}
