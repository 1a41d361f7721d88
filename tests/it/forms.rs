//! Tests the relations of pairs (version, contained text, same template) and their consequences.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use crate::kit::{
    Done, Ran, Table, assert_same_bytes, done, numbered, program, python, record, removed_ids, samples, write_docs,
};

const RULE: &str = "exact,versions";

/// Returns words that occur in no other text, unless the prefix is the same.
fn words(prefix: &str, count: usize) -> Vec<String> {
    let letters = |n: usize| n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
    (0..count).map(|n| format!("{prefix}{}", letters(n))).collect()
}

/// Returns a text in which every n-th word is replaced by a unique word; `every` is n.
fn reworded(words: &[String], every: usize, own: &str) -> String {
    let word = |(at, word): (usize, &String)| if at % every == 0 { format!("{own}{word}") } else { word.clone() };
    words.iter().enumerate().map(word).collect::<Vec<_>>().join(" ")
}

/// Returns texts of each kind, surrounded by unrelated texts.
fn corpus() -> Vec<String> {
    let alone = words("alone", 120);
    let quoted = words("quoted", 100).join(" ");
    // In a notice, every sixth word is a number that is unique to the day.
    let notice = |day: usize| {
        let numbered = |(at, word): (usize, String)| if at % 6 == 3 { (1000 * day + at).to_string() } else { word };
        words("frame", 72).into_iter().enumerate().map(numbered).collect::<Vec<String>>().join(" ")
    };
    let template = words("template", 200);
    // The name occurs four times on the page.
    let page = |name: &str| {
        let named = |(at, word): (usize, &String)| if at % 50 == 7 { name.into() } else { word.clone() };
        template.iter().enumerate().map(named).collect::<Vec<String>>().join(" ")
    };
    let mut texts = vec![
        alone.join(" "),
        reworded(&alone, 9, "other"),
        quoted.clone(),
        format!("{quoted} {}", words("reply", 60).join(" ")),
        notice(3),
        notice(4),
        notice(5),
        page("alpha"),
        page("beta"),
        page("gamma"),
        // These texts are copies of a version.
        alone.join(" "),
    ];
    texts.extend((0..200).map(|n| words(&format!("stranger{}", ["x", "y"][n % 2].repeat(n)), 50).join(" ")));
    texts
}

fn run(folder: &Path, more: &[&str]) -> Done {
    let file = folder.join("docs.parquet");
    write_docs(&file, &numbered(corpus()), 100);
    done(&file, &[&["--algorithms", RULE], more].concat())
}

/// Returns (id_a, id_b) -> (relation, why) for one algorithm.
fn relations_of(done: &Done, label: &str) -> BTreeMap<(String, String), (String, String)> {
    let table = Table::read(&done.out().join("pairs").join(format!("algorithm={label}")));
    let pairs = table.texts("id_a").into_iter().zip(table.texts("id_b"));
    pairs.zip(table.texts("relation").into_iter().zip(table.texts("why"))).collect()
}

#[test]
fn each_kind_is_reported_and_templates_join_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), &[]);
    let expected = [
        (("d0", "d1"), ("version", "unique")),
        (("d0", "d10"), ("version", "same text")),
        (("d2", "d3"), ("contained", "contained")),
        (("d4", "d5"), ("template", "numbers differ")),
        (("d4", "d6"), ("template", "numbers differ")),
        (("d5", "d6"), ("template", "numbers differ")),
        (("d7", "d8"), ("template", "one word differs")),
        (("d7", "d9"), ("template", "one word differs")),
        (("d8", "d9"), ("template", "one word differs")),
    ];
    let both = |(a, b): (&str, &str)| (a.to_string(), b.to_string());
    assert_eq!(
        relations_of(&done, "versions"),
        expected.into_iter().map(|(pair, said)| (both(pair), both(said))).collect()
    );
    let record = record(&done.out());
    let relations = &record["algorithms"][1]["relations"];
    assert_eq!(
        *relations,
        json!({"version": 1, "contained": 1, "template": 6, "templates_left_out": 0, "cut_short": 0, "other_titles": 0})
    );
    assert!(record["algorithms"][0]["relations"].is_null());
    // Other algorithms do not classify pairs.
    assert!(Table::read(&done.out().join("pairs/algorithm=exact")).texts("relation").iter().all(|one| one == "null"));
    let clusters = Table::read(&done.out().join("clusters/algorithm=versions"));
    let mut clustered = clusters.texts("id");
    clustered.sort();
    assert_eq!(clustered, ["d0", "d1", "d10", "d2", "d3"]);
    // If two texts have no other neighbors, they are not reported as similar to any other text.
    let mut near = corpus();
    near.push(reworded(&words("alone", 120), 4, "more"));
    near.truncate(212);
    near[0] = near.pop().unwrap();
    near[1] = words("alone", 120).join(" ");
    near[10] = "one of a kind".into();
    let file = folder.path().join("near/docs.parquet");
    write_docs(&file, &numbered(near), 100);
    let far = crate::kit::done(&file, &["--algorithms", RULE]);
    let all = relations_of(&far, "versions");
    assert_eq!(all.get(&both(("d0", "d1"))), Some(&both(("template", "not near enough"))), "{all:?}");
    // Pairs from the same template never cause a removal, even if being in a pair is otherwise sufficient.
    let pairs = run(folder.path(), &["--remove-if", "pair"]);
    assert_eq!(removed_ids(&pairs.out()), ["d0", "d2", "d10"]);
}

/// Compares the result with Python code that applies the six sentences of the rule to every compared pair.
#[test]
fn what_is_reported_follows_from_the_texts() {
    let settings = [
        ("templates=0", "dict"),
        ("templates=0,join=exact,threshold=0.5", "char"),
        ("templates=0,gap=0.05,contained=0.95,short=0,titles=1", "dict"),
        ("templates=0", "char"),
    ];
    let run = |(more, tokenizer): (&str, &str)| {
        done(samples(), &["--algorithms", &format!("{RULE},{more}"), "--tokenizer", tokenizer])
    };
    let mut runs: Vec<Done> = settings.map(run).into_iter().collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    write_docs(&file, &numbered(corpus()), 100);
    runs.push(done(&file, &["--algorithms", &format!("{RULE},templates=0")]));
    let file = folder.path().join("prompted.parquet");
    write_docs(&file, &numbered(prompted(40)), 100);
    runs.push(done(&file, &["--algorithms", &format!("{RULE},templates=0")]));
    let mut command = python("tests/relations.py");
    runs.iter().for_each(|done| _ = command.arg(done.out()));
    let said = Ran::of(command.output().unwrap()).ends_with(0).stdout;
    let kinds = [
        "contained, contained",
        "template, not near enough",
        "template, numbers differ",
        "template, one word differs",
        "template, many as near",
        "template, others as near",
        "version, contained",
        "version, same text",
        "version, same title",
        "version, unique",
    ];
    assert!(kinds.iter().all(|kind| said.contains(&format!("{kind}: "))), "{said}");
    // The samples include Han words that distinguish two texts as well as Han words that do not.
    assert!(
        ["template, one word differs, Han: ", "version, unique, Han: "].iter().all(|kind| said.contains(kind)),
        "{said}"
    );
}

/// Checks two groups of texts in which all texts are similar, within a group and across groups. The search for the next best text must skip
/// the other group completely.
#[test]
fn searches_that_are_cut_short_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let common = words("common", 60);
    let cut_short = |family: usize| {
        let of = |name: &str| -> Vec<String> {
            let own = words(name, 10).join(" ");
            // Each text lacks two of the shared words.
            let text = |n: usize| {
                let left: Vec<&str> =
                    (0..60).filter(|&at| at != n % 12 && at != 12 + n / 12).map(|at| &*common[at]).collect();
                format!("{own} {}", left.join(" "))
            };
            (0..family).map(text).collect()
        };
        let file = folder.path().join(format!("{family}.parquet"));
        write_docs(&file, &numbered([of("first"), of("second")].concat()), 100);
        let out = folder.path().join(family.to_string());
        let ran = crate::kit::run(&[&file], &out, &["--algorithms", "versions:tf=raw,head=0,join=exact"]).ends_with(0);
        let relations = record(&out)["algorithms"][0]["relations"].clone();
        let pairs: u64 = ["version", "contained", "template", "templates_left_out"]
            .iter()
            .map(|kind| relations[kind].as_u64().unwrap())
            .sum();
        assert_eq!(pairs as usize, family * (2 * family - 1), "all are pairs");
        (relations["cut_short"].as_u64().unwrap(), ran.stdout)
    };
    let (none, said) = cut_short(128);
    assert!(none == 0 && !said.contains("next best"), "{none} {said}");
    let (cut, said) = cut_short(129);
    assert_eq!(cut, 129 * 129);
    assert!(
        said.contains("versions: for 16,641 pairs, only part of a large group was searched for the next-best match"),
        "{said}"
    );
}

/// Checks pairs from the same template whose texts have copies: `explain` gives the reason for every such pair, although only one of them
/// is written.
#[test]
fn explain_reports_templates_of_copies_that_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    let texts = corpus();
    let copies = [4, 4, 5, 5].map(|at| texts[at].clone());
    write_docs(&file, &numbered(texts.into_iter().chain(copies)), 100);
    let done = done(&file, &["--algorithms", RULE, "--max-group", "2"]);
    let last = 11 + 200;
    let explain = |a: usize, b: usize| {
        let ids = [format!("d{a}"), format!("d{b}")];
        let said = Ran::of(program().arg("explain").arg(done.out()).args(ids).output().unwrap()).ends_with(0).stdout;
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let said = explain(last + 1, last + 3);
    assert!(said.contains("same template: the numbers differ: 0 of 12 match, and the required share is 0.7; listed as the pair of d4 and d5, which contain the same two texts"), "{said}");
    assert!(said.contains("no, same template"), "{said}");
}

#[test]
fn threads_and_memory_change_nothing() {
    let run = |more: &[&str]| done(samples(), &[&["--preset", "balanced"], more].concat());
    let one = run(&["--threads", "1"]);
    for more in [&["--threads", "8"][..], &["--threads", "3", "--memory", "64MiB"]] {
        assert_same_bytes(&one.out(), &run(more).out(), &more.join(" "));
    }
}

/// Checks that a verification after the rule, like a verification after a margin, removes pairs but never adds any.
#[test]
fn a_check_after_the_rule_takes_pairs_away_and_adds_none() {
    let pairs = |algorithm: &str| {
        let done = done(samples(), &["--algorithms", &format!("{algorithm},as=it")]);
        relations_of(&done, "it")
    };
    for (algorithm, own, least) in [
        ("versions", "none", 100),
        ("cosine:threshold=0.5,margin=0.05", "none", 100),
        ("cosine:threshold=0.5,join=heavy,margin=either:0.02:0.25", "none", 100),
        ("simhash:distance=10,margin=0.1", "none", 20),
        // The score is the similarity from the verification.
        ("minhash:bands=32,rows=4,margin=0.05", "jaccard:0.5", 100),
    ] {
        let all = pairs(&format!("{algorithm},verify={own}"));
        let checked = pairs(&format!("{algorithm},verify=jaccard:0.6"));
        assert!(checked.len() > least && checked.len() < all.len(), "{algorithm}: {} of {}", checked.len(), all.len());
        // The rule determined the relation of these pairs.
        let added: Vec<_> = checked.iter().filter(|(pair, relation)| all.get(*pair) != Some(*relation)).collect();
        assert!(added.is_empty(), "{algorithm}: the check has added {added:?}");
    }
}

#[test]
fn two_rules_of_one_kind_are_refused() {
    let typed = ["run", "docs", "--out", "out", "--algorithms", "versions:margin=0.1"];
    Ran::of(program().current_dir(samples().parent().unwrap()).args(typed).output().unwrap())
        .ends_with(2)
        .says(&["margin= and relate= cannot be combined"]);
    let typed = ["run", "docs", "--out", "out", "--algorithms", "versions:near=0.5"];
    Ran::of(program().current_dir(samples().parent().unwrap()).args(typed).output().unwrap())
        .ends_with(2)
        .says(&["near=0.5 is below threshold=0.6", "use near=0.6 or more, or a lower threshold="]);
}

#[test]
fn explain_says_why_with_figures() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), &[]);
    let explain = |a: &str, b: &str| {
        Ran::of(program().arg("explain").arg(done.out()).args([a, b]).output().unwrap()).ends_with(0).stdout
    };
    for (a, b, sentence) in [
        ("d0", "d1", "version: no other document has a cosine of 0.6"),
        ("d3", "d2", "contained: a contains 1.00 of the 3-grams of b"),
        ("d2", "d3", "contained: b contains 1.00 of the 3-grams of a"),
        ("d4", "d5", "same template: the numbers differ: 0 of 12 match, and the required share is 0.7"),
    ] {
        let said = explain(a, b).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(sentence), "{a} {b}: {said}");
    }
    let said = explain("d7", "d8");
    assert!(
        said.contains("\"alpha\"") && said.contains("no, same template") && said.contains("state different facts"),
        "{said}"
    );
}

/// Checks the reason that is given if a verification follows the rule: the table contains the similarity from the verification, but the
/// rule used the cosine.
#[test]
fn explain_goes_by_the_methods_own_score() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    write_docs(&file, &numbered(corpus()), 100);
    let run = |more: &str, flags: &[&str]| done(&file, &[&["--algorithms", &format!("{RULE},{more}")], flags].concat());
    let explain = |done: &Done, a: &str, b: &str| {
        let said = Ran::of(program().arg("explain").arg(done.out()).args([a, b]).output().unwrap()).ends_with(0).stdout;
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let checked = run("verify=jaccard:0.1", &[]);
    let said = explain(&checked, "d0", "d1");
    assert!(said.contains("version: no other document has a cosine of 0.6") && !said.contains("nearer"), "{said}");
    // Checks that same-template pairs whose cosine is below `templates=` are not in the table, and that `explain` reports this. The
    // relation of a pair that was never compared is unknown.
    let few = run("templates=1", &[]);
    let sentence = "reported only if the cosine is at least 1; the documents are not versions";
    for (a, b, reason) in [
        ("d4", "d5", "the numbers differ: 0 of 12 match, and the required share is 0.7"),
        ("d7", "d8", "the word \"alpha\" is more frequent in a"),
    ] {
        let said = explain(&few, a, b);
        assert!(said.contains(&format!("{sentence}: {reason}")), "{said}");
    }
    let cut = run("templates=1", &["--max-candidates", "1"]);
    let warnings = record(&cut.out())["warnings"].to_string();
    assert!(warnings.contains("pages with the same template may count as versions and be removed"), "{warnings}");
    let said = explain(&cut, "d4", "d6");
    assert!(!said.contains(sentence), "{said}");
    assert!(record(&few.out())["algorithms"][1]["relations"]["templates_left_out"] == 6);
}

/// Checks that a contained document is removed only if one of the algorithms that decide which documents are removed reports the two
/// documents as a pair.
#[test]
fn explain_says_that_only_a_pair_that_decides_removes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    write_docs(&file, &numbered(corpus()), 100);
    let explain = |more: &[&str], a: &str, b: &str| {
        let done = done(&file, &[&["--algorithms", RULE, "--remove-if", "contained:0.1:0"], more].concat());
        let said = Ran::of(program().arg("explain").arg(done.out()).args([a, b]).output().unwrap()).ends_with(0).stdout;
        assert!(said.contains("share of each document that is contained in the other"));
        said
    };
    let both = |said: String, why: &str| {
        let stays = |one: &str| said.contains(&format!("not enough to remove {one}: {why}"));
        assert!(stays("a") && stays("b"), "{said}");
    };
    both(explain(&[], "d4", "d5"), "same template");
    both(explain(&[], "d0", "d4"), "no pair");
    both(explain(&["--decide", "exact"], "d0", "d1"), "the pair does not decide");
    both(explain(&["--decide", "all"], "d0", "d1"), "the pair does not decide");
    let said = explain(&["--decide", "versions"], "d0", "d1");
    assert!(
        said.contains("enough to remove a") && said.contains("a was removed in favor of b, which contains "),
        "{said}"
    );
    let said = explain(&["--decide", "all"], "d0", "d10");
    assert!(said.contains("enough to remove b") && said.contains("b was removed in favor of a"), "{said}");
}

/// Checks that pairs from the same template are counted once per distinct text, so a copy adds no pairs.
#[test]
fn templates_are_counted_between_texts() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    let mut texts = corpus();
    texts.push(texts[4].clone());
    write_docs(&file, &numbered(texts), 100);
    let done = done(&file, &["--algorithms", RULE]);
    let versions = record(&done.out())["algorithms"][1].clone();
    // There are three notices, one of which occurs twice, and three pages from a template.
    assert_eq!((&versions["templates"], &versions["templates_written"]), (&json!(6), &json!(6)));
    assert_eq!(versions["relations"]["template"], 6);
    // Identical texts have no next best text.
    let table = Table::read(&done.out().join("pairs/algorithm=versions"));
    let copies = table.texts("why").into_iter().zip(table.floats("next_best"));
    assert!(copies.filter(|(why, _)| why == "same text").all(|(_, next_best)| next_best.is_none()));
}

#[test]
fn results_of_other_versions_are_refused_in_plain_words() {
    let folder = tempfile::tempdir().unwrap();
    let done = run(folder.path(), &[]);
    let path = done.out().join("run.json");
    let mut record = record(&done.out());
    record["schema_version"] = json!(2);
    std::fs::write(&path, record.to_string()).unwrap();
    Ran::of(program().arg("explain").arg(done.out()).args(["d0", "d1"]).output().unwrap())
        .ends_with(1)
        .says(&["schema version is 2", "run again with `--overwrite`"]);
}

/// Returns twelve rules from the same template that differ only in a name, twelve rules whose names are years in Chinese numerals, twelve
/// stubs, a page that occurs twice (once with an old title and once with a new title), and an essay that was saved twice.
fn titled() -> Vec<String> {
    let lines = |prefix: &str, count: usize| {
        words(prefix, count).chunks(10).map(|line| line.join(" ")).collect::<Vec<_>>().join("\n")
    };
    let names = words("name", 12);
    let years = ["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "百", "千"];
    let form = |name: &String| format!("Rules of the {name} committee\nThe {name} committee\n{}", lines("rule", 300));
    let yearly = |year: &str| format!("第{year}年度預算辦法\nThe {}", lines("budget", 300));
    let stub = |name: &String| {
        format!("# {name}\n> this command is an alias of a command with another name, see there for more")
    };
    let mut texts: Vec<String> = names.iter().map(form).collect();
    texts.extend(years.map(yearly));
    texts.extend(words("stub", 12).iter().map(stub));
    texts.push(format!("Evaluation of local values\nThe {}", lines("page", 200)));
    texts.push(format!("How locals are evaluated today\nThe {}\n{}", lines("page", 200), words("more", 12).join(" ")));
    for (day, year) in [(5, 2019), (6, 2020)] {
        texts.push(format!(
            "An essay about towns\nsaved {day} May {year}\n{}{}",
            lines("essay", 600),
            " more".repeat(day)
        ));
    }
    texts.extend((0..200).map(|n| words(&format!("stranger{}", ["x", "y"][n % 2].repeat(n)), 50).join(" ")));
    texts
}

#[test]
fn titles_that_name_other_things_keep_both() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.parquet");
    write_docs(&file, &numbered(titled()), 100);
    let run = |more: &[&str]| done(&file, &[&["--algorithms", RULE], more].concat());
    let asked = run(&[]);
    // The page with the old title is removed in favor of the page with the new title, and the first copy of the essay in favor of the
    // second.
    assert_eq!(removed_ids(&asked.out()), ["d36", "d38"]);
    let other_titles =
        |done: &Done| record(&done.out())["algorithms"][1]["relations"]["other_titles"].as_u64().unwrap();
    // There are 66 pairs of rules that differ in a name, and 66 pairs of rules that differ in a year.
    assert!(other_titles(&asked) >= 132, "{}", other_titles(&asked));
    let page = std::fs::read_to_string(asked.out().join("report.html")).unwrap();
    assert!(page.contains("; their titles, code or labels refer to different things, so both are kept"));
    // If being in a pair is sufficient for removal, titles are ignored.
    assert!(removed_ids(&run(&["--remove-if", "pair"]).out()).len() >= 24);
    let off = done(&file, &["--algorithms", "exact,versions:title=1"]);
    assert!(other_titles(&off) == 0 && removed_ids(&off.out()).len() >= 24);
    let shown = Ran::of(program().arg("explain").arg(asked.out()).args(["d0", "d1"]).output().unwrap());
    assert!(
        shown.stdout.contains("both are kept") && shown.stdout.contains("the titles, code or labels differ"),
        "{}",
        shown.stdout
    );
}

/// Checks a hundred and fifty pages from the same template and the same number of copies of other texts. The removals by `minhash` look
/// like removals of template pages, so its result does not replace a good result.
#[test]
fn removals_of_one_template_are_reported_and_guarded() {
    let folder = tempfile::tempdir().unwrap();
    let rules = words("rule", 300).join(" ");
    let pages = (0..150).map(|n| format!("Rules of committee number{n}\n{rules}"));
    let others = (0..300).map(|n| words(&format!("other{}x", n / 2), 50).join(" "));
    let file = folder.path().join("docs.parquet");
    write_docs(&file, &numbered(pages.chain(others)), 100);
    let out = folder.path().join("out");
    let run =
        |more: &[&str]| crate::kit::run(&[&file], &out, &[&["--overwrite", "--remove-if", "pair"], more].concat());
    let minhash = ["--algorithms", "exact,minhash", "--max-template-share", "0.2"];
    let said = "149 of 149 removed near-duplicates look like pages with the same template (100.0%), more than the 20% allowed by `--max-template-share`";
    run(&minhash).ends_with(3).says(&[said]);
    let removal = record(&out)["removal"].clone();
    assert_eq!(
        (&removal["of_templates"], &removal["near_duplicates"], &removal["removed"]),
        (&json!(149), &json!(149), &json!(299))
    );
    run(&minhash[..2]).ends_with(0);
    run(&["--algorithms", "exact"]).ends_with(0);
    run(&minhash).ends_with(4).says(&[said, "the result is held back"]);
    assert_eq!(record(&out)["removal"]["removed"], 150);
}

/// Returns questions and answers of five words each, which follow the same long prompt. The prompt makes up nine tenths of each text.
fn prompted(count: usize) -> Vec<String> {
    let function = |what: &str| {
        format!(
            "name {what} description call {what} when the user asks for the {what} of a place, type {what} object, the {what} query is sent to \
             the {what} server"
        )
    };
    let functions = ["weather", "currency", "distance", "population", "timezone", "elevation", "language"];
    let prompt = format!("You have access to these functions: {}", functions.map(function).join(" "));
    // Every word occurs in several documents, so no word is rare.
    let vocabulary = words("word", 150);
    let five = |seed: usize| {
        let word =
            |at: usize| vocabulary[(dupsift_core::hash::splitmix64(seed as u64, at as u64) % 150) as usize].as_str();
        (0..5).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..count).map(|n| format!("{prompt} user: {} assistant: {}", five(2 * n), five(2 * n + 1))).collect()
}

/// Checks that documents that share a prompt are not classified as versions of each other, in one run or in two batches. If there are only
/// a few documents, nothing shows that the shared part is a prompt.
#[test]
fn answers_below_one_prompt_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let docs = numbered(prompted(60));
    let file = |name: &str, docs: &[_]| {
        let file = folder.path().join(name);
        write_docs(&file, docs, 20);
        file
    };
    let whole = done(&file("whole.parquet", &docs), &["--algorithms", RULE]);
    assert_eq!(removed_ids(&whole.out()), [""; 0]);
    let pairs = Table::read(&whole.out().join("pairs/algorithm=versions"));
    let reasons = pairs.texts("why");
    assert!(reasons.iter().filter(|why| *why == "many as near").count() > 20, "{reasons:?}");
    let without = done(&file("whole.parquet", &docs), &["--algorithms", &format!("{RULE},crowd=0")]);
    assert!(removed_ids(&without.out()).len() > 20);

    let index = folder.path().join("index").display().to_string();
    let batch = |name: &str, docs: &[_]| {
        let more = ["--algorithms", RULE, "--index", &index, "--batch", name];
        let done = done(&file(&format!("{name}.parquet"), docs), &more);
        // There are no copies, so each written pair is counted by its relation. Pairs of two indexed documents are neither written nor
        // counted.
        let versions = &record(&done.out())["algorithms"][1];
        let count = |kind: &str| versions["relations"][kind].as_u64().unwrap();
        assert_eq!(
            count("version") + count("contained") + count("template"),
            versions["pairs_written"].as_u64().unwrap()
        );
        assert_eq!(count("template"), versions["templates_written"].as_u64().unwrap());
        removed_ids(&done.out())
    };
    assert_eq!((batch("first", &docs[..40]), batch("second", &docs[40..])), (vec![], vec![]));

    let at = reasons.iter().position(|why| why == "many as near").unwrap();
    let ids = ["id_a", "id_b"].map(|column| pairs.texts(column)[at].clone());
    let said = Ran::of(program().arg("explain").arg(whole.out()).args(ids).output().unwrap()).ends_with(0);
    let line = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(line.contains("more than 10 other documents are nearly as similar (within 0.15)"), "{line}");
}

/// Checks two notices from the same template that differ in their numbers, which may be written in digits or in words.
#[test]
fn numbers_in_words_are_facts() {
    let han = |[day, from, to, homes, cost]: [&str; 5]| {
        format!(
            "因城东区主干管道检修，本月{day}日上午{from}时至下午{to}时将停止供水，请居民提前储水，并关闭所有水龙头、洗衣机和热水器的阀门。恢复供水之后，请先放水几分钟再饮用。\
             本次检修涉及{homes}户居民，估计费用{cost}元。自来水公司对此深表歉意，感谢各位居民的理解与支持，如有疑问可以拨打服务热线或者到营业大厅咨询工作人员。"
        )
    };
    let english = |[day, ships, month, tons, pay]: [&str; 5]| {
        format!(
            "The harbour board reported on {day} that {ships} ships had entered the port in {month}, with {tons} thousand tons of grain and coal on board. \
             Freight rates were unchanged from the week before, and the board said it expected no change until the ice had gone from the upper river. \
             Dockers will receive {pay} shillings a day under the new agreement, which both sides signed after a long meeting at the town hall."
        )
    };
    let kept = |texts: [String; 2]| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("docs.parquet");
        write_docs(&file, &numbered(texts.to_vec()), 10);
        2 - removed_ids(&done(&file, &["--algorithms", RULE]).out()).len()
    };
    let first = han(["三", "八", "四", "一千二百", "三十万"]);
    assert_eq!(kept([first.clone(), han(["十九", "九", "六", "八百五十", "七十五万"])]), 2);
    // Amounts count as the same facts whether they are written in words or in digits.
    assert_eq!(kept([first, han(["三", "八", "四", "1200", "300000"])]), 1);
    let monday = ["Monday", "forty-one", "March", "seven", "nine"];
    assert_eq!(kept([english(monday), english(["Friday", "sixty-three", "June", "twelve", "eleven"])]), 2);
    assert_eq!(kept([english(monday), english(["Monday", "41", "March", "seven", "nine"])]), 1);
}

/// Checks that titles are compared in the same way in a batch with an index as in a single run.
#[test]
fn titles_are_asked_against_an_index() {
    let folder = tempfile::tempdir().unwrap();
    let batch = |name: &str, is_first: bool| {
        let file = folder.path().join(name);
        let mut docs = numbered(titled());
        let mut id = 0;
        docs.retain(|_| (id % 2 == 0 || id > 40, id += 1).0 == is_first);
        write_docs(&file, &docs, 100);
        file
    };
    let (first, second) = (batch("first.parquet", true), batch("second.parquet", false));
    let removed = |rule: &str| {
        let index = folder.path().join(format!("index{}", rule.len()));
        let run = |file: &Path, batch| {
            let more = ["--algorithms", rule, "--max-removed-share", "1", "--batch", batch, "--index"];
            done(file, &[&more[..], &[index.to_str().unwrap()]].concat())
        };
        let (_first, second) = (run(&first, "first"), run(&second, "second"));
        removed_ids(&second.out())
    };
    // The counterparts of the page with a new title and of the essay that was saved again are in the first batch. In a batch with half as
    // many pages from a template, a word that occurs in six documents is not rare.
    assert_eq!(removed(&format!("{RULE},titles=4")), ["d37", "d39"]);
    assert!(removed(&format!("{RULE},title=1")).len() >= 12);
}
