//! Determines one algorithm's verdict on two documents from its tables and the signatures, and states the reason in a sentence.

use super::copy_groups::CopyGroup;
use super::explanation::*;
use super::look::{Checked, Classification, Ended, Look, SurplusWord};
use super::relation::{other_title, sentence, template_left_out};
use super::rows::beside;
use crate::finished::Finished;
use dupsift_algorithms::measure::Versions;
use dupsift_algorithms::recipe::Chosen;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::{counted, counted_as, share};
use dupsift_core::row::{COPY, RelationKind, Score};
use dupsift_engine::job::run_report::AlgorithmReport;
use dupsift_input::TableReader;
use dupsift_tables::{FoundPair, PAIR_LOOK_UP_COLUMNS, PairSearch, pair_of};

/// Holds the copies of two documents in the requested order, and the maximum size of a group for which all pairs are
/// written.
#[derive(Clone, Copy)]
pub(crate) struct Groups {
    /// The copies of each document; `None` if the corpus has no exact copies.
    pub groups: Option<[CopyGroup; 2]>,
    /// The value of `--max-group`.
    pub most: u64,
}

impl Groups {
    /// Returns the written pair that represents the pair of `docs`: a pair of exact copies of these documents.
    fn instead(&self, finished: &Finished, label: &str, docs: [u64; 2]) -> Result<Option<([u64; 2], FoundPair)>> {
        let Some(groups) = self.groups else { return Ok(None) };
        let of = |at: usize| [Some(docs[at]), groups[at].partner].into_iter().flatten();
        for both in of(0).flat_map(|a| of(1).map(move |b| [a, b])).filter(|both| *both != docs && both[0] != both[1]) {
            if let Some(pair) = find_pair(finished, label, both)?.filter(|pair| pair.matched_by != COPY) {
                return Ok(Some((both, pair)));
            }
        }
        Ok(None)
    }
}

/// Holds the rows about two documents from the tables of the run, in the requested order.
pub(crate) struct Said {
    pair: Option<FoundPair>,
    /// The written pair that represents the pair of the two documents: a pair of exact copies of these documents.
    instead: Option<([u64; 2], FoundPair)>,
    groups: Groups,
    /// The representative and the size of each document's cluster.
    clusters: [Option<(u64, u64)>; 2],
}

impl Said {
    /// Reads the tables of one algorithm.
    pub(crate) fn read(finished: &Finished, label: &str, docs: [u64; 2], groups: Groups) -> Result<Said> {
        let pair = find_pair(finished, label, docs)?;
        let instead = if pair.is_none() { groups.instead(finished, label, docs)? } else { None };
        Ok(Said { pair, instead, groups, clusters: find_clusters(finished, label, docs)? })
    }

    /// Returns whether the tables contain neither the pair of the two documents nor a pair that represents it.
    pub(crate) fn is_silent(&self) -> bool {
        self.pair.is_none() && self.instead.is_none()
    }

    /// Returns the documents that the answer mentions in addition to the two requested documents.
    pub(crate) fn others(&self) -> impl Iterator<Item = u64> {
        let representatives = self.clusters.into_iter().flatten().map(|(representative, _)| representative);
        representatives.chain(self.instead.iter().flat_map(|(docs, _)| *docs))
    }

    /// Returns the row of the pair, or the row of the pair that represents it.
    fn row(&self) -> Option<&FoundPair> {
        self.pair.as_ref().or(self.instead.as_ref().map(|(_, pair)| pair))
    }

    fn one_cluster(&self) -> bool {
        matches!(self.clusters, [Some((a, _)), Some((b, _))] if a == b)
    }
}

fn find_pair(finished: &Finished, label: &str, [a, b]: [u64; 2]) -> Result<Option<FoundPair>> {
    let path = finished.pair_table(label);
    for batch in TableReader::open(&path, &PAIR_LOOK_UP_COLUMNS)? {
        match pair_of(&batch?, a.min(b), a.max(b)) {
            Some(PairSearch::Found(pair)) => return Ok(Some(pair)),
            Some(PairSearch::Further) => {}
            Some(PairSearch::Nowhere) => return Ok(None),
            None => {
                return Err(Error::BadFile {
                    path,
                    why: "a column has an unexpected type; expected a table written by dupsift".into(),
                });
            }
        }
    }
    Ok(None)
}

fn find_clusters(finished: &Finished, label: &str, docs: [u64; 2]) -> Result<[Option<(u64, u64)>; 2]> {
    let mut found = [None; 2];
    // The documents of a cluster are consecutive. These variables hold the number of remaining rows in the cluster, its representative,
    // and which of the two documents it contains.
    let (mut left, mut representative, mut inside) = (0, 0, [false; 2]);
    for document in finished.clusters(label)? {
        let document = document?;
        if left == 0 {
            (left, inside) = (document.size, [false; 2]);
        }
        left = left.saturating_sub(1);
        if document.is_representative {
            representative = document.doc;
        }
        for (inside, doc) in inside.iter_mut().zip(docs) {
            *inside |= document.doc == doc;
        }
        if left == 0 {
            for (found, _) in found.iter_mut().zip(inside).filter(|(_, inside)| *inside) {
                *found = Some((representative, document.size));
            }
        }
    }
    Ok(found)
}

/// Returns the reason as a sentence. For a classified pair, this is the reason for its relation.
fn reason(
    look: &Look,
    said: &Said,
    report: Option<&AlgorithmReport>,
    (documents, contained): (&[ExplainedDocument; 2], &[ExplainedContained; 2]),
    verdict: Verdict,
    words: Option<&[ExplainedWord; 2]>,
    (same, common_keys): (bool, u64),
    id: &dyn Fn(u64) -> String,
) -> String {
    // The first check is the algorithm's own check.
    let own = look.checks.first().and_then(|check| check.similarity);
    let rule = look.classification.as_ref().map(|classification| classification.rule);
    let told = said.row().and_then(|pair| {
        let told = sentence(pair, rule.as_ref(), own, contained, words)?;
        let kept = look
            .classification
            .as_ref()
            .filter(|_| pair.other_title)
            .map(|classification| other_title(classification, contained));
        Some(kept.map_or(told.clone(), |kept| format!("{told}; {kept}")))
    });
    let left_out = look.classification.as_ref().zip(words).zip(own);
    let left_out = left_out.filter(|_| {
        verdict == Verdict::LeftOut
            && report.is_some_and(|report| report.left_out == 0 && report.left_out_of_large_groups == 0)
    });
    let form =
        left_out.and_then(|((classification, words), own)| template_left_out(classification, own, contained, words));
    let mut why = match told.filter(|_| !same).or(form) {
        Some(told) => told,
        None => why(verdict, look, said, report, documents, same, common_keys),
    };
    if let Some((docs, _)) = &said.instead {
        why = format!(
            "{why}; listed as the pair of {} and {}, which contain the same two texts",
            id(docs[0]),
            id(docs[1])
        );
    }
    why
}

/// Returns the answer for one algorithm; `id` returns the id of a document.
pub(crate) fn algorithm(
    chosen: &Chosen,
    report: Option<&AlgorithmReport>,
    (documents, contained): (&[ExplainedDocument; 2], &[ExplainedContained; 2]),
    look: Look,
    positions: u32,
    said: Said,
    same: bool,
    id: &dyn Fn(u64) -> String,
) -> ExplainedAlgorithm {
    let verdict = verdict(&look, &said, report, same);
    let rows = match &look.signatures {
        [Ok(a), Ok(b)] => beside(a, b),
        [a, b] => beside(a.as_deref().unwrap_or_default(), b.as_deref().unwrap_or_default()),
    };
    let common_keys = rows.iter().filter(|row| row.equal).count() as u64;
    let words = look
        .classification
        .as_ref()
        .map(|Classification { rule, words, .. }| words.each_ref().map(|word| explained_word(rule, word)));
    let why = reason(&look, &said, report, (documents, contained), verdict, words.as_ref(), (same, common_keys), id);
    let score = match look.ended {
        Ended::Pair(pair) => Some(pair.score),
        _ => look.own,
    };
    ExplainedAlgorithm {
        label: chosen.label.clone(),
        recipe: chosen.to_string(),
        verdict,
        why,
        score: score.map(|Score { similarity, distance }| ExplainedScore { similarity, distance }),
        checks: look.checks.into_iter().map(check).collect(),
        words,
        bits_apart: look.bits_apart,
        unsigned: look.signatures.map(|rows| rows.err().map(str::to_string)),
        clusters: said.clusters.map(|cluster| {
            cluster.map(|(doc, size)| ExplainedCluster { representative_id: id(doc), representative_doc: doc, size })
        }),
        pair: said.pair.map(|pair| ExplainedPair {
            similarity: pair.similarity,
            distance: pair.distance,
            matched_by: pair.matched_by,
            verified: pair.verified,
            relation: pair.relation,
            why: pair.why,
            next_best: pair.next_best,
            other_title: pair.other_title,
        }),
        positions,
        common_keys,
        rows,
    }
}

fn explained_word(rule: &Versions, word: &SurplusWord) -> ExplainedWord {
    ExplainedWord { share: word.surplus.share, most: rule.most(word.surplus), word: word.word.clone() }
}

fn check(Checked { name, passes, similarity }: Checked) -> ExplainedCheck {
    ExplainedCheck { name, passes, similarity }
}

fn verdict(look: &Look, said: &Said, report: Option<&AlgorithmReport>, same: bool) -> Verdict {
    // Copies are certainly a pair. Other documents are certainly a pair only if the run omitted no pairs for other reasons.
    let certain = |report: &AlgorithmReport| {
        same || (report.beyond_margin == 0 && report.left_out == 0 && report.left_out_of_large_groups == 0)
    };
    let grouped = said.one_cluster() && report.is_some_and(|report| report.large_groups > 0 && certain(report));
    match look.ended {
        Ended::SameScope => Verdict::SameScope,
        _ if said.row().is_some_and(|pair| pair.relation.as_deref() == Some(RelationKind::Template.name())) => {
            Verdict::Template
        }
        _ if said.pair.is_some() => Verdict::Pair,
        _ if said.instead.is_some() => Verdict::PairNotWritten,
        // Copies are recognized without signatures.
        _ if same && said.one_cluster() => Verdict::PairNotWritten,
        Ended::Unsigned => Verdict::NoSignature,
        Ended::Scoped => Verdict::OtherScope,
        Ended::Apart => Verdict::NoCommonKey,
        Ended::Sketched => Verdict::SketchesDiffer,
        Ended::Judged | Ended::Checked => Verdict::BelowThreshold,
        Ended::Undecided => Verdict::Undecided,
        Ended::Pair(_) if look.cut.is_some() => Verdict::NotCompared,
        Ended::Pair(_) if grouped => Verdict::PairNotWritten,
        Ended::Pair(_) => Verdict::LeftOut,
    }
}

/// Returns the reason as a sentence.
fn why(
    verdict: Verdict,
    look: &Look,
    said: &Said,
    report: Option<&AlgorithmReport>,
    documents: &[ExplainedDocument; 2],
    same: bool,
    common_keys: u64,
) -> String {
    let keys = if common_keys == 1 { "one shared key".to_string() } else { format!("{common_keys} shared keys") };
    let bits = look.bits_apart.map(|bits| format!("{bits} bits of the fingerprints differ"));
    let failed = look.checks.iter().find(|check| !check.passes);
    match verdict {
        Verdict::Pair | Verdict::Template if same => "they are exact copies".into(),
        Verdict::Pair | Verdict::Template if !matches!(look.ended, Ended::Pair(_)) => {
            "they do not form a pair on their own; other documents in the group link them".into()
        }
        Verdict::PairNotWritten if same => {
            "they are exact copies, and pairs/ lists each copy only with the best copy of the text".into()
        }
        Verdict::PairNotWritten if said.instead.is_none() => not_written(said),
        Verdict::Pair | Verdict::Template | Verdict::PairNotWritten => {
            let met = bits.unwrap_or(keys);
            look.checks.last().map_or(met.clone(), |check| format!("{met}, and {}", reached(check)))
        }
        Verdict::NoSignature => match &look.signatures {
            [Err(a), Err(b)] if a == b => format!("neither has a signature: {a}"),
            [Err(a), Err(b)] => format!("neither has a signature: {a}; {b}"),
            [Err(a), _] => format!("{} has no signature: {a}", documents[0].id),
            [_, Err(b)] => format!("{} has no signature: {b}", documents[1].id),
            [Ok(_), Ok(_)] => String::new(),
        },
        Verdict::OtherScope => "they have different values in the `scope` column, so they are not compared".to_owned(),
        Verdict::SameScope => "they have the same value in the `scope` column, so they are not compared".to_owned(),
        Verdict::NoCommonKey => {
            let never = bits.map_or_else(|| "no shared key".into(), |bits| format!("they are not candidates: {bits}"));
            though(never, look)
        }
        Verdict::SketchesDiffer => {
            though(format!("{keys}, but {}", look.sketches.as_deref().unwrap_or("their sketches differ")), look)
        }
        Verdict::NotCompared => though(format!("{keys}, but {}", look.cut.as_deref().unwrap_or_default()), look),
        Verdict::BelowThreshold => match (failed, look.own, bits) {
            (Some(check), ..) if look.ended == Ended::Checked => {
                format!("they are candidates ({keys}), but {}", reached(check))
            }
            (_, Some(own), _) => {
                format!("they are candidates ({keys}), but their similarity is only {}", share(own.similarity))
            }
            (_, None, Some(bits)) => format!("they are candidates, but {bits}"),
            _ => format!("they are candidates ({keys}), but not similar enough (no score)"),
        },
        Verdict::Undecided => format!("they are candidates ({keys}), but the texts are too long to compare"),
        Verdict::LeftOut => left_out(said, report),
    }
}

/// Returns the reason why a pair in a large group is in no table.
fn not_written(said: &Said) -> String {
    let size = match said.clusters[0] {
        Some((_, size)) => format!(" and are in a cluster of {}", counted(size, "document")),
        None => String::new(),
    };
    format!(
        "they have the same signature{size}; more texts than `max-group={}` allows share this signature, so only pairs with the representative are written",
        said.groups.most
    )
}

/// Returns `never` (the reason why two documents were never compared), followed by the result that the first check would have had.
fn though(never: String, look: &Look) -> String {
    match look.checks.first() {
        Some(check) if check.passes => format!("{never}, though {}", reached(check)),
        Some(check) => format!("{never}; {}", reached(check)),
        None => never,
    }
}

/// Returns the reason why two documents are not a pair in the run, although they would be a pair if the corpus contained nothing else.
fn left_out(said: &Said, report: Option<&AlgorithmReport>) -> String {
    let comparisons = report.map_or(0, |report| report.left_out);
    let cluster = if said.one_cluster() { "; they are still in the same cluster" } else { "" };
    let why = if comparisons > 0 {
        format!(
            "{} skipped because of `max-candidates`, perhaps including this one",
            counted_as(comparisons, "comparison was|comparisons were")
        )
    } else if report.is_some_and(|report| report.left_out_of_large_groups > 0) {
        "they are in a large group of similar documents, in which each document is compared only with the nearest documents".into()
    } else if report.is_some_and(|report| report.beyond_margin > 0) {
        "at least one of them is more similar to another document than margin= allows".into()
    } else {
        "other documents in the corpus keep them from being paired".into()
    };
    format!("on their own, the two would be a pair, but {why}{cluster}")
}

fn reached(check: &Checked) -> String {
    match (check.passes, check.similarity) {
        (true, Some(similarity)) => format!("the check {} gives {}", check.name, share(similarity)),
        (true, None) => format!("they pass the check {}", check.name),
        (false, Some(similarity)) => format!("the check {} gives only {}", check.name, share(similarity)),
        (false, None) => format!("they fail the check {} (no score)", check.name),
    }
}
