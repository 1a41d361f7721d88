//! Implements a single-threaded driver. Lists replace the shuffle, buckets are in random order, and scans read random pieces. `stage` makes
//! all decisions about algorithms, rows and pairs; the driver makes none.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use dupsift::algorithm::{Corpus, Notes, Stats};
use dupsift_algorithms::corpus::{COUNT_GROUP, CorpusStats, TermTable, TermTableWriter, encode_count};
use dupsift_algorithms::measure::{Contained, FirstLine, Subjects, contained, subjects, write_contents};
use dupsift_algorithms::recipe::Recipe;
use dupsift_algorithms::recipe::bound::{Bound, Check};
use dupsift_algorithms::recipe::remove_if::RemoveIf;
use dupsift_algorithms::steps::choose::Chooser;
use dupsift_algorithms::steps::classify::{self, is_reported, near};
use dupsift_algorithms::steps::clusters::{self, Clusters};
use dupsift_algorithms::steps::copies::{self, Copies};
use dupsift_algorithms::steps::count::{LEAST_FEATURES, LEAST_WORDS, WordCounts, sum};
use dupsift_algorithms::steps::expand::{MatchedBy, of_both, of_class};
use dupsift_algorithms::steps::group::{Compared, Equal, EqualKeys, Windows, folds, link_copies};
use dupsift_algorithms::steps::groups::Groups;
use dupsift_algorithms::steps::margin::{Whole, best, comes_within};
use dupsift_algorithms::steps::merge::merge;
use dupsift_algorithms::steps::next_best::{MOST_PASSED, Partner, Partners, next_best, order};
use dupsift_algorithms::steps::sign::{SignedCounts, encode, sign};
use dupsift_algorithms::steps::survive::{self, Finder, Lists as Kept, MOST_LISTED};
use dupsift_algorithms::steps::verify::{documents, judge};
use dupsift_algorithms::steps::view::View;
use dupsift_algorithms::steps::{headings, learn, note};
use dupsift_core::hash::hash64;
use dupsift_core::row::{Docs, LinkLayout, Pair, PairLayout, Pairs, RowLayout, Signatures, Sketches, Slots};
use dupsift_text::{Analysis, Field, FieldValue, FieldValues, Heading, Pipeline};

use crate::kit::Numbers;

/// Holds a document as read.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub text: Option<String>,
    /// `None` if the corpus has no such column, `Some(None)` if the value is missing.
    pub title: Option<Option<String>>,
}

/// Holds the options other than the recipe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    pub max_group: u64,
    pub max_candidates: u64,
    /// Whether extra copies are also signed.
    pub signs_copies: bool,
}

/// A pair as in the table: documents, similarity, distance, rules, and relation.
pub(crate) type PairRow = (u64, u64, f32, Option<f32>, String, Option<(String, String, Option<f32>)>);
/// A clustered document as in the table: document, representative, size, similarity.
pub(crate) type ClusterRow = (u64, u64, u64, Option<f32>);

/// A removed document as in the table: document, kept document, similarity.
pub(crate) type RemovedRow = (u64, u64, Option<f32>);

/// Holds the result of one algorithm.
#[derive(Debug, Default)]
pub(crate) struct Said {
    pub label: String,
    pub pairs: Vec<PairRow>,
    pub clusters: Vec<ClusterRow>,
    pub signed: SignedCounts,
    pub candidates: u64,
    pub compared: Compared,
}

type Rows = Vec<Vec<u8>>;
type Numbered = BTreeMap<u64, Vec<u64>>;

/// Holds classes of identical documents.
#[derive(Clone, Debug, Default)]
struct Classes {
    members: Numbered,
    representatives: BTreeMap<u64, u64>,
}

impl Copies for Classes {
    fn is_extra_copy(&self, doc: u64) -> bool {
        clusters::Classes::representative(self, doc) != doc
    }

    fn members(&self, doc: u64) -> Docs<'_> {
        let class = self.members.get(&clusters::Classes::representative(self, doc));
        class.map_or(Docs::NONE, |docs| Docs::Wide(docs))
    }
}

impl clusters::Classes for Classes {
    fn representative(&self, doc: u64) -> u64 {
        self.representatives.get(&doc).copied().unwrap_or(doc)
    }

    fn members(&self, representative: u64) -> Docs<'_> {
        self.members.get(&representative).map_or(Docs::One(representative), |docs| Docs::Wide(docs))
    }
}

#[derive(Default)]
struct Sketched(Numbered);

impl Sketches for Sketched {
    fn copy(&self, doc: u64, to: &mut [u64]) {
        to.iter_mut().zip(&self.0[&doc]).for_each(|(to, word)| *to = *word);
    }
}

#[derive(Default)]
struct EqualRows {
    links: Vec<(u64, u64)>,
    probes: Rows,
}

impl Equal for EqualRows {
    fn link(&mut self, representative: u64, doc: u64) -> dupsift::error::Result<()> {
        self.links.push((representative, doc));
        Ok(())
    }

    fn probe(&mut self, row: &[u8]) -> dupsift::error::Result<()> {
        self.probes.push(row.to_vec());
        Ok(())
    }
}

/// Holds the partners of each document, one document after another.
struct Lists(BTreeMap<u64, Range<usize>>, Vec<Partner>);

impl Partners for Lists {
    fn range(&self, doc: u64) -> Range<usize> {
        self.0.get(&doc).cloned().unwrap_or(0..0)
    }

    fn get(&self, at: usize) -> Partner {
        self.1[at]
    }
}

/// Holds the pairs of one algorithm, for the removal rule.
struct Linked {
    classes: Classes,
    links: BTreeMap<u64, Vec<Partner>>,
    equal: f32,
}

impl survive::Relation for Linked {
    fn class(&self, doc: u64) -> u64 {
        clusters::Classes::representative(&self.classes, doc)
    }

    fn linked(&self, class: u64, each: &mut dyn FnMut(u64, f32)) {
        self.links.get(&class).into_iter().flatten().for_each(|&(linked, similarity)| each(linked, similarity));
    }

    fn equal(&self) -> f32 {
        self.equal
    }
}

fn partners<'p>(pairs: impl Iterator<Item = &'p Pair>) -> BTreeMap<u64, Vec<Partner>> {
    let mut partners: BTreeMap<u64, Vec<Partner>> = BTreeMap::new();
    for pair in pairs {
        partners.entry(pair.a).or_default().push((pair.b, pair.score.similarity));
        partners.entry(pair.b).or_default().push((pair.a, pair.score.similarity));
    }
    partners
}

/// Holds facts about documents for the rule that determines relations.
struct Known<'k> {
    evidence: &'k Numbered,
    contents: Numbered,
    headings: &'k [u64],
    common: BTreeSet<u64>,
}

impl classify::Known for Known<'_> {
    fn evidence(&self, doc: u64) -> Cow<'_, [u64]> {
        Cow::Borrowed(&self.evidence[&doc])
    }

    fn compared(&self, a: u64, b: u64) -> Option<([Contained; 2], Subjects)> {
        let [a, b] = [a, b].map(|doc| &self.contents[&doc]);
        let shares = contained(a, b);
        Some((shares, subjects(a, b, shares)))
    }

    fn first_lines(&self, a: u64, b: u64) -> FirstLine {
        let [x, y] = [a, b].map(|doc| Heading::unpack(self.headings[doc as usize]));
        headings::compare(x, y, || self.common.contains(&a))
    }
}

/// Runs the stages on one corpus.
pub(crate) struct Driver<'d> {
    docs: &'d [Document],
    recipe: &'d Recipe,
    asked: Asked,
    random: Numbers,
    lengths: Vec<u32>,
    headings: Vec<u64>,
}

impl<'d> Driver<'d> {
    /// Counts every row, with or without text.
    fn count(&self) -> u64 {
        self.docs.len() as u64
    }

    /// Simulates a shuffle and a scan.
    fn scan(&mut self, rows: Rows, group_width: usize, mut each: impl FnMut(&[u8])) {
        let Some(width) = rows.first().map(Vec::len) else { return };
        let (buckets, turn) = (1 + self.random.below(9) as u64, self.random.below(1000) as u64);
        let mut spread: BTreeMap<u64, Rows> = BTreeMap::new();
        for row in rows {
            let bucket = hash64(&row[..group_width]) % buckets;
            spread.entry((bucket + turn) % buckets * 7 % buckets).or_default().push(row);
        }
        for mut bucket in spread.into_values() {
            bucket.sort_unstable();
            let mut groups = Groups::new(width, group_width, Vec::new());
            let mut each = |group: &[u8]| Ok(each(group));
            let mut rest = &bucket[..];
            while !rest.is_empty() {
                let (block, after) = rest.split_at(self.random.below(rest.len().min(40) + 1));
                groups.push(&block.concat(), &mut each).unwrap();
                rest = after;
            }
            groups.finish(&mut each).unwrap();
        }
    }

    fn fields(&self, doc: u64) -> FieldValues<'d> {
        let asked = self.recipe.fields();
        Field::ALL.map(|field| match &self.docs[doc as usize].title {
            Some(title) if field == Field::Title && asked.contains(&field) => {
                title.as_deref().map_or(FieldValue::Null, FieldValue::Text)
            }
            _ => FieldValue::NoColumn,
        })
    }

    /// Reads every document that contains text.
    fn read(&self, view: &View<'_, Classes>, mut each: impl FnMut(u64, &Analysis<'_>)) {
        for (doc, document) in self.docs.iter().enumerate() {
            let Some(text) = &document.text else { continue };
            each(doc as u64, &view.document(doc as u64, text, self.fields(doc as u64), None, None));
        }
    }

    fn classes(&mut self, links: &[(u64, u64)]) -> Classes {
        let layout = LinkLayout::new(self.count());
        let rows = links.iter().map(|&(first, doc)| layout.encode(first, doc)[..layout.width()].to_vec()).collect();
        let mut classes = Classes::default();
        self.scan(rows, layout.group_width(), |links| {
            let docs: Vec<u64> = copies::class(layout, links).collect();
            if docs.len() > 1 {
                classes.representatives.extend(docs.iter().map(|&doc| (doc, docs[0])));
                classes.members.insert(docs[0], docs);
            }
        });
        classes
    }

    fn note(&mut self, pipeline: &Pipeline) -> Classes {
        let (mut rows, mut links) = (Rows::new(), Vec::new());
        let (mut lengths, mut lines) = (self.lengths.clone(), self.headings.clone());
        self.read(&View::first(pipeline), |doc, document| {
            lengths[doc as usize] = note::length(document);
            lines[doc as usize] = note::first_line(document);
            rows.extend(copies::row(doc, document).map(|row| row.to_vec()));
        });
        (self.lengths, self.headings) = (lengths, lines);
        self.scan(rows, copies::GROUP, |rows| {
            copies::group(rows, |first, doc| Ok(links.push((first, doc)))).unwrap();
        });
        self.classes(&links)
    }

    fn statistics(&mut self, pipeline: &Pipeline, copies: &Classes, folder: &Path) -> CorpusStats {
        let kinds = self.recipe.features();
        let new = || WordCounts::new(Stats { words: true, features: true }, &kinds, 0);
        let (mut tally, mut words, mut features) = (new(), Rows::new(), Rows::new());
        let mut random = Numbers(self.random.0);
        let mut drain = |tally: &mut WordCounts<'_>| {
            for (counts, rows) in [(&mut tally.words, &mut words), (&mut tally.features, &mut features)] {
                let mut push = |term, df, cf| Ok::<_, ()>(rows.push(encode_count(term, df, cf).to_vec()));
                counts.as_mut().unwrap().drain(&mut push).unwrap();
            }
        };
        self.read(&View::first(pipeline), |doc, document| {
            if self.recipe.count_copies || !copies.is_extra_copy(doc) {
                tally.add(document);
            }
            if random.below(100) == 0 {
                drain(&mut tally);
            }
        });
        drain(&mut tally);
        let (counted, tokens) = (tally.documents, tally.tokens);
        drop(tally);
        let words = self.terms(words, LEAST_WORDS, &folder.join("words"));
        let features = self.terms(features, LEAST_FEATURES, &folder.join("features"));
        CorpusStats::new(counted, tokens, 1, words, features)
    }

    fn terms(&mut self, counts: Rows, least: u64, place: &Path) -> TermTable {
        let mut terms = Vec::new();
        self.scan(counts, COUNT_GROUP, |rows| terms.extend(sum(rows, least)));
        terms.sort_unstable();
        let mut writer = TermTableWriter::create(place).unwrap();
        terms.into_iter().for_each(|(term, df, cf)| writer.push(term, df, cf).unwrap());
        writer.finish().unwrap()
    }

    fn models(&mut self, view: &View<'_, Classes>, corpus: &Corpus<'_>, copies: &Classes) -> Vec<Vec<u64>> {
        let mut models = vec![Vec::new(); self.recipe.algorithms.len()];
        for (at, learner) in self.recipe.learners(corpus).unwrap() {
            let (mut notes, mut order, mut numbers) = (Vec::new(), Rows::new(), Vec::new());
            self.read(view, |doc, document| {
                numbers.clear();
                learner.note(document, &mut numbers);
                if !numbers.is_empty() && !copies.is_extra_copy(doc) {
                    let row = learn::row(document, notes.len() as u64).to_vec();
                    order.extend(std::iter::repeat_n(row, view.times(doc) as usize));
                    notes.push(numbers.clone());
                }
            });
            order.sort_unstable();
            let in_order: Vec<_> = order.iter().map(|row| notes[learn::place(row) as usize].clone()).collect();
            models[at] = learner.learn(&Notes::in_memory(&in_order)).unwrap();
        }
        models
    }

    /// Uses the algorithm to compare rows with the same key, and adds the result to `pairs`.
    fn compare(
        &mut self,
        bound: &Bound<'_>,
        (rows, layout): (Rows, RowLayout),
        (copies, sketches): (Option<&Classes>, Option<&Sketched>),
        pairs: &mut Rows,
    ) -> Compared {
        let pair_layout = PairLayout::new(self.count());
        let mut sink = |pair: Pair| {
            let mut row = Vec::new();
            pair_layout.encode(&pair, &mut row);
            pairs.push(row);
        };
        let sketches = sketches.map(|sketches| sketches as &dyn Sketches);
        let out = Pairs::new(self.asked.max_candidates, &mut sink).with_sketches(sketches);
        let (mut windows, mut scratch) = (Windows::new(&*bound.signer, layout, copies, out), Vec::new());
        self.scan(rows, layout.group_width(), |rows| windows.group(rows, &mut scratch, |_| false).unwrap());
        windows.finish()
    }

    /// Groups rows into occurrences of pairs and, if the algorithm forms any, into classes.
    fn group(
        &mut self,
        bound: &Bound<'_>,
        rows: Rows,
        copies: &Classes,
        sketches: &Sketched,
    ) -> (Option<Classes>, Rows, Compared) {
        let (mut pairs, mut classes) = (Rows::new(), None);
        let layout = RowLayout::new(bound.scheme.shape, self.count());
        if !folds(bound) {
            let sketches = (bound.scheme.sketch_words > 0).then_some(sketches);
            let compared = self.compare(bound, (rows, layout), (Some(copies), sketches), &mut pairs);
            return (None, pairs, compared);
        }
        let (mut keys, mut out) = (EqualKeys::new(bound, self.count(), copies), EqualRows::default());
        self.scan(rows, layout.group_width(), |rows| keys.group(rows, true, &mut out).unwrap());
        if bound.equal_keys_are_pairs() {
            let linked: BTreeSet<u64> = out.links.iter().map(|link| link.1).collect();
            for docs in copies.members.values() {
                let link = |first, doc| Ok(out.links.push((first, doc)));
                link_copies(Docs::Wide(docs), |doc| linked.contains(&doc), link).unwrap();
            }
            classes = Some(self.classes(&out.links));
        }
        let compared = bound
            .probe_layout(self.count())
            .map(|layout| self.compare(bound, (out.probes, layout), (None, None), &mut pairs));
        (classes, pairs, compared.unwrap_or_default())
    }

    /// Collects the evidence that a verification uses.
    fn evidence(
        &self,
        view: &View<'_, Classes>,
        asked: impl Iterator<Item = u64>,
        take: impl Fn(&Analysis<'_>, &mut Vec<u64>),
    ) -> Numbered {
        let asked: BTreeSet<u64> = asked.collect();
        let mut all = Numbered::new();
        self.read(view, |doc, document| {
            if asked.contains(&doc) {
                take(document, all.entry(doc).or_default());
            }
        });
        all
    }

    /// Verifies pairs, and also returns the evidence.
    fn checked(
        &self,
        (check, view): (Check<'_>, &View<'_, Classes>),
        early: Option<Numbered>,
        pairs: Vec<Pair>,
    ) -> (Numbered, Vec<Pair>) {
        let take = |document: &Analysis<'_>, out: &mut Vec<u64>| check.evidence(document, out);
        let evidence = early.unwrap_or_else(|| self.evidence(view, pairs.iter().flat_map(documents), take));
        let judged = |pair: Pair| judge(check, [&evidence[&pair.a], &evidence[&pair.b]], pair, || ());
        let pairs = pairs.into_iter().filter_map(judged).collect();
        (evidence, pairs)
    }

    fn margin(&self, bound: &Bound<'_>, pairs: Vec<Pair>) -> Vec<Pair> {
        let Some(margin) = bound.margin else { return pairs };
        let mut highest = vec![0; self.docs.len()];
        for (doc, similarity) in pairs.iter().flat_map(best) {
            highest[doc as usize] = highest[doc as usize].max(similarity);
        }
        let stays = |pair: &Pair| comes_within(margin, pair, |doc| highest[doc as usize]);
        let mut parents = vec![0u64; self.docs.len()];
        let mut whole = Whole::new(margin, Slots::Wide(&mut parents));
        pairs.iter().filter(|pair| stays(pair)).for_each(|pair| whole.join(pair));
        pairs.into_iter().filter(|pair| stays(pair) || whole.keeps(pair)).collect()
    }

    fn classified(
        &mut self,
        bound: &Bound<'_>,
        view: &View<'_, Classes>,
        evidence: &Numbered,
        copies: &Classes,
        pairs: Vec<Pair>,
    ) -> Vec<Pair> {
        let Some((rule, relating)) = bound.relating() else { return pairs };
        let (count, mut lines, mut common) = (self.count(), Rows::new(), BTreeSet::new());
        for (doc, &line) in self.headings.iter().enumerate().filter(|(doc, _)| !copies.is_extra_copy(*doc as u64)) {
            let row = Heading::unpack(line).map(|line| headings::row(count, line, doc as u64));
            lines.extend(row.map(|row| row[..headings::width(count)].to_vec()));
        }
        self.scan(lines, headings::GROUP, |rows| common.extend(headings::common(count, rows, rule.titles)));
        let mut lists = Lists(BTreeMap::new(), Vec::new());
        for (doc, mut of_one) in partners(pairs.iter()) {
            of_one.sort_by(|x, y| order(near(rule), x, y));
            lists.0.insert(doc, lists.1.len()..lists.1.len() + of_one.len());
            lists.1.extend(of_one);
        }
        let contents = self.evidence(view, pairs.iter().flat_map(documents), write_contents);
        let known = Known { evidence, contents, headings: &self.headings, common };
        let next =
            |pair: &Pair| next_best(&lists, near(rule), MOST_PASSED, (pair.a, pair.b), classify::as_near(rule, pair));
        let classified = pairs.into_iter().map(|pair| classify::classify((rule, relating), pair, next(&pair), &known));
        classified.filter(|pair| is_reported(rule, pair)).collect()
    }

    /// Returns whether `a` is preferred to `b`: the longer document, or the first of two equally long documents.
    fn better(&self, a: u64, b: u64) -> bool {
        (Reverse(self.lengths[a as usize]), a) < (Reverse(self.lengths[b as usize]), b)
    }

    fn best(&self, docs: Docs<'_>) -> u64 {
        docs.iter().reduce(|a, b| if self.better(b, a) { b } else { a }).unwrap()
    }

    fn expanded(&self, bound: &Bound<'_>, classes: &Classes, copies: &Classes, pairs: &[Pair]) -> Vec<PairRow> {
        let (most, scheme, mut found) = (self.asked.max_group, &bound.scheme, Vec::new());
        let same = bound.relating().map(|(rule, _)| rule.same());
        let text = |doc: u64| clusters::Classes::representative(copies, doc);
        let are_copies = |pair: &Pair| text(pair.a) == text(pair.b);
        let best = |docs: &[u64]| self.best(Docs::Wide(docs));
        // Groups the documents of a class by text.
        let by_text = |docs: &[u64]| {
            let mut texts = Numbered::new();
            docs.iter().for_each(|&doc| texts.entry(text(doc)).or_default().push(doc));
            texts
        };
        // The best document for each distinct text; above the limit, only the best document overall.
        let texts = |docs: &[u64]| -> Vec<u64> { by_text(docs).values().map(|docs| best(docs)).collect() };
        let mut equal = |a: u64, b: u64| found.push(of_class(scheme, same, a, b, are_copies));
        for docs in classes.members.values() {
            for of_text in by_text(docs).values() {
                let first = best(of_text);
                of_text.iter().filter(|&&doc| doc != first).for_each(|&doc| equal(first, doc));
            }
            let (texts, centre) = (texts(docs), best(docs));
            let is_star = texts.len() as u64 > most;
            for (at, &a) in texts.iter().enumerate() {
                let others = texts[at + 1..].iter().filter(|&&b| !is_star || a == centre || b == centre);
                others.for_each(|&b| equal(a, b));
            }
        }
        for pair in pairs {
            let [a, b] = [pair.a, pair.b].map(|doc| {
                let docs: Vec<u64> = clusters::Classes::members(classes, doc).iter().collect();
                let texts = texts(&docs);
                if texts.len() as u64 > most { vec![best(&docs)] } else { texts }
            });
            a.iter().for_each(|&x| found.extend(b.iter().map(|&y| of_both(scheme, pair, x, y))));
        }
        found.sort_by_key(|pair| (pair.a, pair.b));
        let mut names = MatchedBy::new(scheme.rules);
        let row = |Pair { a, b, score, matched, related }: Pair| {
            let related = related.map(|it| (it.relation.name().to_string(), it.why.name().to_string(), it.next_best()));
            (a, b, score.similarity, score.distance, names.of(matched).to_string(), related)
        };
        found.into_iter().map(row).collect()
    }

    fn clusters(&mut self, bound: &Bound<'_>, classes: &Classes, pairs: &[Pair]) -> Vec<ClusterRow> {
        let count = self.docs.len();
        let (mut parents, mut best, mut similarities) = (vec![0u64; count], vec![0u64; count], vec![0; count]);
        let parents = Some(Slots::Wide(&mut parents));
        let mut clusters = Clusters::new(classes, parents, Slots::Wide(&mut best), &mut similarities);
        pairs.iter().for_each(|pair| clusters.join(pair));
        let joining = pairs.iter().filter(|pair| !pair.is_template());
        let alone: BTreeSet<u64> = joining.flat_map(documents).filter(|&doc| clusters.is_alone(doc)).collect();
        let (layout, mut rows, mut found) = (LinkLayout::new(self.count()), Rows::new(), Vec::new());
        for representative in classes.members.keys().copied().chain(alone) {
            let docs = clusters::Classes::members(classes, representative);
            let root = clusters.member(representative, self.best(docs), |a, b| self.better(a, b));
            rows.extend(docs.iter().map(|doc| layout.encode(root, doc)[..layout.width()].to_vec()));
        }
        pairs.iter().for_each(|pair| clusters.compare(pair));
        self.scan(rows, layout.group_width(), |rows| {
            let best = clusters.best(layout.decode(rows).0);
            for doc in rows.chunks_exact(layout.width()).map(|row| layout.decode(row).1) {
                let similarity = clusters.similarity(doc, best, bound.scheme.equal.similarity);
                found.push((doc, best, (rows.len() / layout.width()) as u64, similarity));
            }
        });
        found.sort_by_key(|row| row.0);
        found
    }

    /// Decides for each document in a pair, best first, whether it is kept or removed in favor of a kept document.
    fn removed(
        &self,
        linked: &[Linked],
        shown: BTreeSet<u64>,
        contents: &Numbered,
        copies: &Classes,
    ) -> Vec<RemovedRow> {
        let mut in_order: Vec<u64> = shown.into_iter().collect();
        in_order.sort_by_key(|&doc| (Reverse(self.lengths[doc as usize]), doc));
        let mut arrays = [(); 3].map(|()| vec![vec![0u64; self.docs.len()]; linked.len()]);
        let [heads, counts, next] =
            arrays.each_mut().map(|arrays| arrays.iter_mut().map(|array| Slots::Wide(array)).collect());
        let mut kept = Kept { heads, counts, next, longest: Kept::longest(1) };
        let bounds = RemoveIf::parse("contained:0.8:0.9").unwrap().bounds().unwrap();
        let mut chooser = Chooser::new(bounds, |a, b| self.better(a, b));
        let look = |doc: u64, kept: u64| {
            let [a, b] = [doc, kept].map(|doc| clusters::Classes::representative(copies, doc));
            (a != b).then(|| contained(&contents[&a], &contents[&b]))
        };
        let mut found = Vec::new();
        let choose = |doc, partners: &mut [_], beyond| {
            chooser.choose(doc, partners, beyond, |kept| Ok::<_, ()>(look(doc, kept)))
        };
        let removed = |removal: survive::Removal| {
            found.push((removal.doc, removal.kept, removal.found.map(|(_, similarity)| similarity)));
            Ok(())
        };
        Finder::new(linked, 1, MOST_LISTED)
            .survive(Docs::Wide(&in_order), |_| None, &mut kept, choose, removed)
            .unwrap();
        found.sort_by_key(|row| row.0);
        found
    }

    /// Runs all stages, and returns the result of every algorithm in the recipe and the removed documents. `seed` determines the order of
    /// buckets and the pieces.
    pub(crate) fn run(
        docs: &'d [Document],
        recipe: &'d Recipe,
        asked: Asked,
        seed: u64,
    ) -> (Vec<Said>, Vec<RemovedRow>) {
        let (folder, lengths, headings) = (tempfile::tempdir().unwrap(), vec![0; docs.len()], vec![0; docs.len()]);
        let mut driver = Driver { docs, recipe, asked, random: Numbers(seed), lengths, headings };
        let pipeline = Pipeline::new(&driver.recipe.text).unwrap();
        let copies = driver.note(&pipeline);
        let stats = driver.statistics(&pipeline, &copies, folder.path());
        let corpus = Corpus::new(driver.count(), &stats);
        let view = View::after_count(&pipeline, &stats).with_copies(Some(&copies), driver.recipe.count_copies);
        let models = driver.models(&view, &corpus, &copies);
        let bound = driver.recipe.bind(&corpus, &models).unwrap();

        let mut signed: Vec<(Rows, Numbered, Sketched, SignedCounts)> = Vec::new();
        signed.resize_with(bound.len(), Default::default);
        let (mut scratch, mut record): ((Signatures, Vec<u64>), _) = Default::default();
        driver.read(&view, |doc, document| {
            if copies.is_extra_copy(doc) && !driver.asked.signs_copies {
                return;
            }
            sign(&bound, document, &mut scratch, |number, out, evidence| {
                let (rows, all, sketches, count) = &mut signed[number];
                count.add(out, if driver.asked.signs_copies { 1 } else { copies.count(doc) });
                all.insert(doc, evidence.to_vec());
                sketches.0.insert(doc, out.sketch_of_document().to_vec());
                let layout = RowLayout::new(bound[number].scheme.shape, driver.count());
                encode(layout, (None, doc), out, &mut record, |_| true, |row| Ok::<_, ()>(rows.push(row.to_vec())))
            })
            .unwrap();
        });
        let (mut said, mut linked) = (Vec::new(), Vec::new());
        for (bound, (rows, taken, sketches, signed)) in bound.iter().zip(signed) {
            let (classes, occurrences, compared) = driver.group(bound, rows, &copies, &sketches);
            let (layout, mut pairs) = (PairLayout::new(driver.count()), Vec::new());
            driver.scan(occurrences, layout.group_width(), |rows| pairs.extend(merge(layout, rows)));
            let candidates = pairs.len() as u64;
            let mut evidence = taken;
            if let Some(check) = bound.verify_candidates() {
                let early = bound.takes_evidence_early().then_some(evidence);
                (evidence, pairs) = driver.checked((check, &view), early, pairs);
            }
            pairs = driver.margin(bound, pairs);
            pairs = driver.classified(bound, &view, &evidence, &copies, pairs);
            if let Some(check) = bound.verify_last() {
                pairs = driver.checked((check, &view), None, pairs).1;
            }
            pairs.sort_by_key(|pair| (pair.a, pair.b));
            let classes = classes.unwrap_or_else(|| copies.clone());
            said.push(Said {
                label: bound.label.clone(),
                pairs: driver.expanded(bound, &classes, &copies, &pairs),
                clusters: driver.clusters(bound, &classes, &pairs),
                signed,
                candidates,
                compared,
            });
            let links = partners(pairs.iter().filter(|pair| !pair.is_template() && !pair.has_other_title()));
            linked.push(Linked { classes, links, equal: bound.scheme.equal.similarity });
        }
        let shown: BTreeSet<u64> = said.iter().flat_map(|said| &said.pairs).flat_map(|pair| [pair.0, pair.1]).collect();
        let alike = shown.iter().map(|&doc| clusters::Classes::representative(&copies, doc));
        let contents = driver.evidence(&view, alike, write_contents);
        (said, driver.removed(&linked, shown, &contents, &copies))
    }
}
