//! Converts the truth (labeled pairs or clusters) to document numbers, by matching its ids against the corpus.
//!
//! ```text
//! ids of the corpus (hash of the id, document) --+
//! ids of the truth (hash of the id, position) ---+--sort--> (row of the truth, document) --sort--> pairs or clusters
//! ```
//!
//! Ids are compared as written, using a 128-bit hash. Among ten billion ids, the probability of a collision is below 1e-18. All sorting is
//! done by the engine's shuffles, so memory does not grow with the corpus or the truth.

pub(crate) mod files;
pub(crate) mod ids;

use std::iter::Peekable;

use crate::evaluate::evaluation::TruthReport;
use crate::evaluate::texts::Texts;
use dupsift_algorithms::steps::connect::Forest;
use dupsift_core::error::{Error, Result};
use dupsift_core::number::{counted, counted_as, thousands};
use dupsift_core::row::{doc_width, number};
use dupsift_engine::classes::Link;
use dupsift_engine::engine::numbers::Numbers;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::session::Session;
use dupsift_input::{RowFilter, Want};
use dupsift_spill::shuffle::{AtomicBits, FrozenHeap, Heap, Sorted, Writer};
use files::Label;
use ids::{CLUSTER_BYTES, DIFFERENT, PLACE_BYTES, Resolved, UNDECIDED};

/// The size of the buffer for a temporary file, in bytes.
const GATHERED_BYTES: usize = 64 << 10;

/// Holds the true pairs or the true clusters of documents.
pub(crate) struct Truth {
    /// The counts for the record.
    pub report: TruthReport,
    link: Link,
    /// The number of bytes in a pair.
    width: usize,
    /// The sorted true pairs, if the truth consists of pairs.
    listed: Option<FrozenHeap>,
    /// The sorted pairs that are labeled as unsure, not labeled, or labeled in both ways, except true pairs.
    undecided: Option<FrozenHeap>,
    /// The sorted pairs that are labeled as different documents.
    different: Option<FrozenHeap>,
    /// The pairs after [`Truth::count_texts`].
    undecided_texts: Option<FrozenHeap>,
    /// The documents in true pairs.
    pub pages: AtomicBits,
    /// The number of the first document in the true cluster of each document, plus one; 0 for the first document itself
    /// and for a document in no true cluster.
    firsts: Numbers,
    /// The size of each true cluster, stored at its first document.
    sizes: Numbers,
}

impl Truth {
    /// Builds the truth from the rows whose ids are in the corpus. If `removes` is set, the labels may all say that documents are different,
    /// because the run removed documents, and such labels say which removals are wrong.
    pub(crate) fn new(session: &Session<'_>, resolved: Resolved, removes: bool) -> Result<Truth> {
        let documents = session.documents();
        let array = |name: &str| Numbers::new(session.engine.dir, name, documents as usize, documents);
        let mut truth = Truth {
            link: Link::new(session),
            width: 2 * doc_width(documents),
            listed: None,
            undecided: None,
            different: None,
            undecided_texts: None,
            pages: AtomicBits::new(session.engine.dir, "true-pages", documents as usize)?,
            firsts: array("true-firsts")?,
            sizes: array("true-sizes")?,
            report: resolved.report,
        };
        if truth.report.rows == truth.report.rejections.rows {
            return Err(Error::usage(format!(
                "no row of the truth contains two values ({} in total); expected labeled pairs or clusters",
                counted(truth.report.rows, "row")
            )));
        }
        let no_duplicates = truth.report.rows == truth.report.rejections.rows + truth.report.other_rows();
        if no_duplicates && (truth.report.different_rows == 0 || !removes) {
            let (what, way_out) = match truth.report.different_rows {
                0 => ("labeled", "enter right, wrong or unsure in the column of labels"),
                _ => ("labeled as a duplicate", "expected true pairs"),
            };
            return Err(Error::usage(format!(
                "no row of the truth is {what} ({}: {} different documents, {} unsure, {} without a label); {way_out}",
                counted(truth.report.rows, "row"),
                thousands(truth.report.different_rows),
                thousands(truth.report.unsure_rows),
                thousands(truth.report.unlabeled_rows)
            )));
        }
        if truth.report.form == "pairs" {
            truth.take_pairs(session, &resolved.rows)?;
        } else {
            truth.take_clusters(session, &resolved.rows)?;
        }
        if no_duplicates {
            return Ok(truth);
        }
        if truth.report.pairs == 0 && truth.report.contradictory_pairs > 0 {
            return Err(Error::usage(format!(
                "all pairs of the truth that are labeled as duplicates are labeled as different documents, too, such as {}; expected one label for each pair",
                truth.report.contradictory.join(" and ")
            )));
        }
        if truth.report.form == "pairs" && truth.report.pairs == 0 {
            return Err(Error::usage(format!(
                "no row of the truth pairs two different documents in the corpus ({}: {} the same document twice, {} an unknown id); expected pairs of different documents",
                counted(truth.report.rows, "row"),
                counted_as(truth.report.self_pairs, "contains|contain"),
                counted_as(truth.report.unknown_rows, "contains|contain")
            )));
        }
        if truth.report.pairs == 0 {
            return Err(Error::usage(format!(
                "no cluster of the truth contains two documents in the corpus ({}; rows with unknown ids: {}); expected clusters with several documents",
                counted(truth.report.rows, "row"),
                thousands(truth.report.unknown_rows)
            )));
        }
        truth.report.pages = truth.pages.count();
        Ok(truth)
    }

    /// Reads pairs from records of (row, side, document). Two documents with the same row form a pair. A pair that is labeled both as a
    /// duplicate and as different documents is undecided.
    fn take_pairs(&mut self, session: &Session<'_>, rows: &Sorted) -> Result<()> {
        let (link, half) = (self.link, self.width / 2);
        let shuffle =
            |name| session.engine.ordered(session.documents(), name, self.width, self.width, half, rows.rows() / 2);
        let (pairs, different, undecided) =
            (shuffle("true-pairs")?, shuffle("different-pairs")?, shuffle("undecided-pairs")?);
        let counts = session.engine.work(
            rows.partitions(),
            || Ok((pairs.writer(), [different.writer(), undecided.writer()], [0; 3])),
            |(writer, [different, undecided], [complete, selfs, skipped]), partition| {
                let records = rows.load(partition, session.engine.budget.a_thread)?;
                for row in records.groups().filter(|row| row.len() == 2) {
                    session.engine.go_on()?;
                    let doc = |at: usize| number(&records.record(at)[PLACE_BYTES..]);
                    let (a, b) = (doc(row.start), doc(row.start + 1));
                    let mark = records.record(row.start)[PLACE_BYTES - 1];
                    if mark & (UNDECIDED | DIFFERENT) != 0 {
                        *skipped += u64::from(mark & UNDECIDED != 0);
                        if a != b {
                            let other = if mark & UNDECIDED != 0 { &mut *undecided } else { &mut *different };
                            link.push(other, a.min(b), a.max(b))?;
                        }
                        continue;
                    }
                    *complete += 1;
                    if a == b {
                        *selfs += 1;
                    } else {
                        link.push(writer, a.min(b), a.max(b))?;
                    }
                }
                rows.remove(partition)
            },
            |(mut writer, others, counts)| {
                others.into_iter().try_for_each(|mut other| other.flush())?;
                writer.flush().map(|()| counts)
            },
        )?;
        let [complete, selfs, skipped] =
            counts.iter().fold([0u64; 3], |sum, one| [sum[0] + one[0], sum[1] + one[1], sum[2] + one[2]]);
        let (different, _) = list(session.engine, &different.finish()?, link, self.width, |_, _| true)?;
        let mut contradictory = undecided.writer();
        let listed = self.list_pairs(session.engine, &pairs.finish()?, &different, &mut contradictory)?;
        contradictory.flush()?;
        drop(contradictory);
        self.undecided = Some(self.list_undecided(session.engine, &undecided.finish()?)?);
        self.different = Some(different);
        self.point_to_firsts();
        if let Some((a, b)) = listed.contradictory {
            self.report.contradictory = vec![called(session, a)?, called(session, b)?];
        }
        let report = &mut self.report;
        report.pairs = listed.pairs;
        report.contradictory_pairs = listed.contradictions;
        report.self_pairs = selfs;
        report.repeated_rows = complete - selfs - listed.pairs - listed.contradictions;
        report.unknown_rows = report.rows - report.rejections.rows - report.different_rows - skipped - complete;
        Ok(())
    }

    /// Lists the distinct pairs in order and connects their documents. Pairs that are also in `different` are written to `contradictory`
    /// instead.
    fn list_pairs(
        &mut self,
        engine: &Engine<'_>,
        pairs: &Sorted,
        different: &FrozenHeap,
        contradictory: &mut Writer<'_>,
    ) -> Result<ListedPairs> {
        let (link, width) = (self.link, self.width);
        let different = different.bytes().chunks_exact(width).map(move |one| link.read(one));
        let mut different = (Box::new(different) as Listed<'_>).peekable();
        let mut forest = Forest::new(self.firsts.slots());
        let (mut found, mut written) = (ListedPairs::default(), Ok(()));
        let (listed, pairs) = list(engine, pairs, link, width, |a, b| {
            if is_next(&mut different, (a, b)) {
                found.contradictory.get_or_insert((a, b));
                found.contradictions += 1;
                if written.is_ok() {
                    written = link.push(contradictory, a, b);
                }
                return false;
            }
            forest.union(a, b);
            self.pages.set(a as usize);
            self.pages.set(b as usize);
            true
        })?;
        written?;
        self.listed = Some(listed);
        Ok(ListedPairs { pairs, ..found })
    }

    /// Lists the distinct undecided pairs in order, without true pairs.
    fn list_undecided(&self, engine: &Engine<'_>, pairs: &Sorted) -> Result<FrozenHeap> {
        let mut checker = Checker { truth: self, listed: self.listed().map(Iterator::peekable), undecided: None };
        list(engine, pairs, self.link, self.width, |a, b| !checker.is_true(a, b)).map(|(listed, _)| listed)
    }

    /// Points each document to the first document in its component, and counts the components and the documents in each.
    fn point_to_firsts(&mut self) {
        // The parent of a document has a smaller number, so it already points to the first document of the component.
        let (mut firsts, mut sizes) = (self.firsts.slots(), self.sizes.slots());
        for doc in self.pages.iter().map(|doc| doc as u64) {
            let first = match firsts.get(doc).checked_sub(1) {
                None => {
                    self.report.clusters += 1;
                    doc
                }
                Some(parent) => firsts.get(parent).checked_sub(1).unwrap_or(parent),
            };
            if first != doc {
                firsts.set(doc, first + 1);
            }
            sizes.set(first, sizes.get(first) + 1);
        }
    }

    /// Reads clusters from records of (hash of the cluster, document). Documents with the same hash form a cluster.
    fn take_clusters(&mut self, session: &Session<'_>, rows: &Sorted) -> Result<()> {
        let stated = AtomicBits::new(session.engine.dir, "true-stated", session.documents() as usize)?;
        let (mut firsts, mut sizes) = (self.firsts.slots(), self.sizes.slots());
        let (mut torn, mut repeated) = (0u64, 0);
        let mut first_torn = u64::MAX;
        for partition in 0..rows.partitions() {
            let records = rows.load(partition, session.engine.budget.a_thread)?;
            for cluster in records.groups() {
                session.engine.go_on()?;
                let doc = |at: usize| number(&records.record(at)[CLUSTER_BYTES..]);
                let (first, mut size, mut last) = (doc(cluster.start), 0, None);
                for doc in cluster.map(doc) {
                    if last == Some(doc) {
                        repeated += 1;
                        continue;
                    }
                    last = Some(doc);
                    size += 1;
                    if !stated.set(doc as usize) {
                        torn += 1;
                        first_torn = first_torn.min(doc);
                    } else if doc != first {
                        firsts.set(doc, first + 1);
                        self.pages.set(doc as usize);
                    }
                }
                sizes.set(first, size);
                if size > 1 {
                    self.pages.set(first as usize);
                    self.report.clusters += 1;
                    self.report.pairs += size * (size - 1) / 2;
                }
            }
            rows.remove(partition)?;
        }
        if torn > 0 {
            return Err(Error::usage(format!(
                "{} in more than one cluster of the truth, such as {}; expected one cluster per document",
                counted_as(torn, "document is|documents are"),
                called(session, first_torn)?
            )));
        }
        self.report.repeated_rows = repeated;
        self.report.unknown_rows = self.report.rows - self.report.rejections.rows - rows.rows();
        Ok(())
    }

    /// Replaces each document in the truth with the representative of its text, and counts the pairs again.
    ///
    /// # Errors
    /// Returns an error if the disk is full or the run is interrupted.
    pub(crate) fn count_texts(&mut self, session: &Session<'_>, texts: &Texts) -> Result<()> {
        if !texts.any() {
            return Ok(());
        }
        let Some(listed) = self.listed() else {
            let named = self.pages.iter().map(|doc| doc as u64);
            let (mut pairs, sizes) = (
                0,
                &mut Numbers::new(session.engine.dir, "true-texts", session.documents() as usize, session.documents())?,
            );
            let mut sizes = sizes.slots();
            for doc in named {
                let (first, of_text) = (self.first(doc), texts.of(doc));
                if of_text == doc {
                    // The new text forms a pair with each earlier text in the cluster.
                    pairs += sizes.get(first);
                    sizes.set(first, sizes.get(first) + 1);
                } else {
                    pairs += u64::from(self.first(of_text) == first);
                }
            }
            self.report.pairs = pairs;
            return Ok(());
        };
        let (link, width) = (self.link, self.width);
        let of_texts = |name: &str, listed: Listed<'_>| {
            let pairs =
                session.engine.ordered(session.documents(), name, width, width, width / 2, self.report.pairs)?;
            let mut writer = pairs.writer();
            for (a, b) in listed {
                session.engine.go_on()?;
                texts.pair(a, b, |a, b| link.push(&mut writer, a, b))?;
            }
            writer.flush()?;
            drop(writer);
            pairs.finish()
        };
        let undecided = of_texts("undecided-texts", self.read(&self.undecided))?;
        let pairs = of_texts("true-texts", listed)?;
        let (listed, different) = list(session.engine, &pairs, link, width, |_, _| true)?;
        (self.listed, self.report.pairs) = (Some(listed), different);
        self.undecided_texts = Some(self.list_undecided(session.engine, &undecided)?);
        Ok(())
    }

    /// Returns the first document in the true cluster of `doc`, or `doc` itself if it is in no true cluster.
    pub(crate) fn first(&self, doc: u64) -> u64 {
        self.firsts.get(doc).checked_sub(1).unwrap_or(doc)
    }

    /// Returns the size of the true cluster that begins with this document.
    pub(crate) fn size(&self, first: u64) -> u64 {
        self.sizes.get(first).max(1)
    }

    /// Returns the true pairs in order, if the truth consists of pairs.
    pub(crate) fn listed(&self) -> Option<Listed<'_>> {
        self.listed.as_ref().map(|_| self.read(&self.listed))
    }

    /// Returns the pairs of documents that are neither true nor false, in order.
    pub(crate) fn undecided(&self) -> Listed<'_> {
        self.read(&self.undecided)
    }

    /// Returns the pairs of texts that are neither true nor false, in order.
    pub(crate) fn undecided_texts(&self) -> Listed<'_> {
        self.read(if self.undecided_texts.is_some() { &self.undecided_texts } else { &self.undecided })
    }

    /// Returns the label of two documents; `None` if no row has both. The truth must consist of pairs, and [`Truth::count_texts`] must not
    /// have been called.
    pub(crate) fn label(&self, a: u64, b: u64) -> Option<Label> {
        let pair = (a.min(b), a.max(b));
        let has = |pairs: &Option<FrozenHeap>| pairs.as_ref().is_some_and(|pairs| self.has(pairs, pair));
        match () {
            () if has(&self.undecided) => Some(Label::Unsure),
            () if has(&self.listed) => Some(Label::Duplicate),
            () if has(&self.different) => Some(Label::Different),
            () => None,
        }
    }

    /// Returns whether a sorted list contains a pair.
    fn has(&self, pairs: &FrozenHeap, pair: (u64, u64)) -> bool {
        let bytes = pairs.bytes();
        let at = |index: usize| self.link.read(&bytes[index * self.width..(index + 1) * self.width]);
        let (mut low, mut high) = (0, bytes.len() / self.width);
        while low < high {
            let middle = low + (high - low) / 2;
            if at(middle) < pair { low = middle + 1 } else { high = middle }
        }
        low < bytes.len() / self.width && at(low) == pair
    }

    fn read<'t>(&self, pairs: &'t Option<FrozenHeap>) -> Listed<'t> {
        let (link, width) = (self.link, self.width);
        let records = pairs.iter().flat_map(move |pairs| pairs.bytes().chunks_exact(width));
        Box::new(records.map(move |one| link.read(one)))
    }

    /// Returns a checker for pairs of texts that are given in order.
    pub(crate) fn checker(&self) -> Checker<'_> {
        let undecided = Some(self.undecided_texts().peekable());
        Checker { truth: self, listed: self.listed().map(Iterator::peekable), undecided }
    }
}

/// Holds the counts of true pairs.
#[derive(Clone, Copy, Debug, Default)]
struct ListedPairs {
    /// The number of distinct true pairs.
    pairs: u64,
    /// The number of distinct pairs that are labeled both as duplicates and as different documents.
    contradictions: u64,
    /// The first such pair.
    contradictory: Option<(u64, u64)>,
}

/// Lists the distinct pairs in order for which `each` returns `true`, and returns the list and the number of pairs.
fn list(
    engine: &Engine<'_>,
    pairs: &Sorted,
    link: Link,
    width: usize,
    mut each: impl FnMut(u64, u64) -> bool,
) -> Result<(FrozenHeap, u64)> {
    let heap = Heap::new(engine.dir, "true-pairs-listed")?;
    let mut gathered = Vec::with_capacity(GATHERED_BYTES + width);
    let mut different = 0;
    for partition in 0..pairs.partitions() {
        let records = pairs.load(partition, engine.budget.a_thread)?;
        for group in records.groups() {
            engine.go_on()?;
            let record = records.record(group.start);
            let (a, b) = link.read(record);
            if !each(a, b) {
                continue;
            }
            different += 1;
            gathered.extend_from_slice(record);
            if gathered.len() >= GATHERED_BYTES {
                heap.append(&gathered)?;
                gathered.clear();
            }
        }
        pairs.remove(partition)?;
    }
    heap.append(&gathered)?;
    Ok((heap.freeze_in_order()?, different))
}

/// Returns the name of a document: its id, or FILE#ROW for a document without an id.
fn called(session: &Session<'_>, doc: u64) -> Result<String> {
    let rows = Some(RowFilter::Docs([doc].as_slice().into()));
    let want = Want { text: false, id: true, rows, batch_bytes: session.engine.budget.batch, ..Want::default() };
    let ids = session.read(
        "read an id",
        &want,
        || Ok(None),
        |found: &mut Option<String>, batch| {
            for row in (0..batch.len()).filter(|&row| batch.doc(row) == doc) {
                *found = batch.id(row).map(|id| id.to_string());
            }
            Ok(())
        },
        Ok,
    )?;
    Ok(ids.into_iter().flatten().next().unwrap_or_else(|| session.source.name_of(doc)))
}

/// Iterates over true pairs in order.
pub(crate) type Listed<'t> = Box<dyn Iterator<Item = (u64, u64)> + 't>;

/// Checks whether pairs are true.
pub(crate) struct Checker<'t> {
    truth: &'t Truth,
    listed: Option<Peekable<Listed<'t>>>,
    undecided: Option<Peekable<Listed<'t>>>,
}

impl Checker<'_> {
    /// Returns whether a pair is true, or `None` if it is undecided. The pairs of successive calls must be in ascending order.
    pub(crate) fn check(&mut self, a: u64, b: u64) -> Option<bool> {
        let is_undecided = self.undecided.as_mut().is_some_and(|undecided| is_next(undecided, (a, b)));
        (!is_undecided).then(|| self.is_true(a, b))
    }

    /// Returns whether a pair is true. The pairs of successive calls must be in ascending order.
    fn is_true(&mut self, a: u64, b: u64) -> bool {
        match &mut self.listed {
            None => self.truth.first(a) == self.truth.first(b),
            Some(listed) => is_next(listed, (a, b)),
        }
    }
}

/// Returns whether a sorted list contains a pair, and skips the pairs before it.
pub(crate) fn is_next(listed: &mut Peekable<Listed<'_>>, pair: (u64, u64)) -> bool {
    while listed.next_if(|before| *before < pair).is_some() {}
    listed.peek() == Some(&pair)
}
