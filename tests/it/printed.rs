//! Tests the printed output for any input: all log lines have the same format, nothing is printed that a terminal would interpret, and the
//! exit code depends on the result and not on whether it could be printed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::kit::{Ran, numbered, program, write_docs};

/// Returns every line of stderr as JSON; the last line contains the exit code.
#[track_caller]
fn json(typed: &[&str], folder: &Path, code: i32) -> Vec<Value> {
    let ran = Ran::of(program().current_dir(folder).args(typed).output().unwrap()).ends_with(code);
    let lines: Vec<Value> = ran
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?} of {typed:?}")))
        .collect();
    assert!(!lines.is_empty(), "{typed:?} says nothing");
    if code > 0 {
        let last = lines.last().unwrap();
        assert_eq!((&last["level"], &last["exit_code"]), (&"ERROR".into(), &code.into()), "{typed:?}: {last}");
    }
    lines
}

#[test]
fn with_log_format_json_every_line_is_json_whatever_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("key.toml", "log-format = 'json'\nthreds = 2\n");
    write("broken.toml", "log-format = \"json\"\nout = \n");
    write("good.toml", "log-format = 'json'\nout = 'out'\n");
    write("a.jsonl", "{\"text\": \"One text of some words.\"}\n");
    for typed in [
        "rum a.jsonl --log-format json",
        "run --log-format=json",
        "run a.jsonl --out o --log-format json --thread 2",
        "run a.jsonl --log-format json --chain drop",
        "run a.jsonl --log-format json",
        "run a.jsonl --out o --log-format json --threads 0",
        "run a.jsonl --out o --log-format json --algorithms minhsh",
        "run none.jsonl --out o --log-format json",
        "run a.jsonl --config key.toml",
        "run a.jsonl --config broken.toml",
        "run none.jsonl --config good.toml",
        "run a.jsonl --log-format json --config none.toml",
        "compare none.jsonl --out o --log-format json",
        "stream none.jsonl --out o --log-format json",
        "purify none.warc --out o --log-format json",
        "report none --log-format json",
        "evaluate none --truth none --log-format json",
        "explain none a b --log-format json",
    ] {
        json(&typed.split(' ').collect::<Vec<_>>(), folder.path(), 2);
    }
    let lines = json(&["run", "a.jsonl", "--config", "good.toml"], folder.path(), 0);
    assert!(lines.iter().any(|line| line["message"] == "done"), "{lines:?}");
    // The command line takes precedence.
    let text = ["run", "a.jsonl", "--log-format", "text", "--config", "key.toml"];
    let ran = Ran::of(program().current_dir(folder.path()).args(text).output().unwrap()).ends_with(2);
    assert!(ran.stderr.starts_with("error: key.toml, line 2"), "{}", ran.stderr);
}

/// Fails if a terminal would interpret anything in the output.
#[track_caller]
fn is_plain(ran: &Ran) {
    for text in [&ran.stdout, &ran.stderr] {
        let obeyed = |c: char| (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!text.contains(obeyed), "{text:?}");
    }
}

const EVIL: &str = "\u{1b}[31mx\u{9b}2J\r\u{202e}\u{7}";

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let typed = |words: &[&str]| {
        let ran = Ran::of(program().current_dir(folder.path()).args(words).output().unwrap());
        is_plain(&ran);
        ran
    };
    std::fs::write(folder.path().join("truth.jsonl"), format!("{{\"{0}\": 1}}\n", "\\u001b[31m")).unwrap();
    let flag = format!("--{EVIL}");
    for words in [
        &["report", EVIL][..],
        &["explain", EVIL, "a", "b"],
        &["evaluate", EVIL, "--truth", EVIL],
        &["run", EVIL, "--out", "o"],
        &["compare", EVIL, "--out", "o"],
        &["stream", EVIL, "--out", "o"],
        &["purify", EVIL, "--out", "o"],
        &["contaminated", EVIL, "--out", "o", "--against", EVIL],
        &["algorithms", EVIL],
        &["run", "x", &flag],
        &["run", "x", "--chain", EVIL],
        &["run", "x", "--config", EVIL],
        &[EVIL],
    ] {
        assert_eq!(typed(words).code, 2);
        assert_eq!(typed(&[words, &["--log-format", "json"]].concat()).code, 2);
    }
    let told = typed(&["report", EVIL]).stderr;
    assert!(told.contains("\\u001b[31mx\\u009b2J\\u000d\\u202e\\u0007"), "{told:?}");

    // Tests file names, ids and values from a corpus in warnings, the summary and an explanation.
    let docs = folder.path().join(format!("docs-{EVIL}"));
    let mut texts = numbered(["One text of some words.", "One text of some words.", "Another text."]);
    texts[0].id = EVIL.into();
    write_docs(&docs.join(format!("{EVIL}\n.parquet")), &texts, 10);
    std::fs::write(docs.join(format!("bad-{EVIL}.parquet")), b"no Parquet").unwrap();
    let docs = docs.display().to_string();
    let out = format!("out-{EVIL}");
    let ran = typed(&["run", &docs, "--out", &out, "--threads", "2"]).ends_with(3);
    assert!(ran.stderr.contains("bad-\\x1b[31m"), "{}", ran.stderr);
    typed(&["explain", &out, EVIL, "d1"]).ends_with(0);
    let json = typed(&["explain", &out, EVIL, "d1", "--json"]).ends_with(0);
    let told: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(told["documents"][0]["id"], EVIL);
    typed(&["report", &out]).ends_with(0);
    typed(&["evaluate", &out, "--truth", "truth.jsonl"]).ends_with(2);
    typed(&["stream", &docs, "--out", &format!("seen-{EVIL}"), "--threads", "2"]).ends_with(3);
    typed(&["purify", &docs, "--html-column", "text", "--out", &format!("pages-{EVIL}"), "--threads", "2"])
        .ends_with(3);
    let items = ["--against", &docs, "--item-column", "text", "--suite-column", "id", "--memory", "512MiB"];
    typed(&[&["contaminated", &docs, "--out", &format!("found-{EVIL}")], &items[..]].concat()).ends_with(3);
}

fn corpus(folder: &Path) -> PathBuf {
    let docs = folder.join("docs");
    let texts = ["One text of some words.", "One text of some words.", "Another text, of other words."];
    write_docs(&docs.join("a.parquet"), &numbered(texts), 10);
    docs
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_stdout_does_not_change_what_the_exit_code_says_of_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    let into_full = |words: &[&str]| {
        let mut command = program();
        command.current_dir(folder.path()).arg(words[0]).arg(if words[0] == "evaluate" || words[0] == "report" {
            Path::new("run")
        } else {
            &docs
        });
        command.args(&words[1..]).args(["--threads", "2"]).stdout(File::create("/dev/full").unwrap());
        Ran::of(command.output().unwrap()).ends_with(0).says(&["is complete, but its summary could not be printed"]);
    };
    std::fs::write(folder.path().join("truth.jsonl"), "{\"id_a\": \"d0\", \"id_b\": \"d1\"}\n").unwrap();
    into_full(&["run", "--out", "run"]);
    into_full(&["compare", "--out", "compared", "--algorithms", "exact,minhash"]);
    into_full(&["stream", "--out", "seen"]);
    into_full(&["purify", "--html-column", "text", "--out", "pages"]);
    let items = docs.display().to_string();
    into_full(&["contaminated", "--against", &items, "--item-column", "text", "--out", "found"]);
    into_full(&["evaluate", "--truth", "truth.jsonl"]);
    into_full(&["report"]);
    for name in ["run", "compared", "seen", "pages", "found", "run/evaluation"] {
        assert!(folder.path().join(name).join("_SUCCESS").is_file(), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_printed_is_a_failure_if_nothing_else_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    for words in [
        &["--help"][..],
        &["-h"],
        &["help", "run"],
        &["run", "--help"],
        &["index", "verify", "-h"],
        &["--version"],
        &["algorithms"],
        &["completions", "bash"],
        &["nightly"],
        &["manual", "pages"],
    ] {
        let mut command = program();
        command.current_dir(folder.path()).args(words).stdout(File::create("/dev/full").unwrap());
        let ran = Ran::of(command.output().unwrap()).ends_with(1);
        assert!(
            ran.stderr.contains("cannot print ") && ran.stderr.contains("No space left"),
            "{words:?}: {}",
            ran.stderr
        );
        // A reader that has seen enough is no failure.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = program();
        command.current_dir(folder.path()).args(words).stdout(writer);
        let words = words.join(" ");
        std::fs::remove_dir_all(folder.path().join("pages")).ok();
        Ran::of(command.output().unwrap()).ends_with(0);
        assert!(!words.is_empty());
    }
}

/// The process limit does not apply to root, so a different user runs the program in this test.
#[cfg(target_os = "linux")]
#[test]
#[allow(unsafe_code)]
fn where_threads_cannot_be_started_fewer_do_or_a_message_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    let folder = tempfile::tempdir().unwrap();
    let docs = corpus(folder.path());
    for at in 0..20 {
        std::fs::copy(docs.join("a.parquet"), docs.join(format!("b{at}.parquet"))).unwrap();
    }
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let binary = folder.path().join("dupsift");
    std::fs::copy(crate::kit::built(), &binary).unwrap();
    for (at, limit) in [3, 6, 12].into_iter().enumerate() {
        let mut command = Command::new(&binary);
        let out = format!("out{limit}");
        command
            .args(["run", "docs", "--out", &out, "--threads", "16", "--memory", "512MiB"])
            .current_dir(folder.path());
        // SAFETY: the call only reads the user id.
        if unsafe { libc::geteuid() } == 0 {
            command.uid(54_321 + at as u32);
        }
        let limited = move || {
            let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
            // SAFETY: this is one system call, with a value that lives as long as the call.
            match unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &limit) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: only `setrlimit` is called between fork and exec.
        unsafe { command.pre_exec(limited) };
        let ran = Ran::of(command.output().unwrap());
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        match ran.code {
            0 => assert!(ran.stderr.contains("WARN") && ran.stderr.contains("can be started"), "{}", ran.stderr),
            code => assert!(code == 1 && ran.stderr.contains("error: "), "{code}: {}", ran.stderr),
        }
        assert!(limit < 12 || ran.code == 0, "{}", ran.stderr);
    }
}

const PANICS: &str = "DUPSIFT_TEST_PANICS";

/// The next test runs this test in a separate process, because a panic hook is process-wide.
#[test]
fn a_process_that_panics() {
    if std::env::var_os(PANICS).is_some() {
        dupsift::cli::terminal::log::listen(["dupsift", "run", "--log-format=json"].into_iter().map(Into::into));
        dupsift_core::guard::quiet();
        assert!(dupsift_core::guard::guarded(|| panic!("told by nothing")).is_err());
        assert!(std::thread::spawn(|| panic!("two\nlines \u{1b}[31m")).join().is_err());
    }
}

#[test]
fn a_panic_is_a_line_of_json_where_a_machine_reads() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "printed::a_process_that_panics", "--nocapture"]).env(PANICS, "1");
    let ran = Ran::of(command.output().unwrap()).ends_with(0);
    let lines: Vec<serde_json::Value> = ran.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((lines.len(), &lines[0]["level"]), (1, &"ERROR".into()), "{}", ran.stderr);
    let said = lines[0]["message"].as_str().unwrap();
    assert!(said.contains("panicked at") && said.contains("two lines"), "{said}");
    assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
}

#[test]
fn the_environment_says_which_lines_are_reported_where_no_option_does() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), "{\"text\": \"One text of some words.\"}\n").unwrap();
    let told = |asked: &str, more: &[&str]| {
        let typed = ["run", "a.jsonl", "--out", "out", "--overwrite"];
        let ran = program().env("RUST_LOG", asked).current_dir(folder.path()).args(typed).args(more).output().unwrap();
        Ran::of(ran).ends_with(0).stderr
    };
    let (start, whole) = ("preset balanced (exact, versions): 1 document in 1 file (", "--algorithms exact:digest=");
    let usual = told("", &[]);
    assert!(usual.contains(start) && !usual.contains(whole), "{usual}");
    assert_eq!(told("warn", &[]), "");
    assert_eq!(told("debug", &["--quiet"]), "");
    for (asked, more) in [("debug", &[][..]), ("warn", &["-v"])] {
        let lines = told(asked, more);
        assert!(lines.contains(start) && lines.contains(whole) && lines.contains("stage begins"), "{lines}");
    }
    let lines = told("warn,dupsift_engine::engine=debug", &[]);
    assert!(!lines.contains(start) && lines.contains("stage begins"), "{lines}");
    let lines = told("debg", &[]);
    assert!(lines.contains("did you mean \"debug\"?") && lines.contains(start) && !lines.contains(whole), "{lines}");
}

#[test]
fn a_threshold_of_minhash_is_reported_before_the_run_and_recorded_after_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), "{\"text\": \"One text of some words.\"}\n").unwrap();
    let run = |out: &str, more: &[&str]| {
        let typed = [&["dedup", "a.jsonl", "--out", out][..], more].concat();
        let ran = Ran::of(program().current_dir(folder.path()).args(typed).output().unwrap()).ends_with(0);
        let record = std::fs::read(folder.path().join(out).join("run.json")).unwrap();
        let record: Value = serde_json::from_slice(&record).unwrap();
        (ran.stderr, record["algorithms"][0].clone())
    };
    let (lines, one) = run("a", &["--algorithms", "minhash", "--threshold", "0.8"]);
    assert!(lines.contains("minhash: 13 bands of 7 rows; expected recall by similarity: 10% at 0.5,"), "{lines}");
    let expected = serde_json::json!({"0.7": 0.672829, "0.8": 0.953098, "0.9": 0.999788});
    assert_eq!(one["expected_recall"], expected);
    assert!(
        one["recipe"].as_str().unwrap().contains("bands=13,") && one["verify"] == "jaccard:0.8 of 5-words shingles",
        "{one}"
    );
    let (_, typed) = run("b", &["--algorithms", "minhash:bands=13,rows=7,verify=jaccard:0.8"]);
    assert_eq!((&typed["recipe"], &typed["expected_recall"]), (&one["recipe"], &expected));
    assert!(run("c", &["--algorithms", "exact"]).1.get("expected_recall").is_none());
}

#[test]
fn bash_completes_lists_of_algorithms() {
    let script = Ran::of(program().args(["completions", "bash"]).output().unwrap()).ends_with(0).stdout;
    let completed = |line: &str| {
        let ask = format!(
            "{script}\nCOMP_LINE={line:?}; COMP_POINT={}; _dupsift_lists dupsift; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            line.len()
        );
        let answer = Ran::of(Command::new("bash").args(["--norc", "-c", &ask]).output().expect("bash")).ends_with(0);
        answer.stdout.lines().map(str::to_string).collect::<Vec<_>>()
    };
    let run = "dupsift run docs --algorithms ";
    assert_eq!(
        completed(&format!("{run}three")),
        ["three_plus_five"]
            .map(String::from)
            .into_iter()
            .chain(completed(&format!("{run}three_plus_five:")).into_iter().map(|own| format!("three_plus_five:{own}")))
            .collect::<Vec<_>>()
    );
    assert_eq!(completed(&format!("{run}minhash:ba")), ["bands="]);
    assert_eq!(completed(&format!("{run}exact,minhash:bands=20,ro")), ["20,rows="]);
    assert_eq!(completed("dupsift run --algorithms=exact,lsi:thr"), ["threshold="]);
    let names = completed(&format!("{run}exact,simh"));
    assert!(
        names.contains(&"exact,simhash".to_string()) && names.contains(&"exact,simhash:distance=".to_string()),
        "{names:?}"
    );
    assert!(completed(&format!("{run}minhash:preset=")).contains(&"fineweb".to_string()));
}

#[test]
fn a_quiet_run_says_when_somebody_should_look() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.jsonl"), "{\"text\": \"One text.\"}\nno json\n").unwrap();
    let typed = ["run", "a.jsonl", "--out", "out", "-q"];
    let Ran { stdout, stderr, .. } =
        Ran::of(program().current_dir(folder.path()).args(typed).output().unwrap()).ends_with(3);
    assert!(stderr.starts_with("warning: the result is complete, but rows or files were rejected"), "{stderr}");
    assert_eq!((stderr.lines().count(), stdout.as_str()), (1, ""), "{stderr}");
}
