//! `versions`: finds pairs of similar texts that are not exact copies, and classifies each pair: versions of the same text, one text
//! contained in the other, or pages with the same template and different facts. By default, a run uses `exact` and `versions`.
//!
//! Source: dupsift's own rule (docs/methods/versions.md), based on the vectors and the join of `cosine`. Cost: the same as `cosine` with
//! `join=heavy`, that is, a first pass for the counts and 56 twelve-byte rows per document. Each candidate pair is then examined a second
//! time to compare its first lines, numbers and 3-grams. Limitations: a revised text whose similarity to the original is below the
//! threshold is not found. If many documents share a template and have little unique text, versions cannot be distinguished from other
//! pages with this template, and none of these documents is removed.
//!
//! ```text
//! weight = (1 + ln tf) ln(1 + N / df)
//! (1 - H) cosine of the texts + H cosine of their first lines >= threshold         H = head
//! "Recipe \n a b c d", "Recipe \n a b c e", all weights 1, H = 0.1: 0.9 * 4 / 5 + 0.1 * 1 = 0.82
//! then the rule of rule.rs; relate=false: every such pair counts
//! ```

mod rule;

use crate::algorithm::contract::{Algorithm, Corpus, Facts, Kind, Needs, ParamSpec, Params, Reads, Signer};
use crate::algorithm::kit::term_vectors::{HEAVY, JOIN, MAX_DF, PROJECTIONS, TF, VectorSigner, Weighing, idf};
use crate::algorithm::kit::units::Units;
use dupsift_core::error::Result;
pub(crate) use rule::RELATE;
use rule::{PARAMS as RULE, rule};

/// Implements the `versions` algorithm.
pub(crate) struct VersionsOfTexts;

const FACTS: Facts = Facts {
    name: "versions",
    aliases: &[],
    source: "original to dupsift (docs/versions.md); vectors and join as in cosine",
    summary: "Two documents are duplicates if their words are similar and their titles, numbers, distinctive words and neighbors do not show that they are different.",
    when_not_to_use: "if all pages with the same template should count as duplicates: use relate=false instead",
    inputs: "text, word counts",
    params: &[
        ParamSpec {
            name: "threshold",
            kind: Kind::Real(0.01, 1.0),
            default: "0.6",
            help: "minimum cosine for a pair to be considered",
        },
        ParamSpec { default: "sublinear", ..TF },
        ParamSpec {
            name: "head",
            kind: Kind::Real(0.0, 0.9),
            default: "0.1",
            help: "weight H of the first line: the cosine is (1 - H) times that of the texts plus H times that of their first lines",
        },
        ParamSpec { default: "heavy", ..JOIN },
        HEAVY,
        MAX_DF,
        PROJECTIONS,
        RULE[0],
        RULE[1],
        RULE[2],
        RULE[3],
        RULE[4],
        RULE[5],
        RULE[6],
        RULE[7],
        RULE[8],
        RULE[9],
        RULE[10],
        RULE[11],
        RULE[12],
    ],
    shorthands: &[],
    presets: &[],
    revision: 1,
};

/// The minimum number of documents in a corpus that gets a note about the pairs that the threshold excludes.
const NOTED: u64 = 1_000;
/// The algorithm that finds the pairs that the threshold excludes.
const CONTAINED: &str = "shingles:preset=contained";

impl Algorithm for VersionsOfTexts {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn needs(&self, params: &Params) -> Needs {
        let reads = Reads::Words { first_line: params.real("head") > 0.0 };
        Needs { word_counts: true, reads, ..Needs::default() }
    }

    fn signer<'c>(&self, params: &Params, corpus: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let weighing = Weighing {
            sublinear: params.word(TF.name) == "sublinear",
            head: params.real("head"),
            units: Units { name: "word", han_only: false },
            stats: corpus.stats,
            idf: Some(idf(corpus.stats)),
        };
        let rule = rule(params, params.real("threshold"))?;
        let note = (corpus.documents >= NOTED).then(|| {
            format!(
                "texts contained in much longer ones may be missed (cosine below {}); {CONTAINED} finds them",
                params.real("threshold")
            )
        });
        Ok(Box::new(VectorSigner::new(&["versions"], params, weighing, rule).with_note(note)))
    }
}

#[cfg(test)]
mod tests;
