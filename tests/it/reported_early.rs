//! Tests that incorrect usage that can be detected without data is reported before an input is opened. The inputs in these tests do not
//! exist, but no message mentions missing inputs.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::kit::{Ran, done, numbered, program, write_docs};
use crate::signals::endless;

#[track_caller]
fn reported(verb: &str, more: &[&str], parts: &[&str]) {
    let mut command = program();
    command.arg(verb).arg("not-there.jsonl.gz").args(more).arg("--no-progress");
    if verb == "contaminated" && !more.contains(&"--against") {
        command.args(["--against", "not-there-either.jsonl"]);
    }
    let ran = Ran::of(command.output().unwrap()).ends_with(2).says(parts);
    assert!(!ran.stderr.contains("not-there"), "{}", ran.stderr);
}

const MAKING: [&str; 5] = ["run", "compare", "stream", "purify", "contaminated"];

#[test]
fn an_output_that_may_not_be_made_is_reported_before_the_inputs_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir(at("stands")).unwrap();
    std::fs::create_dir(at("users")).unwrap();
    std::fs::write(at("users/notes"), b"mine").unwrap();
    std::fs::write(at("file"), b"mine").unwrap();
    for verb in MAKING {
        reported(verb, &["--out", &at("stands")], &["already exists", "`--overwrite"]);
        reported(verb, &["--out", &at("users"), "--overwrite"], &["is not the output of an earlier run"]);
        reported(verb, &["--out", &at("file/out")], &["is not a folder"]);
        reported(verb, &["--out", &at("new"), "--memory", "1MiB"], &["`--memory 1.0MiB` is too small"]);
    }
    reported("purify", &["--out", &at("stands"), "--train", "topic"], &["already exists"]);
    assert!(!Path::new(&at("new")).exists());
}

#[test]
fn an_output_that_has_no_place_or_cannot_be_held_back_is_reported_before_the_inputs_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let long = |letters: usize| folder.path().join("x".repeat(letters)).display().to_string();
    let done = done(&corpus(folder.path()), &["--algorithms", "exact"]);
    let out = done.out().display().to_string();
    let held = done.out().with_extension("held");
    std::fs::create_dir(&held).unwrap();
    std::fs::write(held.join("notes"), b"mine").unwrap();
    for verb in MAKING {
        for letters in [227, 255, 256] {
            reported(verb, &["--out", &long(letters)], &["a name in it is too long", "at most 226 bytes"]);
        }
        reported(verb, &["--out", "/proc/out"], &["nothing can be created in /proc", "you can write to"]);
        reported(verb, &["--out", "/proc/", "--overwrite"], &["it is a mount point", "`--out /proc/NAME`"]);
        reported(
            verb,
            &["--out", &out, "--overwrite"],
            &[".held is needed for a result that must not replace", "`--accept"],
        );
    }
    assert_eq!(std::fs::read(held.join("notes")).unwrap(), b"mine");
}

#[test]
fn a_work_folder_that_cannot_be_is_reported_before_the_inputs_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("file"), b"mine").unwrap();
    let (out, wrok, file) = (at("out"), at("wrok"), at("file"));
    for verb in MAKING {
        reported(verb, &["--out", &out, "--work", &wrok], &["`--work", "does not exist", "mkdir -p"]);
        reported(verb, &["--out", &out, "--work", &file], &["`--work", "is a file"]);
    }
    // Tests commands that inspect a finished run.
    let done = done(&corpus(folder.path()), &["--algorithms", "exact"]);
    std::fs::remove_dir_all(folder.path().join("docs")).unwrap();
    let truth = at("truth.jsonl");
    std::fs::write(&truth, "{\"id_a\": \"d0\", \"id_b\": \"d1\"}\n").unwrap();
    for more in [&["explain", "d0", "d1"][..], &["evaluate", "--truth", &truth], &["report"]] {
        let ran = program().arg(more[0]).arg(done.out()).args(&more[1..]).args(["--work", &wrok]).output().unwrap();
        Ran::of(ran).ends_with(2).says(&["`--work", "does not exist"]);
    }
    assert!(!Path::new(&wrok).exists());
}

fn corpus(folder: &Path) -> std::path::PathBuf {
    let docs = folder.join("docs");
    let texts = ["One text, and no other like it.", "Another text of some words.", "One text, and no other like it."];
    write_docs(&docs.join("a.parquet"), &numbered(texts), 10);
    docs
}

#[test]
fn a_column_that_no_file_has_is_reported_before_a_large_file_beside_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    endless(&docs.join("m.jsonl.gz"));
    // The order of the files must not matter.
    std::fs::copy(docs.join("a.parquet"), docs.join("z.parquet")).unwrap();
    let pages = ["purify", "docs", "--html-column", "text"];
    let lines: &[(&[&str], &str)] = &[
        (&["run", "docs", "--keep", "nosuch desc"], "`--keep`"),
        (&["run", "docs/[am].*", "--keep", "nosuch desc"], "`--keep`"),
        (&["run", "docs/[mz].*", "--keep", "nosuch desc"], "`--keep`"),
        (&["run", "docs", "--text-column", "nosuch"], "`--text-column`"),
        (&["compare", "docs/m.*", "--id-column", "nosuch"], "`--id-column`"),
        (&["stream", "docs/m.*", "--html-column", "nosuch"], "`--html-column`"),
        (&["purify", "docs", "--html-column", "nosuch"], "`--html-column`"),
        (&[&pages[..], &["--columns", "text,nosuch"]].concat(), "`--columns`"),
        (&[&pages[..], &["--id-column", "nosuch"]].concat(), "`--id-column`"),
    ];
    for &(line, option) in lines {
        let out = folder.path().join("out");
        let mut command = program();
        command.current_dir(folder.path()).args(line).args(["--no-progress", "--out"]);
        let child = command.arg(&out).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        // It takes minutes to count the lines of this file.
        let (id, (done, ended)) = (child.id(), std::sync::mpsc::channel());
        let waiting = std::thread::spawn(move || done.send(child.wait_with_output().unwrap()));
        let Ok(output) = ended.recv_timeout(std::time::Duration::from_secs(60)) else {
            Command::new("kill").arg("-KILL").arg(id.to_string()).status().unwrap();
            panic!("{line:?}: the large file is read first");
        };
        waiting.join().unwrap().unwrap();
        Ran::of(output).ends_with(2).says(&[&format!("{option} names the column \"nosuch\", which no input file has")]);
        assert!(!out.exists());
    }
}

#[test]
fn verbs_check_their_own_options_before_the_inputs_are_opened() {
    let label = "x".repeat(300);
    let out = ["--out", "made-nowhere"];
    let with = |more: &[&'static str]| [&out, more].concat();
    let algorithms = format!("exact:as={label}");
    for verb in ["run", "compare", "stream"] {
        reported(verb, &[&out[..], &["--algorithms", &algorithms]].concat(), &["300 characters; expected at most 100"]);
    }
    reported(
        "stream",
        &with(&["--keys", "1000000000000000"]),
        &["`--keys 1000000000000000`", "use at most", "`--memory"],
    );
    reported("stream", &with(&["--algorithms", "exact,tf"]), &["uses the signatures of one algorithm"]);
    reported("stream", &with(&["--filter", "nosuch"]), &["`--filter nosuch`: cannot be read"]);
    reported("stream", &with(&["--filter", "Cargo.toml"]), &["`--filter Cargo.toml`: expected the file filter.bloom"]);
    reported("stream", &with(&["--forget", "nosuch"]), &["`--forget`: \"nosuch\" does not exist"]);
    reported("contaminated", &with(&["--against", "nosuch"]), &["`--against`: \"nosuch\" does not exist"]);
    reported("purify", &with(&["--stats", "nosuch"]), &["nosuch is not the output of a finished run"]);
    reported("purify", &with(&["--stats", "tests"]), &["tests is not the output of a finished run"]);
    reported("purify", &with(&["--model", "nosuch"]), &["nosuch is not a trained model"]);
    let many: Vec<String> = (0..70).map(|at| format!("exact:as=e{at}")).collect();
    reported("compare", &[&out[..], &["--algorithms", &many.join(",")]].concat(), &["can be compared in one run"]);
    assert!(!Path::new("made-nowhere").exists());
}

#[test]
fn results_that_a_verb_goes_on_from_are_looked_at_before_the_inputs_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let make = |verb: &str, out: &str, more: &[&str]| {
        let made = program().arg(verb).arg(&docs).args(["--out", out, "--no-progress"]).args(more).output().unwrap();
        Ran::of(made).ends_with(0);
    };
    make("stream", &at("stream"), &["--algorithms", "tf"]);
    make("run", &at("run"), &["--algorithms", "exact"]);
    make("purify", &at("pages"), &["--html-column", "text"]);
    make("purify", &at("model"), &["--html-column", "text", "--train", "id"]);
    let (out, filter) = (at("new"), at("stream/filter.bloom"));
    let out = ["--out", &out];
    reported(
        "stream",
        &[&out[..], &["--filter", &filter]].concat(),
        &["it contains keys from tf", "expected keys from exact"],
    );
    reported("purify", &[&out[..], &["--stats", &at("run")]].concat(), &["has no word statistics"]);
    reported(
        "purify",
        &[&out[..], &["--model", &at("model"), "--stem"]].concat(),
        &["was trained with ", "train again"],
    );
    // Each message mentions the kind of output that was found instead of the expected output.
    for (name, verb) in [("stream", "stream"), ("pages", "purify"), ("model", "purify --train")] {
        let says = format!("{} is the output of dupsift {verb}; expected the output folder of dupsift run", at(name));
        reported("purify", &[&out[..], &["--stats", &at(name)]].concat(), &[&says]);
        for more in [&["report"][..], &["explain", "a", "b"], &["evaluate", "--truth", "nosuch"]] {
            let ran = program().arg(more[0]).arg(at(name)).args(&more[1..]).output().unwrap();
            Ran::of(ran).ends_with(2).says(&[&says]);
        }
    }
    let truth = at("truth.jsonl");
    std::fs::write(&truth, "{\"id_a\": \"d0\", \"id_b\": \"d1\"}\n").unwrap();
    Ran::of(program().args(["evaluate", &at("run"), "--truth", &truth]).output().unwrap()).ends_with(0);
    let ran = program().args(["report", &at("run/evaluation")]).output().unwrap();
    Ran::of(ran).ends_with(2).says(&["is the output of dupsift evaluate"]);
    assert!(!Path::new(out[1]).exists());
}

#[test]
fn a_truth_that_says_nothing_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let done = done(&corpus(folder.path()), &["--algorithms", "exact"]);
    let truth = folder.path().join("truth.jsonl");
    let evaluate = |rows: &str, parts: &[&str]| {
        std::fs::write(&truth, rows).unwrap();
        let ran = program().arg("evaluate").arg(done.out()).arg("--truth").arg(&truth).output().unwrap();
        Ran::of(ran).ends_with(2).says(parts);
        assert!(!done.out().join("evaluation").exists());
    };
    evaluate("", &["it has no rows"]);
    evaluate("{\"id_a\": null, \"id_b\": null}\n", &["no row of the truth contains two values (1 row in total)"]);
    evaluate("{\"id\": null, \"cluster\": \"a\"}\n", &["no row of the truth contains two values"]);
    evaluate(
        "{\"id_a\": \"d0\", \"id_b\": \"d0\"}\n",
        &["no row of the truth pairs two different documents", "1 contains the same document twice"],
    );
    evaluate(
        "{\"id_a\": \"d0\", \"id_b\": \"gone\"}\n",
        &["no row of the truth pairs two different documents", "1 contains an unknown id"],
    );
    let alone = "{\"id\": \"d0\", \"cluster\": \"a\"}\n{\"id\": \"d1\", \"cluster\": \"b\"}\n";
    evaluate(alone, &["no cluster of the truth contains two documents in the corpus"]);
}

#[test]
fn memory_beyond_that_of_the_machine_is_reported_and_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let more = ["--memory", "1024TiB", "--algorithms", "exact"];
    let ran = crate::kit::run(&[&corpus(folder.path())], &out, &more).ends_with(0);
    ran.says(&["`--memory 1.0PiB` is more than the", "of the machine or its cgroup"]);
}

#[test]
fn an_option_before_the_verb_and_an_id_that_looks_like_an_option_are_explained() {
    let said = |line: &[&str], parts: &[&str]| {
        Ran::of(program().args(line).output().unwrap()).ends_with(2).says(parts);
    };
    said(
        &["--out", "o", "run", "nowhere"],
        &["`--out` is an option of `dupsift run`", "put options after the command"],
    );
    said(&["explain", "nowhere", "-x"], &["has no option -x", "use '-- -x'"]);
    let remote = |line: &[&str], parts: &[&str]| {
        said(line, parts);
        assert!(!Path::new("s3:").exists() && !Path::new("https:").exists());
    };
    remote(&["run", "nowhere", "--out", "s3://bucket/x"], &["`--out`", "aws s3 sync DIR s3://bucket/x"]);
    remote(&["run", "hf://datasets/a", "--out", "o"], &["hf download", "a"]);
    remote(&["run", "https://example.org/a.jsonl?x=y", "--out", "o"], &["https://example.org/a.jsonl", "curl -LO"]);
}

#[test]
fn a_large_page_names_the_limit_what_is_left_of_it_and_what_would_do() {
    let asked = Box::new(["64 MiB".to_owned(), "16 MiB".to_owned()]);
    let (path, column) = ("a.parquet".into(), "text".to_owned());
    let (bytes, least) = ("40 MiB".into(), "160 MiB".into());
    let page = dupsift::Error::LargePage { path, part: &["a page", ""], column, bytes, asked, least };
    let begin = "a.parquet: reading a page of column \"text\" takes 40 MiB, but `memory=64 MiB` leaves only 16 MiB; \
                 pass `memory=160 MiB` or more";
    assert_eq!(page.to_string(), begin);
}
