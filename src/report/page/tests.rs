//! Tests the page for a sample record: its content is correct, and nothing can be injected into it.

use std::collections::BTreeMap;

use super::*;
use dupsift_engine::engine::StageReport;
use dupsift_engine::job::{AcceptedReport, AlgorithmReport, DocumentsReport, GuardReport, InputReport, RemovalReport};
use dupsift_engine::reading::SourceReport;
use dupsift_study::{
    AdviceReport, Agreement, AlgorithmReview, BINS, CombinationReport, ComparedReport, ComparisonReport, Crossing,
    Figure, JudgeReport, LargeCluster, Member, OracleReport, PairSample, ShownText, SourceReview,
};

const EVIL: &str = "<script>alert('x')</script> \"quoted\" & \u{202E}turned\u{0}\u{1B}[31m";

fn report() -> RunReport {
    let one = |label: &str, recipe: &str| AlgorithmReport {
        label: label.into(),
        recipe: recipe.into(),
        verify: Some("jaccard:0.7".into()),
        signed: 9,
        unsigned: BTreeMap::from([("no shingles".to_string(), 1)]),
        pairs: 4,
        pairs_written: 4,
        clusters: 1,
        clustered: 3,
        largest_cluster: 3,
        expected_chance_collisions: Some(0.001),
        ..AlgorithmReport::default()
    };
    RunReport {
        dupsift: "0.1.0".into(),
        inputs: vec![InputReport { file: EVIL.into(), rows: 10, ..InputReport::default() }],
        documents: DocumentsReport { rows: 10, used: 10, ..DocumentsReport::default() },
        algorithms: vec![one("minhash", "minhash:bands=14,rows=8,verify=jaccard:0.7"), one("tf", "tf:")],
        removal: Some(RemovalReport {
            remove_if: "contained:0.8:0.9".into(),
            stays: [("unique text".to_string(), 3)].into(),
            not_looked_at: 0,
            keep: "length desc".into(),
            decide: "any".into(),
            removed: 2,
            kept: 8,
            ..Default::default()
        }),
        stages: vec![StageReport { stage: "sign".into(), rows_in: 10, ..StageReport::default() }],
        guards: vec![GuardReport {
            sentence: format!("more than half of {EVIL} is removed"),
            ..GuardReport::default()
        }],
        ..RunReport::default()
    }
}

fn review() -> Review {
    let mut scores = [0; BINS];
    (scores[15], scores[BINS - 1]) = (3, 1);
    let text = |id: &str| ShownText { id: id.into(), text: EVIL.into(), longer: true, ..ShownText::default() };
    let mut seen = AlgorithmReview { scores, ..AlgorithmReview::default() };
    seen.clusters.sizes.insert(3, 1);
    let pair = PairSample { algorithm: 0, a: 1, b: 2, similarity: 0.7512 };
    let crossing = Crossing {
        names: vec![EVIL.into(), "(none)".into()],
        documents: vec![7, 3],
        paired: vec![2, 1],
        removed: vec![1, 0],
        pairs: vec![vec![3, 1], vec![0, 0]],
        others: 0,
    };
    Review {
        algorithms: vec![seen.clone(), seen],
        agreement: Agreement(vec![vec![4, 2], vec![2, 4]]),
        pooled: 6,
        files: crossing.clone(),
        sources: SourceReview { column: Some("source".into()), crossing: Some(crossing), notes: Vec::new() },
        deciding: vec!["minhash".into(), "tf".into()],
        large: vec![LargeCluster {
            algorithm: 1,
            size: 3,
            representative: 1,
            equal: 0,
            members: vec![Member { doc: 2, similarity: None }],
        }],
        least: vec![pair],
        samples: vec![vec![], vec![pair]],
        texts: BTreeMap::from([(1, text("a")), (2, text(EVIL))]),
        ..Review::default()
    }
}

fn estimate(value: f64, low: f64, high: f64) -> Figure {
    Figure { value: Some(value), low: Some(low), high: Some(high) }
}

#[test]
fn the_page_shows_texts_and_is_moved_by_none() {
    let page = page(&report(), &review()).unwrap();
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">") && page.ends_with("</html>"));
    let policy =
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; ";
    let (before, after) = page.split_once(policy).expect("a policy");
    // The policy applies only to the content after it, so it has to come first.
    assert!(before.ends_with("<meta charset=\"utf-8\">"), "{before}");
    // The page contains no script except its own.
    assert!(page.matches("<script").count() == 1 && after.contains(SCRIPT), "{page}");
    assert!(!after.contains("http") && !after.contains("src="), "{page}");
    assert!(page.contains("&lt;script&gt;alert('x')&lt;/script&gt; &quot;quoted&quot; &amp; [U+202E]turned␀␛[31m"));
    assert!(page.chars().all(|letter| letter == '\n' || letter == '\t' || !letter.is_control()));
    for told in [
        "2 of 10 documents removed",
        "guard: more than half of",
        "Pairs by similarity",
        "<strong>0.751</strong> minhash: ",
        "Not paired with the first document",
        "14 bands of 8 rows",
        "no shingles",
        "By column source",
    ] {
        assert!(page.contains(told), "{told} is missing");
    }
    assert!(!page.contains("NaN") && !page.contains("inf"));
    assert_eq!(page, super::page(&report(), &review()).unwrap());
}

#[test]
fn the_line_that_unfolds_a_pair_says_what_becomes_of_it() {
    let mut review = review();
    let told = |review: &Review, fate: &str| {
        let page = page(&report(), review).expect("a page");
        assert!(page.contains(&format!("<small class=\"muted\">({fate})</small></summary>")), "{fate}");
    };
    told(&review, "both were kept");
    review.removed.fates.entry(1).or_default().kept = 2;
    told(&review, "the first was removed");
    review.removed.fates.entry(1).or_default().kept = 9;
    told(&review, "the first was removed in favor of another document");
    review.removed.fates.entry(2).or_default().kept = 1;
    told(&review, "the second was removed");
    review.removed.fates.entry(2).or_default().kept = 9;
    told(&review, "both were removed in favor of another document");
    let nothing_goes = page(&RunReport { removal: None, ..report() }, &review).expect("a page");
    assert!(!nothing_goes.contains("<small class=\"muted\">"));
}

#[test]
fn what_goes_by_the_column_that_was_asked_for_is_counted() {
    let source =
        |name: &str, removed| SourceReport { source: name.into(), rows: 8, removed, ..SourceReport::default() };
    let sources = vec![source("en", 1), source(EVIL, 2)];
    let options = BTreeMap::from([("source-column".to_string(), "lang".into())]);
    let shown = page(&RunReport { sources, options, ..report() }, &review()).expect("a page");
    let (before, rows) = shown.split_once("Removals by column lang").expect("the table");
    assert!(before.contains("Where duplicates come from"));
    let row = "en</th><td>8</td><td>1</td><td>12.5%</td>";
    let most = "<td>8</td><td>2</td><td>25.0%</td>";
    assert!(rows.find(most).expect(most) < rows.find(row).expect(row));
    assert!(!page(&report(), &review()).expect("a page").contains("Removals by the column"));
}

#[test]
fn long_names_stand_whole_in_titles_alone() {
    let name = "длинное имя ".repeat(30);
    let mut review = review();
    if let Some(crossing) = &mut review.sources.crossing {
        crossing.names[0] = name.clone();
    }
    review.texts.insert(1, ShownText { id: name.clone(), text: "text".into(), ..ShownText::default() });
    let page = page(&report(), &review).unwrap();
    let in_titles = page.matches(&format!("title=\"{name}\"")).count();
    // The name occurs in a table, on both sides of a matrix, and wherever the id of a document is shown.
    assert!(in_titles >= 4 && page.matches(&name).count() == in_titles, "{in_titles}");
    assert!(page.contains(&format!("{}…", name.chars().take(40).collect::<String>())));
}

#[test]
fn every_link_of_the_contents_leads_somewhere() {
    let page = page(&report(), &review()).unwrap();
    let links: Vec<&str> = page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() >= 11);
    for link in links {
        assert_eq!(page.matches(&format!(" id=\"{link}\"")).count(), 1, "{link}");
    }
}

#[test]
fn an_empty_run_has_a_page() {
    let page = page(&RunReport::default(), &Review::default()).unwrap();
    assert!(page.contains("0 documents, 0 algorithms compared") && page.contains("There are no clusters."));
    assert!(!page.contains("NaN") && !page.contains("inf") && !page.contains("id=\"bands\""));
}

#[test]
fn without_texts_the_page_says_why() {
    let review = Review { texts: BTreeMap::new(), no_texts: Some("the corpus is gone".into()), ..review() };
    let page = page(&report(), &review).unwrap();
    assert!(page.contains(&format!("{}the corpus is gone", dupsift_study::NO_TEXTS)) && page.contains("document 1"));
}

#[test]
fn a_comparison_is_shown_with_its_intervals() {
    let compared = |label: &str, recall| ComparedReport {
        label: label.into(),
        pairs: 1200,
        judged: 400,
        recall,
        precision: Figure::default(),
        f: Some(0.755),
        f_low: Some(0.7),
        f_high: Some(0.8),
        alone_duplicates: estimate(12.0, 12.0, 12.0),
        oracle_recall: Some(estimate(0.5, 0.5, 0.5)),
        ..ComparedReport::default()
    };
    // The setting with the highest F comes first, as in the terminal.
    let last = ComparedReport { f: Some(0.9), preset: true, ..compared("broad", estimate(0.9, 0.9, 0.9)) };
    let comparison = ComparisonReport {
        judge: JudgeReport { name: "lcs:0.85".into(), sampled: true, sample: 400, ..JudgeReport::default() },
        pooled: 2000,
        duplicates: estimate(1500.0, 1400.0, 1600.0),
        algorithms: vec![
            compared("minhash", estimate(0.61, 0.58, 0.64)),
            compared("tf", estimate(0.5, 0.499, 0.501)),
            last,
        ],
        advice: Some(AdviceReport { sentence: "for this corpus, use tf".into(), ..AdviceReport::default() }),
        agreement: vec![vec![4, 1, 0], vec![1, 2, 0], vec![0, 0, 0]],
        combinations: vec![CombinationReport {
            labels: vec!["minhash".into(), "tf".into()],
            how: "union".into(),
            f: Some(0.9),
            ..CombinationReport::default()
        }],
        oracle: Some(OracleReport { documents: 100, judged: 4_950, duplicates: 30, unseen: 7, undecided: 0 }),
    };
    let nothing = page(&RunReport { removal: None, ..report() }, &review()).expect("a page");
    let page = page(&report(), &Review { comparison: Some(comparison), ..review() }).unwrap();
    for told in [
        "lcs:0.85",
        "1,500 (1,400–1,600)",
        "0.610 (0.580–0.640)",
        "<td>0.500</td>",
        "<td>–</td>",
        "0.755 (0.700–0.800)",
        "minhash + tf",
        "ranked by estimated F",
        "95% confidence intervals",
        "30 duplicate pairs",
        "no algorithm found 7 of them",
        "For this corpus, use tf.",
        "2 algorithms and 1 preset",
        "Recall is relative to the pool: ",
        "duplicates alone",
        ">20</td>",
    ] {
        assert!(page.contains(told), "{told} is missing");
    }
    // The recommendation precedes everything else.
    assert!(page.find("For this corpus, use tf.") < page.find("<dl class=\"ran\">"));
    let row = |name: &str| page.find(&format!("<th scope=\"row\">{name}</th><td>")).expect(name);
    assert!(row("preset broad") < row("minhash") && row("minhash") < row("tf"));
    // A comparison removes nothing, so removals are not mentioned at the top.
    assert!(nothing.contains("10 documents, 2 algorithms compared") && !nothing.contains("<dt>Removed</dt>"));
}

#[test]
fn the_page_of_an_accepted_result_differs_in_its_remarks_alone() {
    let mut report = report();
    report.guards[0].held = true;
    let held = page(&report, &review()).expect("a page");
    report.accepted = Some(AcceptedReport { time: "2026".into(), reason: Some(EVIL.into()), output: EVIL.into() });
    let accepted = accepted_page(&held, &report).expect("it says where its remarks are");
    assert!(held.contains("guard (held back): more") && !accepted.contains("(held back)"));
    assert!(accepted == page(&report, &review()).expect("a page"));
    assert!(accepted_page(&accepted, &report).expect("again") == accepted);
    assert_eq!(accepted_page("<html>", &report), None);
}
