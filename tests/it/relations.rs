//! Tests, on the sample corpus, relations between the results of two settings, such as a stricter rule or an equivalent setting. These
//! relations follow from the definitions of the algorithms and hold for any corpus.

use std::collections::BTreeSet;

use crate::kit::{Done, doc_pairs, done, numbered, pairs, record, run as run_into, samples, write_docs};

type Pairs = BTreeSet<(usize, usize)>;

fn run(algorithms: &[(&str, &str)]) -> Done {
    let typed: Vec<String> = algorithms
        .iter()
        .map(|(label, typed)| format!("{typed}{}as={label}", if typed.contains(':') { "," } else { ":" }))
        .collect();
    done(samples(), &["--algorithms", &typed.join(",")])
}

fn of(done: &Done, label: &str) -> Pairs {
    doc_pairs(&done.out(), label).into_iter().collect()
}

/// Checks that every pair found with the strict setting is also found with the loose setting, and that the loose setting finds more pairs.
#[track_caller]
fn within(done: &Done, strict: &str, loose: &str) {
    let (strict_pairs, loose_pairs) = (of(done, strict), of(done, loose));
    let lost: Vec<_> = strict_pairs.difference(&loose_pairs).take(5).collect();
    assert!(lost.is_empty(), "{strict} finds {lost:?}, {loose} does not");
    assert!(!strict_pairs.is_empty(), "{strict} finds nothing: the test sees nothing");
    assert!(strict_pairs.len() < loose_pairs.len(), "{strict} and {loose} find the same: the test sees nothing");
}

#[test]
fn the_five_rules_of_keywords_lie_within_each_other() {
    let rules: Vec<(String, String)> =
        (2..=5).map(|rule| (format!("r{rule}"), format!("keywords:rule={rule},a=0.0001"))).collect();
    let rules: Vec<(&str, &str)> = rules.iter().map(|(label, typed)| (label.as_str(), typed.as_str())).collect();
    let done = run(&rules);
    for (strict, loose) in [("r2", "r3"), ("r4", "r2"), ("r5", "r3"), ("r4", "r5")] {
        within(&done, strict, loose);
    }
}

#[test]
fn the_pairs_of_idf_hash_do_not_depend_on_the_string_hash() {
    let hashes = ["rs", "js", "pjw", "elf", "bkdr", "sdbm", "djb", "ap"];
    let typed: Vec<String> = hashes.iter().map(|hash| format!("idf_hash:hash={hash}")).collect();
    let mut asked: Vec<(&str, &str)> = hashes.iter().copied().zip(typed.iter().map(String::as_str)).collect();
    asked.extend([
        ("ap10", "idf_hash:ap_2010=true"),
        ("m31", "idf_hash:mask31=true"),
        ("sc", "idf_hash:signed_char=true"),
    ]);
    let done = run(&asked);
    let first = of(&done, "rs");
    assert!(first.len() > 100);
    asked.iter().for_each(|(label, _)| assert_eq!(of(&done, label), first, "{label}"));
}

#[test]
fn sim_is_what_its_two_conditions_make_of_each_other() {
    let combine = |how: &str| format!("sim:combine={how}");
    let typed = ["or", "and", "sim_only", "md5_only"].map(combine);
    let done = run(&[("or", &typed[0]), ("and", &typed[1]), ("sim", &typed[2]), ("md5", &typed[3])]);
    let [or, and, sim, md5] = ["or", "and", "sim", "md5"].map(|label| of(&done, label));
    assert!(!and.is_empty() && sim != md5);
    assert_eq!(or, &sim | &md5);
    assert_eq!(and, &sim & &md5);
    // The table contains the condition that each pair satisfied.
    for pair in pairs(&done.out(), "or") {
        let at = (pair.doc_a as usize, pair.doc_b as usize);
        let expected: Vec<&str> = [("md5", md5.contains(&at)), ("sim", sim.contains(&at))]
            .iter()
            .filter(|one| one.1)
            .map(|one| one.0)
            .collect();
        assert!(pair.matched_by == expected.join("+") || pair.matched_by == "copy", "{}", pair.matched_by);
    }
}

/// Checks that features of two algorithms in the same run are counted separately.
#[test]
fn company_changes_no_pair() {
    let bigrams = "cosine:unit=han_bigram,threshold=0.7";
    let (alone, together) =
        (run(&[("b", bigrams)]), run(&[("b", bigrams), ("h", "cosine:unit=hanzi"), ("s", "segments")]));
    assert!(of(&alone, "b").len() > 500);
    assert_eq!(pairs(&alone.out(), "b"), pairs(&together.out(), "b"));
}

#[test]
fn looser_lexicons_distances_and_thresholds_find_what_stricter_ones_find() {
    let done = run(&[
        ("imatch", "imatch"),
        ("lex_rand", "lex_rand"),
        ("projected", "random_projection:max_distance=8"),
        ("projected_far", "random_projection:max_distance=9"),
        ("shingles_high", "shingles:threshold=0.5"),
        ("shingles_low", "shingles:threshold=0.3"),
        ("cosine_high", "cosine:threshold=0.95"),
        ("cosine_low", "cosine:threshold=0.8"),
        ("tau_high", "decomposition:tau=0.9"),
        ("tau_low", "decomposition:tau=0.8"),
        ("segments_many", "segments:min_common=4"),
        ("segments_few", "segments:min_common=4,ratio=0.5"),
        ("match_nine", "keyword_match:common=9"),
        ("match_eight", "keyword_match:common=8"),
        ("contained", "shingles:measure=containment,threshold=0.5"),
        ("mega", "megashingles:preset=fetterly"),
        ("exact", "exact"),
    ]);
    for (strict, loose) in [
        ("imatch", "lex_rand"),
        ("projected", "projected_far"),
        ("shingles_high", "shingles_low"),
        ("shingles_high", "contained"),
        ("cosine_high", "cosine_low"),
        ("tau_high", "tau_low"),
        ("segments_few", "segments_many"),
        ("match_nine", "match_eight"),
        ("exact", "shingles_high"),
        ("exact", "cosine_high"),
        ("exact", "tau_high"),
    ] {
        within(&done, strict, loose);
    }
}

/// Checks documents that repeat the same text and therefore have parallel vectors, and documents that consist of punctuation and have
/// nothing in common.
#[test]
fn parallel_texts_are_pairs_at_the_highest_threshold_and_marks_never() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.parquet");
    let repeated = (1..12).map(|times| "Кот видит птицу за окном, а пёс спит. ".repeat(times));
    let marks = [6, 30].into_iter().flat_map(|times| ["-", ".", "—"].map(|mark| mark.repeat(times)));
    write_docs(&file, &numbered(repeated.chain(marks)), 100);
    let done = done(
        &file,
        &["--algorithms", "cosine:threshold=1,cosine:threshold=1,tf=sublinear,as=s,shingles,minhash:unit=char"],
    );
    for label in ["cosine", "shingles", "minhash"] {
        let found = of(&done, label);
        assert!(found.iter().all(|pair| pair.1 < 11), "{label} pairs marks");
        assert!(label != "cosine" || found.len() == 55, "{} parallel pairs", found.len());
    }
    let unsigned = |at: usize| record(&done.out())["algorithms"][at]["unsigned"].as_object().unwrap().len();
    assert!(unsigned(2) == 1 && unsigned(3) == 1);
}

#[test]
fn parameters_that_leave_nothing_to_sign_and_learning_without_memory_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    for (algorithm, says) in [
        ("keywords:words=2", "min_keywords=3 is more than words=2"),
        ("imatch:top=3", "min_terms=5 is more than top=3"),
    ] {
        run_into(&[samples()], &out, &["--algorithms", algorithm]).ends_with(2).says(&[says]);
    }
    let large = ["--algorithms", "lsi:dimensions=248,vocabulary=1000000", "--memory", "32MiB", "--threads", "1"];
    run_into(&[samples()], &out, &large).ends_with(2).says(&["lsi: learning from", "`--memory", "sample="]);
    assert!(!out.exists());
}
