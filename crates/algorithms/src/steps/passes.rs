//! passes: describes the passes of a plan: which algorithms take part in each pass, and approximately how much the pass reads from the
//! corpus and writes to temporary files. The description is created before any work begins. `--dry-run` prints this description, and the
//! estimate is the sum over the passes.

use super::plan::{Plan, Signs};
use crate::recipe::Recipe;
use crate::recipe::bound::Bound;
use dupsift_core::row::RowLayout;

/// The number of bytes per document that the first pass records: hashes of texts and ids, lengths, bitmaps, classes.
const NOTED: u64 = 120;
/// The number of bytes per document for an algorithm's classes and for the decision.
const RELATED: u64 = 48;
/// The measured number of bytes in a web page for each byte of its main text.
const OF_PAGES: u64 = 10;

/// Holds the size of a corpus, as known before it is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// The number of rows.
    pub documents: u64,
    /// The estimated number of bytes of text in these rows.
    pub text_bytes: u64,
    /// The number of text bytes that come from web pages.
    pub page_bytes: u64,
}

/// Describes one pass of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pass {
    /// The name of the pass.
    pub name: &'static str,
    /// The work of the pass, and the algorithms that take part.
    pub does: String,
    /// Whether the pass reads the whole corpus.
    pub is_reading: bool,
    /// The number of bytes of text that the pass reads; 0 if only some documents are looked up.
    pub reads: u64,
    /// The approximate number of bytes that the pass writes to temporary files, not counting candidates.
    pub writes: u64,
    /// The names of the stages, without the names of algorithms.
    pub stages: Vec<&'static str>,
    /// The approximate number of stages in the pass.
    pub count: usize,
}

/// Returns the passes of a plan over a corpus of this size, in order; `bound` holds the algorithms of the recipe.
pub fn passes(plan: &Plan, recipe: &Recipe, bound: &[Bound<'_>], size: Size) -> Vec<Pass> {
    let all = Passes { plan, recipe, bound, size };
    let passes = all.readings().into_iter().chain(all.relations());
    passes.filter(|pass| !pass.does.is_empty()).map(|pass| all.with_stages(pass)).collect()
}

struct Passes<'p> {
    plan: &'p Plan,
    recipe: &'p Recipe,
    bound: &'p [Bound<'p>],
    size: Size,
}

impl Passes<'_> {
    /// Returns the passes over the documents.
    fn readings(&self) -> Vec<Pass> {
        let text = self.size.text_bytes;
        let reading =
            |name, does, writes| Pass { name, does, is_reading: true, reads: text, writes, ..Pass::default() };
        let mut passes = Vec::new();
        if self.plan.copies_first {
            passes.push(reading("copies", "find exact copies, so that each text counts once".into(), 0));
        }
        let prefilter =
            reading("prefilter", "add signatures to filters, to skip rows whose key occurs only once".into(), 0);
        if self.plan.prefilters_first() {
            passes.push(prefilter.clone());
        }
        let (first, bytes) = self.first();
        passes.push(reading("first pass", first, bytes));
        if !self.plan.learns.is_empty() {
            let learners = self.labels(&self.plan.learns);
            passes.push(reading("learn", format!("sample documents and train a model: {learners}"), text / 2));
        }
        if self.plan.prefilters && !self.plan.prefilters_first() {
            passes.push(prefilter);
        }
        let (kept, rows) = self.signing(Signs::Kept);
        passes.push(Pass { name: "saved words", does: kept, writes: rows, ..Pass::default() });
        let (again, rows) = self.signing(Signs::Again);
        passes.push(reading("second pass", again, rows));
        passes
    }

    /// Returns a description of the first pass, and the number of bytes that it writes.
    fn first(&self) -> (String, u64) {
        let mut does = vec!["record rows; find exact copies".to_string()];
        let mut writes = self.size.documents * NOTED + self.size.page_bytes / OF_PAGES;
        if let Some(counts) = self.plan.counts {
            let features = self.recipe.features();
            let kinds = features.iter().map(|kind| kind.name());
            let kinds: Vec<String> = counts.needs.words.then(|| "words".to_string()).into_iter().chain(kinds).collect();
            if !kinds.is_empty() {
                does.push(format!("count documents by {}", kinds.join(", ")));
                writes += self.size.text_bytes / 10;
            }
            if counts.keeps.is_some() {
                does.push("save their words".into());
                // In measured corpora, the stored words take up a fifth to a third as much space as the text, or more if few words are
                // repeated.
                writes += self.size.text_bytes / 3;
            }
        }
        let (signing, rows) = self.signing(Signs::First);
        does.extend(Some(signing).filter(|signing| !signing.is_empty()));
        (does.join("; "), writes + rows)
    }

    /// Returns the algorithms that sign at the given time, and the number of bytes in their rows and in the evidence that they record.
    fn signing(&self, when: Signs) -> (String, u64) {
        let at: Vec<usize> = (0..self.bound.len()).filter(|&at| self.plan.signs[at] == when).collect();
        if at.is_empty() {
            return (String::new(), 0);
        }
        let bytes = |&at: &usize| {
            let bound = &self.bound[at];
            let width = bound.layout(self.size.documents).width() as u64;
            // The evidence contains two numbers per distinct word; these numbers take about as many bytes as the text.
            let evidence = if bound.takes_evidence_early() { self.size.text_bytes } else { 0 };
            self.size.documents * bound.scheme.rows_per_document * width + evidence
        };
        (format!("sign: {}", self.labels(&at)), at.iter().map(bytes).sum())
    }

    /// Returns the passes over rows and pairs.
    fn relations(&self) -> Vec<Pass> {
        let pass = |name, does, writes| Pass { name, does, writes, ..Pass::default() };
        let of = |passes: &dyn Fn(&Bound<'_>) -> bool| -> Vec<usize> {
            (0..self.bound.len()).filter(|&at| passes(&self.bound[at])).collect()
        };
        let told = |at: Vec<usize>, what: &str| match at.is_empty() {
            true => String::new(),
            false => format!("{what}: {}", self.labels(&at)),
        };
        let equal = told(of(&|bound| bound.equal_keys_are_pairs()), "pair documents with equal keys");
        let judged = told(of(&|bound| !bound.equal_keys_are_pairs()), "compare candidates");
        let group = [equal, judged].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        let rows = self.bound.iter().map(|bound| self.probe_bytes(bound) + self.size.documents * RELATED).sum();
        let early = told(of(&|bound| bound.takes_evidence_early()), "compare data saved while signing");
        let late = of(&|bound| bound.verify_candidates().is_some() && !bound.takes_evidence_early());
        let late = told(late, "reread the documents in candidate pairs");
        let verify = [early, late].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        let margin =
            told(of(&|bound| bound.margin.is_some()), "drop pairs far below the best similarity of a document");
        let relate = of(&|bound| bound.relating().is_some());
        let relate = told(relate, "read the paired documents and classify each pair as version, contained or template");
        let last = told(of(&|bound| bound.verify_last().is_some()), "reread the paired documents");
        vec![
            pass("group", group, rows),
            pass("verify", verify, 0),
            pass("margin", margin, 0),
            pass("relate", relate, 0),
            pass("verify last", last, 0),
            pass("decide", "look up the ids and texts of paired documents; decide which to remove".into(), 0),
            pass("tables", "write pairs, clusters and removals".into(), 0),
        ]
    }

    /// Returns the number of bytes in second-round rows, if the method has any.
    fn probe_bytes(&self, bound: &Bound<'_>) -> u64 {
        let bytes = |shape: dupsift_core::row::RowShape| {
            let width = RowLayout::new(shape, self.size.documents).width() as u64;
            self.size.documents * u64::from(shape.positions) * width
        };
        bound.scheme.probe_shape().map_or(0, bytes)
    }

    /// Adds the names of the stages as they are displayed during the run.
    fn with_stages(&self, pass: Pass) -> Pass {
        let all = self.bound.len();
        let (stages, count): (&[&'static str], usize) = match pass.name {
            "copies" => (&["find copies"], 1),
            "prefilter" => (&["prefilter"], 1),
            "first pass" if self.plan.counts.is_some() => (&["count"], 1),
            "first pass" | "second pass" => (&["sign"], 1),
            "learn" => (&["collect training data", "learn"], 1 + self.plan.learns.len()),
            "saved words" => (&["read saved words"], 1),
            "group" => (&["group"], all),
            "verify" => (&["read candidates", "verify"], all),
            "margin" => (&["margin"], all),
            "relate" => (&["read pairs", "classify"], 2),
            "verify last" => (&["verify"], all),
            "decide" => (&["expand", "read ids", "decide"], all + 2),
            _ => (&["write tables"], 1),
        };
        Pass { stages: stages.to_vec(), count, ..pass }
    }

    fn labels(&self, at: &[usize]) -> String {
        let labels: Vec<&str> = at.iter().map(|&at| self.bound[at].label.as_str()).collect();
        labels.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::Corpus;
    use crate::corpus::CorpusStats;

    fn names_of(algorithms: &str, prefilters: bool) -> Vec<Pass> {
        let algorithms = Recipe::parse_algorithms(algorithms).unwrap();
        let recipe = Recipe { count_copies: true, ..Recipe::new(algorithms) };
        let (size, stats) = (Size { documents: 1000, text_bytes: 30_000, page_bytes: 0 }, CorpusStats::none());
        let bound = recipe.bind(&Corpus::new(size.documents, &stats), &[]).unwrap();
        passes(&Plan::new(&recipe, size.documents, prefilters, false).unwrap(), &recipe, &bound, size)
    }

    fn names(passes: &[Pass]) -> Vec<&str> {
        passes.iter().map(|pass| pass.name).collect()
    }

    #[test]
    fn copies_alone_take_one_reading_and_nothing_is_verified() {
        let passes = names_of("exact", false);
        assert_eq!(names(&passes), ["first pass", "group", "decide", "tables"]);
        assert_eq!(passes[0].does, "record rows; find exact copies; sign: exact");
        assert_eq!(passes[1].does, "pair documents with equal keys: exact");
        // A row has a 16-byte key and a 4-byte document number.
        assert_eq!((passes[0].reads, passes[0].writes), (30_000, 1000 * (120 + 20)));
        assert_eq!(passes[1].writes, 1000 * 48);
    }

    #[test]
    fn words_are_kept_for_those_who_wait_and_texts_are_read_again_where_words_are_not_enough() {
        let kept = names_of("exact,cosine", false);
        assert_eq!(names(&kept), ["first pass", "saved words", "group", "verify", "decide", "tables"]);
        assert!(kept[0].does.contains("count documents by words; save their words; sign: exact"), "{}", kept[0].does);
        assert_eq!((kept[1].reads, kept[1].does.as_str()), (0, "sign: cosine"));
        let again = names_of("minhash:verify=jaccard:0.8,lsi", true);
        assert_eq!(names(&again)[..4], ["first pass", "learn", "prefilter", "second pass"]);
        assert!(
            again.iter().any(|pass| pass.does == "reread the documents in candidate pairs: minhash, lsi"),
            "{again:?}"
        );
        assert_eq!(again.iter().filter(|pass| pass.reads == 30_000).count(), 4);
        assert!(names(&names_of("versions", false)).contains(&"relate"));
    }
}
