//! What one algorithm says of two documents: its tables, what the signatures tell, and the sentence why.

use super::explanation::*;
use super::finished::Finished;
use super::relation_why::{left_out as relation_left_out, sentence};
use super::run_report::AlgorithmReport;
use crate::batch::{PAIR_TOLD_COLUMNS, PairSearch, PairTold, pair_told};
use crate::error::{Error, Result};
use crate::io::TableReader;
use crate::measure::Versions;
use crate::row::{RelationKind, Score};
use crate::stage::explain::{Checked, Emitted, Ended, Look, ToldWord};
use crate::stage::recipe::Chosen;

/// What the tables of the run say; documents in the order asked.
pub struct Said {
    pair: Option<PairTold>,
    /// The representative and the size of the cluster of each.
    clusters: [Option<(u64, u64)>; 2],
}

impl Said {
    /// Reads the tables of one algorithm.
    pub fn read(finished: &Finished, label: &str, docs: [u64; 2]) -> Result<Said> {
        Ok(Said { pair: find_pair(finished, label, docs)?, clusters: find_clusters(finished, label, docs)? })
    }

    /// The representatives of the clusters.
    pub fn representatives(&self) -> impl Iterator<Item = u64> {
        self.clusters.into_iter().flatten().map(|(representative, _)| representative)
    }

    fn one_cluster(&self) -> bool {
        matches!(self.clusters, [Some((a, _)), Some((b, _))] if a == b)
    }
}

fn find_pair(finished: &Finished, label: &str, [a, b]: [u64; 2]) -> Result<Option<PairTold>> {
    let path = finished.pair_table(label);
    for batch in TableReader::open(&path, &PAIR_TOLD_COLUMNS)? {
        match pair_told(&batch?, a.min(b), a.max(b)) {
            Some(PairSearch::Found(pair)) => return Ok(Some(pair)),
            Some(PairSearch::Further) => {}
            Some(PairSearch::Nowhere) => return Ok(None),
            None => {
                return Err(Error::BadFile {
                    path,
                    why: "a column is of another type; expected a table as dupsift writes it".into(),
                });
            }
        }
    }
    Ok(None)
}

fn find_clusters(finished: &Finished, label: &str, docs: [u64; 2]) -> Result<[Option<(u64, u64)>; 2]> {
    let mut found = [None; 2];
    // The documents of a cluster follow one another: the one at hand, its representative, which of the two are in it.
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

/// The answer for one algorithm; `id` names documents.
pub fn algorithm(
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
    let rule = look.words.as_ref().map(|(rule, _)| *rule);
    let words = look.words.as_ref().map(|(rule, words)| words.each_ref().map(|word| explained_word(rule, word)));
    // Of several checks the first is the method's own.
    let own = look.checks.first().and_then(|check| check.similarity);
    let told = said.pair.as_ref().and_then(|pair| sentence(pair, rule.as_ref(), own, contained, words.as_ref()));
    let why = match told.filter(|_| !same) {
        Some(told) => told,
        None => why(verdict, &look, &said, report, documents, same, common_keys),
    };
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
        }),
        positions,
        common_keys,
        rows,
    }
}

fn explained_word(rule: &Versions, word: &ToldWord) -> ExplainedWord {
    ExplainedWord { share: word.surplus.share, most: rule.most(word.surplus), word: word.word.clone() }
}

fn check(Checked { name, passes, similarity }: Checked) -> ExplainedCheck {
    ExplainedCheck { name, passes, similarity }
}

fn verdict(look: &Look, said: &Said, report: Option<&AlgorithmReport>, same: bool) -> Verdict {
    // Copies are a pair for certain; of others what else may have kept them apart is ruled out first.
    let certain = |report: &AlgorithmReport| same || (report.beyond_margin == 0 && report.left_out == 0);
    let grouped = said.one_cluster() && report.is_some_and(|report| report.large_groups > 0 && certain(report));
    match look.ended {
        _ if said.pair.as_ref().is_some_and(|pair| pair.relation.as_deref() == Some(RelationKind::Form.name())) => {
            Verdict::Form
        }
        _ if said.pair.is_some() => Verdict::Pair,
        // Copies are known without signatures.
        _ if same && grouped => Verdict::PairNotWritten,
        Ended::Unsigned => Verdict::NoSignature,
        Ended::Apart => Verdict::NoCommonKey,
        Ended::Sketched => Verdict::SketchesDiffer,
        Ended::Judged | Ended::Checked => Verdict::BelowThreshold,
        Ended::Undecided => Verdict::Undecided,
        Ended::Pair(_) if grouped => Verdict::PairNotWritten,
        Ended::Pair(_) => Verdict::LeftOut,
    }
}

/// The sentence why.
fn why(
    verdict: Verdict,
    look: &Look,
    said: &Said,
    report: Option<&AlgorithmReport>,
    documents: &[ExplainedDocument; 2],
    same: bool,
    common_keys: u64,
) -> String {
    let keys = if common_keys == 1 { "one common key".to_string() } else { format!("{common_keys} common keys") };
    let bits = look.bits_apart.map(|bits| format!("{bits} bits of the fingerprints differ"));
    let failed = look.checks.iter().find(|check| !check.passes);
    match verdict {
        Verdict::Pair | Verdict::Form if same => "they are exact copies".into(),
        Verdict::Pair | Verdict::Form if !matches!(look.ended, Ended::Pair(_)) => {
            "they are no pair by themselves; documents between them in one group link them".into()
        }
        Verdict::Pair | Verdict::Form => {
            let met = bits.unwrap_or(keys);
            look.checks.last().map_or(met.clone(), |check| format!("{met}, and {}", reached(check)))
        }
        Verdict::PairNotWritten => {
            "a pair of a group above --max-group, of which only pairs with the best document are written".into()
        }
        Verdict::NoSignature => match &look.signatures {
            [Err(a), Err(b)] if a == b => format!("neither has a signature: {a}"),
            [Err(a), Err(b)] => format!("neither has a signature: {a}; {b}"),
            [Err(a), _] => format!("{} has no signature: {a}", documents[0].id),
            [_, Err(b)] => format!("{} has no signature: {b}", documents[1].id),
            [Ok(_), Ok(_)] => String::new(),
        },
        Verdict::NoCommonKey => {
            let never = bits.map_or_else(|| "no common key".into(), |bits| format!("they never met: {bits}"));
            though(never, look)
        }
        Verdict::SketchesDiffer => {
            though(format!("{keys}, but {}", look.sketches.as_deref().unwrap_or("their sketches differ")), look)
        }
        Verdict::BelowThreshold => match (failed, look.own, bits) {
            (Some(check), ..) if look.ended == Ended::Checked => format!("they met ({keys}), but {}", reached(check)),
            (_, Some(own), _) => format!("they met ({keys}), but the method gives {:.3} only", own.similarity),
            (_, None, Some(bits)) => format!("they met, but {bits}"),
            _ => format!("they met ({keys}), but the method finds them not alike enough, and tells no score"),
        },
        Verdict::Undecided => format!("they met ({keys}), but the texts are too long to be compared"),
        // What was never compared may be anything.
        Verdict::LeftOut => match (&look.words, look.checks.first().and_then(|check| check.similarity), report) {
            (Some((rule, _)), Some(own), Some(report)) if report.left_out == 0 => relation_left_out(rule, own),
            _ => None,
        }
        .unwrap_or_else(|| left_out(said, report)),
    }
}

/// Why two were never compared, and what the check would have said.
fn though(never: String, look: &Look) -> String {
    match look.checks.first() {
        Some(check) if check.passes => format!("{never}, though {}", reached(check)),
        Some(check) => format!("{never}; {}", reached(check)),
        None => never,
    }
}

/// Why a pair of two documents by themselves is none of the run.
fn left_out(said: &Said, report: Option<&AlgorithmReport>) -> String {
    let comparisons = report.map_or(0, |report| report.left_out);
    let cluster = if said.one_cluster() { "; they stand in one cluster all the same" } else { "" };
    let why = if comparisons > 0 {
        format!("--max-candidates left {comparisons} comparisons out, theirs perhaps among them")
    } else if report.is_some_and(|report| report.beyond_margin > 0) {
        "one of them or both are nearer to another document than margin= allows".into()
    } else {
        "what else stands in the corpus kept them apart".into()
    };
    format!("the two by themselves would be a pair, but {why}{cluster}")
}

fn reached(check: &Checked) -> String {
    match (check.passes, check.similarity) {
        (true, Some(similarity)) => format!("the check {} gives {similarity:.3}", check.name),
        (true, None) => format!("they pass the check {}", check.name),
        (false, Some(similarity)) => format!("the check {} gives {similarity:.3} only", check.name),
        (false, None) => format!("the check {} says no, and tells no score", check.name),
    }
}

/// Rows of both documents, equal ones beside each other, the others of a position in their order.
fn beside(a: &[Emitted], b: &[Emitted]) -> Vec<ExplainedRow> {
    let place = |row: &Emitted| (row.position, row.key);
    let mut rows = Vec::new();
    let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        match (a.get(i), b.get(j)) {
            (Some(x), Some(y)) if place(x) == place(y) => {
                rows.push((x.position, Some(x), Some(y)));
                (i, j) = (i + 1, j + 1);
            }
            (Some(x), y) if y.is_none_or(|y| place(x) < place(y)) => {
                only_a.push(x);
                i += 1;
            }
            (_, Some(y)) => {
                only_b.push(y);
                j += 1;
            }
            _ => break,
        }
    }
    let (mut a, mut b) = (only_a.into_iter().peekable(), only_b.into_iter().peekable());
    loop {
        let position = match (a.peek(), b.peek()) {
            (Some(x), Some(y)) => x.position.min(y.position),
            (Some(x), None) => x.position,
            (None, Some(y)) => y.position,
            (None, None) => break,
        };
        rows.push((position, a.next_if(|row| row.position == position), b.next_if(|row| row.position == position)));
    }
    rows.sort_by_key(|row| row.0);
    let row = |(position, a, b): (u32, Option<&Emitted>, Option<&Emitted>)| ExplainedRow {
        position,
        equal: matches!((a, b), (Some(a), Some(b)) if a.key == b.key),
        a: a.map(key),
        b: b.map(key),
    };
    rows.into_iter().map(row).collect()
}

fn key(row: &Emitted) -> ExplainedKey {
    let wide = row.key > u128::from(u64::MAX);
    ExplainedKey {
        key: if wide { format!("{:032x}", row.key) } else { format!("{:016x}", row.key) },
        order: row.order,
        sketch: row.sketch.iter().map(|byte| format!("{byte:02x}")).collect(),
        says: row.told.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emitted(position: u32, key: u128) -> Emitted {
        Emitted { position, key, order: 0, sketch: vec![0xAB, 1], told: None }
    }

    #[test]
    fn equal_rows_stand_beside_each_other() {
        let a = [emitted(0, 1), emitted(0, 5), emitted(1, 7), emitted(2, 9)];
        let b = [emitted(0, 3), emitted(0, 5), emitted(0, 8), emitted(1, 6), emitted(3, 9)];
        let rows: Vec<String> = beside(&a, &b)
            .iter()
            .map(|row| {
                let key = |key: &Option<ExplainedKey>| {
                    key.as_ref().map_or("-".to_string(), |key| key.key.trim_start_matches('0').to_string())
                };
                format!("{} {} {} {}", row.position, key(&row.a), key(&row.b), row.equal)
            })
            .collect();
        assert_eq!(rows, ["0 5 5 true", "0 1 3 false", "0 - 8 false", "1 7 6 false", "2 9 - false", "3 - 9 false"]);
        assert_eq!(key(&a[0]).sketch, "ab01");
        assert_eq!(beside(&[], &[]), []);
    }
}
