//! Tests `dupsift compare`. Compares the record of the study with the tables of the run and with a simple implementation of the judge. Also
//! compares the results of sampling with the results of complete judging, and the exact join with a comparison of all pairs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dupsift_text::{Pipeline, TextOptions};
use serde_json::Value;

use crate::kit::{
    ALL, Doc, Ran, SEVEN, Table, assert_same_bytes, doc_pairs, labels, members, numbered, program, read_docs, record,
    run, samples, write_docs,
};

fn compare(input: &Path, out: &Path, more: &[&str]) -> Ran {
    let mut command = program();
    command.arg("compare").arg(input).arg("--out").arg(out).args(["--memory", "512MiB", "--no-progress"]);
    if !more.contains(&"--threads") {
        command.args(["--threads", "2"]);
    }
    Ran::of(command.args(more).output().unwrap())
}

/// Returns the content of `comparison.json`.
fn study(out: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(out.join("compare/comparison.json")).unwrap()).unwrap()
}

/// Returns the study without its times, which differ from run to run.
fn lasting(mut study: Value) -> Value {
    study["judge"]["cpu_seconds"] = Value::Null;
    for list in ["algorithms", "combinations"] {
        study[list].as_array_mut().unwrap().iter_mut().for_each(|one| one["cpu_seconds"] = Value::Null);
    }
    study
}

/// Returns the pairs of all algorithms in an output, each with the algorithms that found it.
fn pool(out: &Path) -> BTreeMap<(usize, usize), BTreeSet<String>> {
    let mut pool: BTreeMap<_, BTreeSet<String>> = BTreeMap::new();
    for label in labels(out) {
        // Pages from the same template are not duplicates.
        let relations = Table::read(&out.join(format!("pairs/algorithm={label}"))).texts("relation");
        let duplicates =
            doc_pairs(out, &label).into_iter().zip(relations).filter(|(_, relation)| relation != "template");
        duplicates.for_each(|(pair, _)| _ = pool.entry(pair).or_default().insert(label.clone()));
    }
    pool
}

/// Returns seven algorithms and a loose algorithm with these bands, which finds pairs that are not duplicates.
fn eight(bands: &str) -> String {
    format!("{SEVEN},minhash:{bands},verify=none,as=loose")
}

/// Computes 2 LCS / (a + b) of canonical texts with the textbook dynamic-programming table.
fn similarity(a: &[char], b: &[char]) -> f64 {
    let mut row = vec![0usize; b.len() + 1];
    for x in a {
        let mut before = 0;
        for (at, y) in b.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if x == y { before + 1 } else { above.max(row[at]) };
            before = above;
        }
    }
    2.0 * row[b.len()] as f64 / (a.len() + b.len()) as f64
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[track_caller]
fn near(value: &Value, expected: f64) {
    assert!((number(value) - expected).abs() < 1e-9, "{value} is not {expected}");
}

#[test]
fn the_study_is_what_a_plain_count_gives() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (samples().join("zh.parquet"), folder.path().join("out"));
    // One band with one row gives a loose algorithm that misses some pairs.
    let algorithms = "exact,long_sent,tf,tf_idf,simhash,minhash:bands=1,rows=1,verify=none,as=loose";
    let more = ["--limit", "300", "--algorithms", algorithms, "--oracle-sample", "100000", "--judge", "lcs:0.85"];
    let told = compare(&input, &out, &more).ends_with(0);
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let canonical = |doc: &Doc| -> Vec<char> { pipeline.analyse(&doc.text).canonical().chars().collect() };
    let texts: Vec<Vec<char>> = read_docs(&input).iter().take(300).map(canonical).collect();
    let sorted =
        texts.iter().map(|text| BTreeMap::from_iter(text.iter().map(|x| (x, text.iter().filter(|y| x == *y).count()))));
    let counts: Vec<BTreeMap<&char, usize>> = sorted.collect();
    let (study, pool) = (study(&out), pool(&out));
    // The table is computed only if the texts have enough characters in common, in any order.
    let similar = |&(a, b): &(usize, usize)| {
        let common: usize = counts[a].iter().map(|(x, n)| counts[b].get(x).map_or(0, |m| *n.min(m))).sum();
        let most = 2.0 * common as f64 / (texts[a].len() + texts[b].len()) as f64;
        if most < 0.85 { most } else { similarity(&texts[a], &texts[b]) }
    };
    let judged: BTreeMap<(usize, usize), f64> = pool.keys().map(|pair| (*pair, similar(pair))).collect();
    let right = |pairs: &[&(usize, usize)]| pairs.iter().filter(|pair| judged[*pair] >= 0.85).count() as f64;
    let duplicates = right(&judged.keys().collect::<Vec<_>>());
    assert!(
        duplicates > 20.0 && duplicates + 10.0 < pool.len() as f64,
        "{duplicates} of {} decide nothing",
        pool.len()
    );
    assert_eq!(study["pooled"].as_u64(), Some(pool.len() as u64));
    assert_eq!(study["judge"]["judged"].as_u64(), Some(pool.len() as u64));
    assert_eq!((&study["judge"]["sampled"], &study["judge"]["name"]), (&false.into(), &"lcs:0.85".into()));
    for end in ["value", "low", "high"] {
        near(&study["duplicates"][end], duplicates);
    }

    let algorithms = study["algorithms"].as_array().unwrap();
    let names: Vec<&str> = algorithms.iter().map(|one| one["label"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 6);
    let of = |label: &str| -> Vec<&(usize, usize)> {
        pool.iter().filter(|(_, found)| found.contains(label)).map(|(pair, _)| pair).collect()
    };
    for (one, label) in algorithms.iter().zip(&names) {
        let pairs = of(label);
        let (recall, precision) = (right(&pairs) / duplicates, right(&pairs) / pairs.len() as f64);
        near(&one["recall"]["value"], recall);
        if pairs.is_empty() {
            assert!(one["precision"]["value"].is_null() && one["f"].is_null(), "{one}");
        } else {
            near(&one["precision"]["value"], precision);
            near(&one["precision"]["low"], precision);
            for name in ["f", "f_low", "f_high"] {
                near(&one[name], 2.0 * precision * recall / (precision + recall));
            }
        }
        let alone: Vec<_> = pairs.into_iter().filter(|pair| pool[*pair].len() == 1).collect();
        assert_eq!(one["alone"].as_u64(), Some(alone.len() as u64), "{label}");
        near(&one["alone_duplicates"]["value"], right(&alone));
        assert!(told.stdout.contains(label));
    }
    for (a, row) in names.iter().zip(study["agreement"].as_array().unwrap()) {
        for (b, common) in names.iter().zip(row.as_array().unwrap()) {
            let expected = pool.values().filter(|found| found.contains(*a) && found.contains(*b)).count();
            assert_eq!(common.as_u64(), Some(expected as u64), "{a} and {b}");
        }
    }
    for one in study["combinations"].as_array().unwrap() {
        let labels: Vec<&str> = one["labels"].as_array().unwrap().iter().map(|label| label.as_str().unwrap()).collect();
        let union = one["how"] == "union";
        let inside = |found: &BTreeSet<String>| {
            let of = labels.iter().filter(|label| found.contains(**label)).count();
            if union { of > 0 } else { of == labels.len() }
        };
        let pairs: Vec<_> = pool.iter().filter(|(_, found)| inside(found)).map(|(pair, _)| pair).collect();
        let (recall, precision) = (right(&pairs) / duplicates, right(&pairs) / pairs.len() as f64);
        assert_eq!(one["pairs"].as_u64(), Some(pairs.len() as u64), "{labels:?}");
        let f = 2.0 * precision * recall / (precision + recall);
        near(&one["f"], f);
        assert!(labels.iter().all(|label| {
            algorithms[names.iter().position(|n| n == label).unwrap()]["f"].as_f64().is_none_or(|own| own < f)
        }));
    }

    // Checks the table of judged pairs.
    let table = Table::read(&out.join("compare/pairs.parquet"));
    let (a, b) = (table.numbers("doc_a"), table.numbers("doc_b"));
    let (found_by, similarity, duplicate) =
        (table.texts("found_by"), table.floats("similarity"), table.flags("duplicate"));
    assert_eq!(table.len(), pool.len());
    for (row, (pair, found)) in pool.iter().enumerate() {
        assert_eq!((a[row] as usize, b[row] as usize), *pair);
        assert_eq!(&found_by[row].split(',').map(str::to_string).collect::<BTreeSet<_>>(), found);
        assert_eq!(duplicate[row], judged[pair] >= 0.85);
        assert_eq!(similarity[row], duplicate[row].then_some(judged[pair] as f32), "{pair:?}");
    }

    // Judges every pair of documents, whether or not an algorithm found it.
    let (mut all, mut unseen, mut found) = (0, 0, BTreeMap::new());
    for a in 0..texts.len() {
        for b in a + 1..texts.len() {
            if similar(&(a, b)) >= 0.85 {
                all += 1;
                let finders = pool.get(&(a, b));
                unseen += u64::from(finders.is_none());
                finders.into_iter().flatten().for_each(|label| *found.entry(label.clone()).or_insert(0) += 1);
            }
        }
    }
    assert!(unseen > 0, "every duplicate was found: nothing is shown of those that were not");
    let oracle = &study["oracle"];
    assert_eq!(oracle["documents"].as_u64(), Some(texts.len() as u64));
    assert_eq!((oracle["duplicates"].as_u64(), oracle["unseen"].as_u64()), (Some(all), Some(unseen)));
    for (one, label) in algorithms.iter().zip(&names) {
        let recall = found.get(*label).copied().unwrap_or(0) as f64 / all as f64;
        near(&one["oracle_recall"]["value"], recall);
        near(&one["oracle_recall"]["high"], recall);
    }
}

#[test]
fn threads_do_not_show() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let more = ["--algorithms", ALL, "--oracle-sample", "200", "--seed", "7"];
    compare(samples(), &one, &[&more[..], &["--threads", "1"]].concat()).ends_with(0);
    compare(samples(), &two, &more).ends_with(0);
    let (one, two) = (lasting(study(&one)), lasting(study(&two)));
    assert_eq!(one, two);
    assert_eq!(one["algorithms"].as_array().unwrap().len(), members());
    assert_eq!(one["oracle"]["documents"].as_u64(), Some(200));
}

#[test]
fn a_sample_is_one_of_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let judged = |name: &str, most: &str| {
        let (out, algorithms) = (folder.path().join(name), eight("bands=40,rows=1"));
        let told = compare(samples(), &out, &["--algorithms", &algorithms, "--judge-sample", most, "--seed", "1"]);
        (lasting(study(&out)), told.ends_with(0).stdout)
    };
    let (whole, told) = judged("whole", "100000000");
    assert!(whole["judge"]["sampled"] == false && !told.contains("(0."), "{told}");
    assert_eq!(whole["judge"]["judged"], whole["pooled"]);

    // If the sample size equals the largest number of pairs found by any algorithm, all pairs are judged.
    let most = whole["algorithms"].as_array().unwrap().iter().map(|one| one["pairs"].as_u64().unwrap()).max().unwrap();
    let (mut all, _) = judged("all", &most.to_string());
    all["judge"]["sample"] = whole["judge"]["sample"].clone();
    assert_eq!(whole, all);

    let (some, told) = judged("some", "200");
    assert!(told.contains(" (0.") && told.contains("sampled: for algorithms with more than 200 pairs"), "{told}");
    assert_eq!((&some["judge"]["sampled"], &some["agreement"]), (&true.into(), &whole["agreement"]));
    let count = |study: &Value| study["judge"]["judged"].as_u64().unwrap();
    assert!(count(&some) > 200 && count(&some) < count(&whole) / 2, "{}", count(&some));
    let algorithms = |study: &Value| study["algorithms"].as_array().unwrap().clone();
    let (mut held, mut sampled) = (0, 0);
    for (one, known) in algorithms(&some).iter().zip(&algorithms(&whole)) {
        assert_ne!(one["judged"], one["pairs"], "each has more than 200 pairs");
        for figure in ["recall", "precision", "alone_duplicates"] {
            let end = |end: &str| number(&one[figure][end]);
            let known = number(&known[figure]["value"]);
            assert!(end("low") <= end("value") && end("value") <= end("high"), "{one}");
            sampled += 1;
            held += usize::from(end("low") - 1e-9 <= known && known <= end("high") + 1e-9);
        }
    }
    for (one, known) in algorithms(&some).iter().zip(&algorithms(&whole)) {
        let (low, high, known) = (number(&one["f_low"]), number(&one["f_high"]), number(&known["f"]));
        assert!(low < high && low <= number(&one["f"]) && number(&one["f"]) <= high, "{one}");
        sampled += 1;
        held += usize::from(low <= known && known <= high);
    }
    assert!(held * 10 >= sampled * 9, "{held} of {sampled} intervals hold the figure of all pairs");
}

/// Checks that the output equals the output of a run, byte for byte, and can be replaced in the same way.
#[test]
fn a_comparison_is_a_run_with_a_study() {
    let folder = tempfile::tempdir().unwrap();
    let (left, right) = (folder.path().join("compared"), folder.path().join("run"));
    let more = ["--algorithms", "exact,minhash"];
    let told = compare(samples(), &left, &more).ends_with(0);
    run(&[samples()], &right, &[&more[..], &["--remove-if", "pair"]].concat()).ends_with(0);
    // A comparison removes nothing and does not mention removals.
    assert!(right.join("removed").exists() && !left.join("removed").exists());
    std::fs::remove_dir_all(right.join("removed")).unwrap();
    assert_same_bytes(&left, &right, "compare and run");
    let (compared, ran) = (record(&left), record(&right));
    for field in ["recipe", "documents"] {
        assert_eq!(compared[field], ran[field], "{field}");
    }
    assert!(compared["removal"].is_null() && ran["removal"]["removed"].as_u64() > Some(0));
    let page = std::fs::read_to_string(left.join("report.html")).unwrap();
    assert!(!page.contains("<dt>Removed</dt>") && !page.contains(" removed</title>"));
    assert!(!told.stdout.contains("removed:") && !told.stdout.contains("dupsift apply"), "{}", told.stdout);
    // Commands that read the output of a run also read the output of a comparison.
    for more in [&["report"][..], &["explain", "0", "1", "--docs"]] {
        let mut command = program();
        command.arg(more[0]).arg(&left).args(&more[1..]).args(["--no-progress", "--threads", "2"]);
        Ran::of(command.output().unwrap()).ends_with(0);
    }
    assert!(compared["stages"].to_string().contains("\"judge\""));
    compare(samples(), &left, &["--algorithms", "exact", "--judge", "words:0.9", "--overwrite"]).ends_with(0);
    assert_eq!(study(&left)["judge"]["name"], "words:0.9");
    assert!(study(&left)["combinations"].as_array().unwrap().is_empty());
}

/// Checks that a preset is the union of its algorithms, that each algorithm runs once, and that `run` rejects options that are only for
/// `compare`.
#[test]
fn presets_are_entries() {
    let folder = tempfile::tempdir().unwrap();
    let (out, plain) = (folder.path().join("out"), folder.path().join("plain"));
    let told =
        compare(samples(), &out, &["--algorithms", "tf,versions:threshold=0.7,strict,balanced,broad"]).ends_with(0);
    assert_eq!(labels(&out), ["balanced_versions", "broad_minhash", "exact", "minhash", "tf", "versions"]);
    let (study, pool) = (study(&out), pool(&out));
    let algorithms = study["algorithms"].as_array().unwrap();
    let parts: [(&str, &[&str]); 5] = [
        ("tf", &["tf"]),
        ("versions", &["versions"]),
        ("strict", &["exact", "minhash"]),
        ("balanced", &["exact", "balanced_versions"]),
        ("broad", &["exact", "balanced_versions", "broad_minhash"]),
    ];
    assert_eq!(algorithms.len(), parts.len());
    for (one, (name, members)) in algorithms.iter().zip(parts) {
        assert_eq!((&one["label"], &one["members"]), (&name.into(), &members.into()));
        assert_eq!(one["preset"].as_bool(), Some(members.len() > 1), "{name}");
        let found = pool.values().filter(|found| members.iter().any(|member| found.contains(*member)));
        assert_eq!(one["pairs"].as_u64(), Some(found.count() as u64), "{name}");
    }
    // `broad` also finds every pair of `balanced`, so it does not count as a separate finder.
    let alone = |name: &str, related: &[&str]| {
        let found =
            |found: &&BTreeSet<String>| found.contains(name) && found.iter().all(|one| related.contains(&one.as_str()));
        pool.values().filter(found).count() as u64
    };
    assert_eq!(
        algorithms[3]["alone"].as_u64(),
        Some(alone("balanced_versions", &["balanced_versions", "exact", "broad_minhash"]))
    );
    assert_eq!(algorithms[0]["alone"].as_u64(), Some(alone("tf", &["tf"])));
    assert_eq!(study["agreement"][3][4], study["agreement"][3][3]);
    let advice = dupsift_engine::options::Spelling::Flags.of(study["advice"]["sentence"].as_str().unwrap());
    assert!(told.stdout.ends_with(&format!("{advice}\n")) && advice.starts_with("for this corpus, use `"), "{advice}");
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    let lead = format!("F{}.", advice.strip_prefix('f').unwrap());
    assert!(page.contains(&lead) && page.contains("preset balanced"));
    // The terminal and the page show the same number of compared settings.
    let compared = told.stdout.split_once("found by ").and_then(|(_, rest)| rest.split_once(';')).unwrap().0;
    assert!(page.contains(&format!(" were found by at least one of {compared}; the judge ")), "{compared}");
    assert!(page.contains(&format!("{compared} compared")), "{compared}");

    // The sample is drawn from the union, whose size is counted.
    let sampled = folder.path().join("sampled");
    compare(samples(), &sampled, &["--algorithms", "tf,balanced", "--judge-sample", "900"]).ends_with(0);
    let one = &self::study(&sampled)["algorithms"][1];
    let (pairs, judged) = (one["pairs"].as_u64().unwrap(), one["judged"].as_u64().unwrap());
    assert_eq!(Some(pairs), algorithms[3]["pairs"].as_u64());
    assert!(judged < pairs && judged > 800, "{judged} of {pairs}");

    run(&[samples()], &plain, &["--algorithms", "tf,balanced"])
        .ends_with(2)
        .says(&["balanced is a preset", "`--preset balanced`"]);
    compare(samples(), &plain, &["--algorithms", "balanced,balanced"]).ends_with(2).says(&["balanced", "twice"]);
    compare(samples(), &plain, &["--remove-if", "pair"]).ends_with(2).says(&["--remove-if"]);
}

/// Checks that two pages from the same template do not count as a pair of the algorithm that classifies them as such, and are not sampled
/// for this algorithm, even if other algorithms report them.
#[test]
fn a_sample_holds_no_forms() {
    let folder = tempfile::tempdir().unwrap();
    let algorithms = "versions,versions:relate=false,join=exact,as=all";
    let judged = |name: &str, most: &str| {
        let out = folder.path().join(name);
        compare(samples(), &out, &["--algorithms", algorithms, "--judge-sample", most, "--seed", "3"]).ends_with(0);
        out
    };
    let (whole, some) = (judged("whole", "100000000"), judged("some", "200"));
    let relations = Table::read(&some.join("pairs/algorithm=versions")).texts("relation");
    let forms: BTreeSet<(usize, usize)> = doc_pairs(&some, "versions")
        .into_iter()
        .zip(relations)
        .filter(|(_, one)| one == "template")
        .map(|one| one.0)
        .collect();
    let pool = pool(&some);
    let of = |label: &str| pool.values().filter(|found| found.contains(label)).count() as u64;
    let (whole, study) = (study(&whole), study(&some));
    assert_eq!((&study["judge"]["sampled"], study["pooled"].as_u64()), (&true.into(), Some(pool.len() as u64)));
    for (at, label) in ["versions", "all"].into_iter().enumerate() {
        let one = &study["algorithms"][at];
        assert_eq!((&one["label"], one["pairs"].as_u64()), (&label.into(), Some(of(label))));
        let (judged, known) = (one["judged"].as_u64().unwrap(), number(&whole["algorithms"][at]["precision"]["value"]));
        assert!(judged > 150 && judged < of(label), "{label}: {judged} of {}", of(label));
        let end = |end: &str| number(&one["precision"][end]);
        assert!(end("low") <= known && known <= end("high"), "{label}: {known} in {}", one["precision"]);
    }
    let table = Table::read(&some.join("compare/pairs.parquet"));
    let docs = table.numbers("doc_a").into_iter().zip(table.numbers("doc_b"));
    let (mut seen, mut of_versions) = (0, 0);
    for ((a, b), found_by) in docs.zip(table.texts("found_by")) {
        let pair = (a as usize, b as usize);
        assert_eq!(&found_by.split(',').map(str::to_string).collect::<BTreeSet<_>>(), &pool[&pair]);
        seen += usize::from(forms.contains(&pair));
        of_versions += usize::from(pool[&pair].contains("versions"));
    }
    assert!(forms.len() > 80 && seen > 10 && of_versions > 150, "{} forms, {seen} judged, {of_versions}", forms.len());
}

#[test]
fn every_preset_is_compared_where_nothing_is_typed() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("a.parquet"), folder.path().join("out"));
    let texts: Vec<String> =
        read_docs(&samples().join("en.parquet")).into_iter().take(60).map(|doc| doc.text).collect();
    write_docs(&input, &numbered(texts), 10);
    let told = compare(&input, &out, &[]).ends_with(0);
    let study = study(&out);
    assert_eq!(study["algorithms"].as_array().unwrap().len(), members() + dupsift_algorithms::recipe::PRESETS.len());
    assert_eq!(study["judge"]["name"], "versions:0.8");
    assert!(
        told.stdout.contains("31 algorithms and 4 presets") && told.stdout.contains("recall is relative to the pool"),
        "{}",
        told.stdout
    );
}

/// Checks that identical texts are duplicates according to every judge, even if they contain no words, and that the exact join finds them
/// even if only a few of their pairs are written.
#[test]
fn copies_are_duplicates_to_every_judge_and_in_groups_of_any_size() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("a.parquet");
    let long = (0..120).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    let copies = |text: &str, times: usize| vec![text.to_string(); times];
    let texts =
        [copies(&long, 8), copies(&format!("{long} more"), 8), copies("...", 5), copies("😀", 3), copies(" ", 4)];
    write_docs(&input, &numbered(texts.concat()), 10);
    for judge in ["versions", "lcs:0.85", "words:0.9", "jaccard:0.5"] {
        let studies = ["1000", "3"].map(|most| {
            let out = folder.path().join(format!("{judge}-{most}"));
            let more = ["--algorithms", "exact,minhash,balanced", "--oracle-sample", "1000", "--judge", judge];
            // The four blank texts are rejected.
            compare(&input, &out, &[&more[..], &["--max-group", most]].concat()).ends_with(3);
            study(&out)
        });
        // The copies of each of the two similar texts form 28 pairs, and these texts form 64 pairs with each other. The copies of the two
        // texts without words form 10 and 3 pairs.
        for study in &studies {
            let oracle = &study["oracle"];
            let counts = ["documents", "duplicates", "unseen"].map(|name| oracle[name].as_u64().unwrap());
            assert_eq!(counts, [24, 133, 0], "{judge}");
            for (at, recall) in [69.0 / 133.0, 1.0, 1.0].into_iter().enumerate() {
                near(&study["algorithms"][at]["oracle_recall"]["value"], recall);
                near(&study["algorithms"][at]["precision"]["value"], 1.0);
            }
        }
        assert_eq!(studies[0]["oracle"], studies[1]["oracle"]);
    }
    // A comparison does not decide which documents are removed.
    let explained = program().arg("explain").arg(folder.path().join("versions-3")).args(["d0", "d8"]).output().unwrap();
    let said = Ran::of(explained).ends_with(0).stdout;
    assert!(!said.contains("kept") && !said.contains("may go") && said.contains("3-grams"), "{said}");
}

#[test]
fn a_corpus_without_pairs_has_figures_that_are_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("a.parquet"), folder.path().join("out"));
    let texts = ["Кот спит на окне.", "A dog sleeps.", "天地人"];
    write_docs(&input, &numbered(texts), 10);
    let told = compare(&input, &out, &["--algorithms", "exact,minhash", "--oracle-sample", "9"]).ends_with(0);
    let study = study(&out);
    assert_eq!((study["pooled"].as_u64(), study["oracle"]["duplicates"].as_u64()), (Some(0), Some(0)));
    for one in study["algorithms"].as_array().unwrap() {
        for figure in ["recall", "precision", "oracle_recall"] {
            assert!(one[figure]["value"].is_null(), "{one}");
        }
        assert!(one["f"].is_null());
    }
    assert!(!told.stdout.contains("NaN") && told.stdout.contains("no recommendation"), "{}", told.stdout);
    assert!(study["advice"].is_null());
}

#[test]
fn a_dry_run_lists_the_algorithms_as_run_does() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let more = ["--preset", "fineweb", "--dry-run", "-v"];
    let line = |ran: Ran| -> String {
        let told = ran.ends_with(0).stderr;
        let line = told.lines().find_map(|line| line.split_once("--algorithms "));
        line.unwrap_or_else(|| panic!("no algorithms in\n{told}")).1.to_string()
    };
    let told = line(compare(samples(), &out, &more));
    assert!(told.starts_with("minhash:"), "{told}");
    assert_eq!(told, line(run(&[samples()], &out, &more)));
    assert!(!out.exists());
    let help = Ran::of(program().args(["compare", "--help"]).output().unwrap()).ends_with(0).stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("Characters are counted in the canonical text") && help.contains("tokenizer matters"),
        "{help}"
    );
}
