//! Tests that the terminal, `--json` and the pages show the figures of one model: for a run, an explanation, a comparison, an evaluation, lists,
//! rules and a sample of removals. `python/tests/test_run.py` checks that Python returns the same JSON.

use std::cell::RefCell;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use dupsift::RunReport;
use dupsift::report::{self, Detail, Screen};
use dupsift_core::number::{share, thousands};
use dupsift_engine::engine::Progress;
use dupsift_study::{
    self as study, Choice, ComparisonReport, EvaluationReport, Explanation, Finished, ListOptions, Listed, ListedRow,
    Outcome, Review, SampleOptions, ShownFigure, truth_quotes,
};
use serde_json::{Value, json};

use crate::kit::{Done, Ran, done, program, samples};

const TRUTH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data-samples/truth/pairs.parquet");

/// A run with the default options.
static RUN: LazyLock<Done> = LazyLock::new(|| done(samples(), &[]));

/// Returns the record and the review of a finished run, and the page that is rendered from them.
fn reviewed(out: &Path) -> (RunReport, Review, String) {
    let finished = Finished::open(out).unwrap();
    let found = RefCell::new(None);
    let page = |report: &RunReport, review: &Review| {
        let page = report::page(report, review)?;
        *found.borrow_mut() = Some((report.clone(), review.clone(), page.clone()));
        Ok(page)
    };
    let (options, cancel) = (finished.options(&Default::default()), AtomicBool::new(false));
    assert_eq!(study::write_again(&finished, options, &Progress::hidden(), &cancel, &page).unwrap(), None);
    found.take().unwrap()
}

/// Returns the text of a page without its tags, with single spaces.
fn text_of(page: &str) -> String {
    let body = page.split_once("<body>").map_or(page, |(_, body)| body);
    let mut text = String::new();
    for part in body.split('<') {
        text += part.split_once('>').map_or(part, |(_, text)| text);
        text.push(' ');
    }
    let text = text.replace("&quot;", "\"").replace("&amp;", "&").replace("&gt;", ">").replace("&lt;", "<");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a model as another program reads its JSON.
fn json_of(model: &impl serde::Serialize) -> Value {
    serde_json::from_str(&serde_json::to_string(model).unwrap()).unwrap()
}

#[track_caller]
fn has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is missing in {}", &text[..text.floor_char_boundary(4_000)]);
}

/// Prints a document of JSON and reads it back, as another program does.
fn printed(command: &str, out: &Path, more: &[&str]) -> Ran {
    Ran::of(program().arg(command).arg(out).args(more).args(["--threads", "2"]).output().unwrap()).ends_with(0)
}

#[test]
fn a_run_has_the_same_figures_everywhere() {
    let (report, review, page) = reviewed(&RUN.out());
    let (page, terminal) = (text_of(&page), report::finished(&RUN.out(), Detail::Full).unwrap());
    let removal = report.removal.as_ref().unwrap();
    let [used, kept, removed] = [report.documents.used, removal.kept, removal.removed].map(thousands);
    has(&terminal, &format!("{used} documents in 3 files: {kept} kept, {removed} removed"));
    has(&page, &format!("{removed} of {used} documents removed"));
    // The reasons add up to the removals, in the record, in the summary and in the bar of the page.
    assert_eq!(removal.reasons.values().sum::<u64>(), removal.removed);
    for (reason, one, many) in [("copy", "exact copy", "exact copies"), ("pair", "near-duplicate", "near-duplicates")] {
        let count = removal.reasons[reason];
        has(&terminal, &format!("{} {}", thousands(count), if count == 1 { one } else { many }));
        has(&page, &format!("{} {many} removed", thousands(count)));
    }
    let similar = thousands(removal.stays.values().sum());
    has(&terminal, &format!("similar but kept: {similar}"));
    has(&page, &format!("{similar} similar but kept"));
    for one in &report.algorithms {
        has(&terminal, &thousands(one.pairs));
        has(&page, &thousands(one.pairs));
    }
    has(&terminal, &format!("{:.1} MB/s", report.megabytes_per_second()));
    has(&page, &format!("{:.1} MB/s", report.megabytes_per_second()));
    // What only the page shows is a value of its model, which can be written as JSON.
    let model = json_of(&review);
    assert_eq!(model["pooled"], json!(review.pooled));
    has(&page, &format!("{} distinct pairs were found by at least one algorithm", thousands(review.pooled)));
    let scores: u64 = model["removed"]["scores"].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    let points = review.removed.at_thresholds();
    assert_eq!((points[0].1, scores + review.removed.chained), (scores, removal.removed));
    for (at, count) in points {
        let at = if at >= 1.0 { "1".to_owned() } else { share(at) };
        has(&page, &format!("{at} {} ", thousands(count)));
    }
    for (at, count) in review.removed.under_rules(review.bounds.unwrap()) {
        has(&page, &format!("contained:{at}:{} {}", review.bounds.unwrap().numbers, thousands(count)));
    }
}

#[test]
fn an_explanation_has_the_same_figures_everywhere() {
    let (_, review, page) = reviewed(&RUN.out());
    let page = text_of(&page);
    let finished = Finished::open(&RUN.out()).unwrap();
    let options = finished.options(&Default::default()).unwrap();
    for sample in review.removed.sample.iter().take(3) {
        let docs = [sample.doc.to_string(), sample.kept.to_string()];
        let (progress, cancel) = (Progress::hidden(), AtomicBool::new(false));
        let explained = study::explain(&finished, &options, &docs, true, &progress, &cancel).unwrap();
        let typed = printed("explain", &RUN.out(), &["--docs", &docs[0], &docs[1], "--json"]).stdout;
        assert_eq!(serde_json::from_str::<Value>(&typed).unwrap(), json_of(&explained));
        let [a, b] = explained.outcomes();
        assert_eq!((matches!(a, Outcome::RemovedForOther(_)), b), (true, Outcome::Kept), "{docs:?}");
        let terminal = report::explanation(&explained, Screen { width: 200, colours: false, full: false });
        has(&terminal, "a was removed in favor of b");
        has(&terminal, "b was kept");
        has(&page, "A was removed in favor of B");
        same_figures(&explained, &review, &terminal, &page);
        let marked = report::marked(&explained);
        explained.documents.iter().for_each(|one| has(&marked, &one.id));
    }
}

/// Checks the similarity and the containment of a pair that the page shows.
fn same_figures(explained: &Explanation, review: &Review, terminal: &str, page: &str) {
    let [a, b] = explained.documents.each_ref().map(|one| one.doc);
    let removed = explained.documents[0].removed.as_ref().unwrap();
    if let Some(similarity) = removed.similarity.filter(|similarity| *similarity < 1.0) {
        let found = explained.algorithms.iter().filter_map(|one| one.similarity());
        assert!(found.map(share).any(|one| one == share(similarity)), "{similarity}");
        has(terminal, &share(similarity));
        has(page, &share(similarity));
    }
    let (key, is_swapped) = if review.compared.contains_key(&(a, b)) { ((a, b), false) } else { ((b, a), true) };
    let mut of_page = review.compared[&key].contained;
    if is_swapped {
        of_page.swap(0, 1);
    }
    for (of, other) in explained.contained.iter().zip(of_page) {
        assert_eq!((of.common_grams, of.grams), (other.grams.common, other.grams.all));
        assert_eq!((of.common_facts, of.facts), (other.facts.common, other.facts.all));
        has(terminal, &format!("{} of {}", thousands(of.common_grams), thousands(of.grams)));
    }
}

#[test]
fn a_comparison_has_the_same_figures_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let algorithms = ["--algorithms", "exact,minhash,simhash"];
    let sampled = ["--judge-sample", "50", "--oracle-sample", "100", "--threads", "2", "--no-progress"];
    let mut command = program();
    command.arg("compare").arg(samples()).arg("--out").arg(&out).args(algorithms).args(sampled);
    let terminal = Ran::of(command.output().unwrap()).ends_with(0).stdout;
    let json = std::fs::read(out.join("compare/comparison.json")).unwrap();
    let model: ComparisonReport = serde_json::from_slice(&json).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&json).unwrap(), json_of(&model));
    let (_, review, page) = reviewed(&out);
    let page = text_of(&page);
    assert_eq!(json_of(review.comparison.as_ref().unwrap()), json_of(&model));
    has(&page, model.recommendation().trim_end_matches('.').split_once('`').map_or("", |(before, _)| &before[1..]));
    let settings = model.settings();
    has(&terminal, &format!("{} pairs found by {settings}", thousands(model.pooled)));
    has(&page, &format!("found by at least one of {settings}"));
    assert!(model.judge.sampled, "no figure has an interval");
    let mut intervals = 0;
    for one in model.shown() {
        has(&terminal, &one.name());
        has(&page, &one.name());
        let shares = [one.recall, one.precision, one.f_figure()].map(|figure| figure.share(share));
        for figure in shares.into_iter().chain([one.alone_duplicates.count()]).flatten() {
            intervals += usize::from(figure.interval.is_some());
            let ShownFigure { value, interval } = figure;
            let [of_terminal, of_page] = ["-", "–"].map(|dash| match &interval {
                Some([low, high]) => format!("{value} ({low}{dash}{high})"),
                None => value.clone(),
            });
            has(&terminal, &of_terminal);
            // The page shows a share of 1 without decimals.
            has(&page, &of_page.replace("1.000", "1"));
        }
    }
    assert!(intervals > 0);
    let oracle = model.oracle.as_ref().unwrap();
    has(&terminal, &format!("{} of them found by no algorithm", thousands(oracle.unseen)));
    has(&page, &format!("no algorithm found {} of them", thousands(oracle.unseen)));
}

#[test]
fn an_evaluation_has_the_same_figures_everywhere() {
    let out = RUN.out();
    let finished = Finished::open(&out).unwrap();
    let settings = Default::default();
    let (options, quotes) = (finished.options(&settings).unwrap(), truth_quotes(&settings));
    let (progress, cancel) = (Progress::hidden(), AtomicBool::new(false));
    let truth = vec![TRUTH.to_owned()];
    let model: EvaluationReport = study::evaluate(&finished, &options, &truth, quotes, &progress, &cancel).unwrap();
    let typed = printed("evaluate", &out, &["--truth", TRUTH, "--json"]).stdout;
    let model_as_json = json_of(&model);
    assert_eq!(serde_json::from_str::<Value>(&typed).unwrap(), model_as_json);
    let written = std::fs::read(out.join("evaluation/evaluation.json")).unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), model_as_json);
    let terminal = report::evaluation(&model, &out, true);
    for one in model.rows() {
        let row = terminal.lines().find(|line| line.trim_start().starts_with(&format!("{} ", one.label))).unwrap();
        let shown: Vec<&str> = row.trim_start()[one.label.len()..].split_whitespace().collect();
        let mut figures = vec![thousands(one.pairs)];
        figures.extend(one.figures().map(|figure| figure.map_or_else(|| "-".to_owned(), share)));
        assert_eq!(shown, figures, "{row}");
    }
}

#[test]
fn removals_have_the_same_doubt_everywhere() {
    let out = RUN.out();
    let (_, review, page) = reviewed(&out);
    let finished = Finished::open(&out).unwrap();
    let options = finished.options(&Default::default()).unwrap();
    let asked = ListOptions { what: Listed::Removed, limit: 10_000, worst: true, grep: None, source: None };
    let model = study::list(&finished, &options, &asked, &Progress::hidden(), &AtomicBool::new(false)).unwrap();
    let typed = printed("show", &out, &["--removed", "--worst", "--limit", "10000", "--json"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&typed).unwrap(), json_of(&model));
    let terminal = report::listing(&model, &out, 400);
    let text = text_of(&page);
    for one in &review.removed.sample {
        let row = model.rows.iter().find_map(|row| match row {
            ListedRow::Removal(row) if row.doc == one.doc => Some(row),
            _ => None,
        });
        let row = row.unwrap();
        assert_eq!((row.kept_doc, row.similarity, row.doubt), (one.kept, one.similarity, Some(one.doubt)));
        assert_eq!((row.other_title, row.others_as_near), (Some(one.other_title), Some(one.others_as_near)));
        let line = terminal.lines().find(|line| line.contains(&row.id) && line.contains(&row.kept_id)).unwrap();
        has(line.trim_start(), &share(one.doubt));
        let doubt = if one.doubt >= 1.0 { "1".to_owned() } else { share(one.doubt) };
        has(&text, &format!("(doubt {doubt}"));
    }
    assert!(review.removed.sample.is_sorted_by(|a, b| a.doubt >= b.doubt));
    // Each removal is in one group of each facet.
    let names: Vec<&str> = review.facets.iter().map(|facet| facet.name.as_str()).collect();
    assert_eq!(names, ["file", "source", "script", "length", "similarity"]);
    assert!(review.facets.iter().all(|facet| facet.of.len() == review.removed.sample.len()));
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
}

#[test]
fn lists_have_the_same_rows_everywhere() {
    let out = RUN.out();
    let finished = Finished::open(&out).unwrap();
    let options = finished.options(&Default::default()).unwrap();
    for (what, flag) in [(Listed::KeptSimilar, "--kept-similar"), (Listed::Clusters, "--clusters")] {
        let asked = ListOptions { what, limit: 30, worst: true, grep: None, source: None };
        let model = study::list(&finished, &options, &asked, &Progress::hidden(), &AtomicBool::new(false)).unwrap();
        let typed = printed("show", &out, &[flag, "--worst", "--limit", "30", "--json"]).stdout;
        assert_eq!(serde_json::from_str::<Value>(&typed).unwrap(), json_of(&model));
        let terminal = report::listing(&model, &out, 400);
        has(&terminal, &format!("{} of {} ", model.rows.len(), thousands(model.total)));
        let lines: Vec<&str> = terminal.lines().skip(1).take(model.rows.len()).collect();
        for (line, row) in lines.into_iter().zip(&model.rows) {
            let (doubt, figures, ids) = match row {
                ListedRow::Pair(row) => (row.doubt, vec![share(row.similarity), row.why.to_owned()], row.ids.to_vec()),
                ListedRow::Cluster(row) => {
                    (row.doubt, [row.size, row.removed].map(thousands).to_vec(), vec![row.cluster_id.clone()])
                }
                ListedRow::Removal(_) => panic!("a removal in {what:?}"),
            };
            assert!(line.trim_start().starts_with(&share(doubt)), "{line}");
            figures.iter().chain(&ids).for_each(|part| has(line, part));
        }
    }
}

#[test]
fn rules_have_the_same_figures_everywhere() {
    let (out, (_, review, page)) = (RUN.out(), reviewed(&RUN.out()));
    let page = text_of(&page);
    let finished = Finished::open(&out).unwrap();
    let options = finished.options(&Default::default()).unwrap();
    let model = study::rules(&finished, &options, &Progress::hidden(), &AtomicBool::new(false)).unwrap();
    let typed = printed("show", &out, &["--rules", "--json"]).stdout;
    assert_eq!(serde_json::from_str::<Value>(&typed).unwrap(), json_of(&model));
    let terminal = report::rule_table(&model, &out);
    for row in &model.rules {
        let line = terminal.lines().find(|line| line.trim_start().starts_with(&format!("{} ", row.rule))).unwrap();
        let about = if row.is_exact() { "" } else { "about " };
        has(line, &format!(" {about}{} ", thousands(row.removed)));
        assert_eq!(line.ends_with("this run"), row.of_the_run, "{line}");
    }
    let own = model.rules.iter().find(|row| row.of_the_run).unwrap();
    assert_eq!(own.removed, finished.report.removal.as_ref().unwrap().removed);
    has(&page, &format!("{} of {} documents removed", thousands(own.removed), thousands(model.documents)));
    let bounds = review.bounds.unwrap();
    let of_page = review.removed.under_rules(bounds).find(|(at, _)| *at == bounds.grams);
    assert_eq!(of_page.map(|(_, count)| count), Some(own.removed));
}

#[test]
fn a_sample_is_the_same_everywhere() {
    let out = RUN.out();
    let finished = Finished::open(&out).unwrap();
    let options = finished.options(&Default::default()).unwrap();
    let asked = SampleOptions { pairs: 20, by_similarity: true, by_source: false, seed: 3 };
    let model = study::sample(&finished, &options, &asked, &Progress::hidden(), &AtomicBool::new(false)).unwrap();
    let words = ["--pairs", "20", "--by", "similarity", "--seed", "3"];
    let typed = printed("sample", &out, &[&words[..], &["--json"]].concat()).stdout;
    assert_eq!(serde_json::from_str::<Value>(&typed).unwrap(), json_of(&model));
    let terminal = printed("sample", &out, &words).stdout;
    assert_eq!(terminal, report::label_table(&model));
    for (line, one) in terminal.lines().skip(1).zip(&model.pairs) {
        assert_eq!(line, format!("{},{},,{:.3},{}", one.id_a, one.id_b, one.weight, share(one.similarity.unwrap())));
    }
    let weights: f64 = model.pairs.iter().map(|one| one.weight).sum();
    assert!((weights - model.removals as f64).abs() < 1e-6, "{weights}");
}

#[test]
fn a_drawn_removal_is_explained_as_by_its_ids() {
    let out = RUN.out();
    let finished = Finished::open(&out).unwrap();
    let options = finished.options(&Default::default()).unwrap();
    let (progress, cancel) = (Progress::hidden(), AtomicBool::new(false));
    for (choice, words) in [(Choice::Worst, ["--worst"].as_slice()), (Choice::Drawn(2), &["--seed", "2"])] {
        let explained = study::explain_any(&finished, &options, choice, &progress, &cancel).unwrap();
        let typed = printed("explain", &out, &[words, &["--json"]].concat()).stdout;
        assert_eq!(serde_json::from_str::<Value>(&typed).unwrap(), json_of(&explained));
        let ids = explained.documents.each_ref().map(|one| one.id.clone());
        let by_ids = study::explain(&finished, &options, &ids, false, &progress, &cancel).unwrap();
        assert_eq!(json_of(&by_ids)["contained"], json_of(&explained)["contained"]);
        let terminal = report::explanation(&explained, Screen { width: 200, colours: false, full: false });
        ids.iter().for_each(|id| has(&terminal, id));
        has(&terminal, "a was removed in favor of b");
    }
}
