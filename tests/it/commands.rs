//! Tests every command shown in README.md, the manual and the Makefile's help. Commands are run as printed, in the order in which they
//! appear on the page and in a folder with the files that the page mentions, unless they are listed in [`LEFT_OUT`] with the reason.
//! `python/tests/test_pages.py` runs the Python blocks with the wheel, as part of `make python` and `make python-spark`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use arrow::array::{ArrayRef, StringArray};

use crate::kit::{Ran, python, write_columns};

/// Beginnings of commands that this test does not run, each with the reason. These commands build, install or measure, or require files
/// outside the repository. If a make target runs the command, the reason mentions it.
const LEFT_OUT: &[(&str, &str)] = &[
    ("make test", "runs this test"),
    ("make wheel", "builds the wheel: `make python`"),
    ("python3 -m venv ~/dedup", "installs packages; `make python` installs the wheel so"),
    ("pip install", "installs packages; `make python` installs the wheel so"),
    ("python -m dupsift", "takes the wheel: `make python`, and `make python-spark` for dupsift.spark"),
    ("python -c \"import dupsift", "takes the wheel: `make python`"),
    ("duckdb -c", "takes DuckDB and its extension for Delta tables"),
    ("spark-submit", "takes Spark: `make python-spark`"),
    ("make spark CORPUS=data-samples/docs", "takes the wheel and Spark: `make python-spark`"),
    ("cp dupsift-*.whl dupsift.zip", "takes the wheel: `make python-spark`"),
    ("make dedup CORPUS=s3:", "takes a bucket: the tests in `remote.rs`"),
    ("dupsift run s3:", "takes a bucket: the tests in `remote.rs`"),
    ("make lab", "measures for minutes; most corpora are not in the repository"),
];

/// Placeholders on pages and their values in this test, tried in order. Each value replaces all occurrences of the placeholder.
const BOUND: &[(&str, &str)] = &[
    // Pairs of ids in the corpus of this test.
    ("ID_A ID_B", "library-1 library-2"),
    ("ID KEPT_ID", "library-2 library-1"),
    ("explain OUT A B", "explain OUT library-1 library-2"),
    ("--input GLOB", "--input 'corpus/*.jsonl'"),
    ("algorithms NAME", "algorithms minhash"),
    ("manual DIR", "manual manual"),
    ("run DIR/pages", "run data/pages/pages"),
    (
        "purify LABELLED --train COLUMN --out DIR",
        "purify labelled.parquet --html-column html --train label --out model",
    ),
    ("OUT/NAME.held", "held/night.held"),
    ("OUT.held", "held.held"),
    ("CORPUS", "corpus"),
    // Numbers that are meant for a larger machine than the test machine.
    ("--keys 100000000", "--keys 100000"),
];

/// Absolute paths, each of which is mapped to a folder below the folder of the page.
const ROOTS: &[&str] = &["/data/", "/usr/local/", "/var/log/", "~/"];

/// Events that a page describes before a command: the page, the command, and the event as a shell command.
const BEFORE: &[(&str, &str, &str)] = &[
    (
        "docs/scheduling.md",
        "dupsift accept OUT/NAME.held",
        "dupsift run corpus --out held/night && { dupsift run torn.jsonl --out held/night --overwrite; test $? = 4; }",
    ),
    (
        "docs/scheduling.md",
        "dupsift run /data/crawl/today --out /data/dedup/latest",
        "rm -r data/dedup && dupsift run data/crawl/today --out data/dedup/latest && rm data/crawl/today/* && cp torn.jsonl data/crawl/today",
    ),
    (
        "docs/guards.md",
        "dupsift accept OUT.held",
        "dupsift run corpus --out held && { dupsift run torn.jsonl --out held --overwrite; test $? = 4; }",
    ),
    (
        "docs/scheduling.md",
        "dupsift reject OUT/NAME.held",
        "rm -r held && dupsift run corpus --out held/night && { dupsift run torn.jsonl --out held/night --overwrite; test $? = 4; }",
    ),
    (
        "docs/guards.md",
        "dupsift reject OUT.held",
        "rm -r held && dupsift run corpus --out held && { dupsift run torn.jsonl --out held --overwrite; test $? = 4; }",
    ),
    // The program from the tutorial, saved under the file name on the page.
    (
        "docs/tutorial.md",
        "python make_crawl.py",
        "awk '/^```python/ { inside = 1; next } /^```/ && inside { exit } inside' docs/tutorial.md >make_crawl.py",
    ),
    ("docs/faq.md", "dupsift run monday tuesday", "cp -r corpus monday && cp -r corpus tuesday"),
    (
        "docs/inputs.md",
        "dupsift run crawl --out crawl/r2",
        "dupsift run crawl --out crawl/r1 --corpus keep && dupsift run crawl --out nights/a --corpus keep && cp corpus/*.jsonl nights",
    ),
    ("docs/recipes.md", "dupsift run train", "cp -r corpus train && cp -r bench test"),
    // A label in the file that an earlier command of the page writes.
    (
        "docs/recipes.md",
        "dupsift evaluate out/docs",
        "page=Microsoft.PowerShell.Core/About/about_Line_Editing && \
         printf 'id_a,id_b,label\\npsdocs:5.1/%s,psdocs:7.6/%s,y\\n' $page $page >labels.csv",
    ),
    // The labels that a reader exports from the page.
    ("docs/report.md", "dupsift evaluate OUT", "printf 'id_a,id_b,label\\nlibrary-1,library-2,1\\n' >labels.csv"),
    // The documents to forget.
    (
        "docs/incremental.md",
        "dupsift index forget",
        "for id in a17 b4; do echo '{\"id\": \"'$id'\", \"text\": \"The text of '$id'.\"}'; done >more.jsonl && \
         dupsift run more.jsonl --out data/dedup/more --index data/seen",
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A line in a code block, with the exit code that the page states.
    Line(i32),
    /// Code within a sentence.
    Inline,
    /// The content of a file that later commands use.
    File,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Printed {
    page: String,
    line: usize,
    typed: String,
    kind: Kind,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns README.md, python/README.md and all pages of the manual, as paths relative to the repository.
fn pages() -> Vec<String> {
    fn below(folder: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    let mut found = vec!["README.md".to_owned(), "python/README.md".to_owned()];
    below(&root().join("docs"), &mut found);
    found[2..].sort();
    found
}

/// Returns the exit code that the text mentions.
fn code_in(text: &str) -> Option<i32> {
    let behind = text.split("exit code ").nth(1)?.trim_start_matches("is ");
    behind.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
}

/// Returns whether a word is the name of a script of the repository.
fn is_script(word: &str) -> bool {
    let is_there = word.starts_with("scripts/") || word.starts_with("benches/lab/");
    is_there && (word.ends_with(".py") || word.ends_with(".sh"))
}

/// Returns whether code within a sentence is a command: dupsift, make, Python or a script.
fn is_command(typed: &str) -> bool {
    let first = typed.split_whitespace().next().unwrap_or_default();
    is_script(first) || ["dupsift", "make", "python", "python3", "cargo", "pip", "spark-submit"].contains(&first)
}

/// Returns the commands on a page, in order.
fn commands(page: &str, text: &str) -> Vec<Printed> {
    let mut found = Vec::new();
    let (mut language, mut begun, mut block, mut prose, mut before) = (None, 0, Vec::new(), Vec::new(), String::new());
    for (at, line) in text.lines().enumerate() {
        match (line.trim_start().strip_prefix("```"), language) {
            (Some(named), None) => {
                before = inline(page, &prose, &mut found);
                prose.clear();
                (language, begun) = (Some(named.trim()), at + 2);
            }
            (Some(_), Some(language_now)) => {
                found.extend(of_block(page, begun, language_now, &block, &before));
                block.clear();
                language = None;
            }
            (None, Some(_)) => block.push(line),
            // The exit code of a command is mentioned in the section of the command.
            (None, None) if line.starts_with('#') => {
                inline(page, &prose, &mut found);
                prose.clear();
            }
            (None, None) => prose.push((at + 1, line)),
        }
    }
    inline(page, &prose, &mut found);
    found
}

/// Adds the commands within sentences and returns the sentences as one string.
fn inline(page: &str, prose: &[(usize, &str)], found: &mut Vec<Printed>) -> String {
    let joined: String = prose.iter().map(|(_, line)| format!("{line}\n")).collect();
    let mut read = 0;
    for (at, part) in joined.split('`').enumerate() {
        let typed = part.split_whitespace().collect::<Vec<_>>().join(" ");
        // In a table, a bar within code is written as `\|`.
        if at % 2 == 1 && is_command(&typed) {
            let line = prose[joined[..read].matches('\n').count().min(prose.len() - 1)].0;
            found.push(Printed { page: page.into(), line, typed, kind: Kind::Inline });
        }
        read += part.len() + 1;
    }
    joined
}

fn of_block(page: &str, begun: usize, language: &str, lines: &[&str], before: &str) -> Vec<Printed> {
    let printed = |line: usize, typed: &str, kind: Kind| Printed {
        page: page.into(),
        line,
        typed: typed.split_whitespace().collect::<Vec<_>>().join(" "),
        kind,
    };
    match language {
        "sh" | "console" => {
            let (mut found, mut begun_at, mut whole) = (Vec::new(), begun, String::new());
            for (at, line) in lines.iter().enumerate() {
                let (typed, remark) = line.split_once(" #").unwrap_or((line, ""));
                whole += typed.trim_end().trim_end_matches('\\');
                if line.ends_with('\\') {
                    continue;
                }
                if !whole.trim().is_empty() {
                    let code = code_in(remark).or_else(|| code_in(before).filter(|_| lines.len() == 1)).unwrap_or(0);
                    found.push(printed(begun_at, whole.trim_start_matches("$ "), Kind::Line(code)));
                }
                (begun_at, whole) = (begun + at + 1, String::new());
            }
            found
        }
        "toml" => {
            let typed = lines.join("\n");
            vec![Printed { page: page.into(), line: begun, typed, kind: Kind::File }]
        }
        // A crontab line begins with five fields.
        "text" => {
            let cron = lines.iter().enumerate().filter(|(_, line)| line.starts_with(|c: char| c.is_ascii_digit()));
            let cron = cron.filter_map(|(at, line)| Some((at, line.splitn(6, ' ').nth(5)?)));
            let cron = cron.filter(|(_, typed)| typed.contains("nightly.sh"));
            cron.map(|(at, typed)| printed(begun + at, typed, Kind::Line(0))).collect()
        }
        // Rust blocks are code for contributors, which a test of the algorithms compiles.
        "python" | "diff" | "rust" => Vec::new(),
        other => panic!("{page}, line {begun}: a block of {other:?}, which nobody runs: say here what is done with it"),
    }
}

fn all() -> Vec<Printed> {
    let of_page = |page: String| commands(&page, &fs::read_to_string(root().join(&page)).unwrap());
    pages().into_iter().flat_map(of_page).collect()
}

/// Returns whether a command begins with these words.
fn begins(typed: &str, words: &str) -> bool {
    typed.strip_prefix(words).is_some_and(|rest| rest.is_empty() || !rest.starts_with(|c: char| c.is_alphanumeric()))
}

fn is_left_out(printed: &Printed) -> bool {
    LEFT_OUT.iter().any(|(words, _)| begins(&printed.typed, words))
}

/// Returns whether the printed text is only the name of a command, a make target or a script.
fn is_name(printed: &Printed) -> bool {
    let words: Vec<&str> = printed.typed.split(' ').collect();
    printed.kind == Kind::Inline
        && words.len() == if is_script(words[0]) { 1 } else { 2 }
        && !printed.typed.contains('=')
}

/// Holds a folder with all files that pages mention.
struct Desk {
    folder: tempfile::TempDir,
    outputs: usize,
}

impl Desk {
    fn new() -> Desk {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().canonicalize().unwrap();
        let made = |name: &str| {
            fs::create_dir_all(here.join(name)).unwrap();
            here.join(name)
        };
        for name in fs::read_dir(root().join("tests/cmd/daily.in")).unwrap() {
            copy(&name.unwrap().path(), &here);
        }
        for name in ["data-samples", "scripts", "benches", "docs", "Makefile"] {
            symlink(root().join(name), here.join(name)).unwrap();
        }
        let bin = made("bin");
        symlink(crate::kit::built(), bin.join("dupsift")).unwrap();
        made("target/release");
        symlink(crate::kit::built(), here.join("target/release/dupsift")).unwrap();
        made("usr/local");
        symlink(&bin, here.join("usr/local/bin")).unwrap();
        made("var/log");
        // Uses the program that was built for this test instead of building it again.
        let cargo = "#!/bin/sh\ncase \"$1\" in\nbuild) exit 0 ;;\nrun) while [ \"$1\" != -- ]; do shift; done; shift; exec dupsift \"$@\" ;;\nesac\nexit 9\n";
        fs::write(bin.join("cargo"), cargo).unwrap();
        fs::set_permissions(bin.join("cargo"), fs::Permissions::from_mode(0o755)).unwrap();

        // Writes the notices with the columns that pages mention, as files in several formats and folders.
        let notices = fs::read_to_string(here.join("corpus/notices.jsonl")).unwrap();
        let notices: Vec<serde_json::Value> = notices.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let text = |notice: &serde_json::Value, name: &str| notice[name].as_str().unwrap().to_owned();
        let rows: String = notices
            .iter()
            .enumerate()
            .map(|(at, notice)| {
                let (id, text) = (text(notice, "id"), text(notice, "text"));
                let row = serde_json::json!({"id": id, "url": id, "text": text, "content": text, "site": "a", "lang": "en", "split": if at % 2 == 0 { "test" } else { "train" }, "date": format!("2026-11-{:02}", at + 1)});
                format!("{row}\n")
            })
            .collect();
        fs::write(here.join("corpus/notices.jsonl"), &rows).unwrap();
        let folders = [
            "data/crawl/today",
            "data/crawl/2026-11-21",
            "data/crawl/2026-11-22",
            "data/crawl/sample",
            "crawl/2026-11-20",
            "extra",
        ];
        for name in folders {
            fs::write(made(name).join("notices.jsonl"), &rows).unwrap();
        }
        for name in ["data/crawl/monday", "data/crawl/tuesday"] {
            fs::write(made(name).join("notices.jsonl"), &rows).unwrap();
        }
        let column = |values: Vec<String>| Arc::new(StringArray::from(values)) as ArrayRef;
        let of = |name: &str| column(notices.iter().map(|notice| text(notice, name)).collect());
        let pages = notices.iter().map(|notice| {
            format!(
                "<html><title>{}</title><body><article><p>{}</p></article></body></html>",
                text(notice, "id"),
                text(notice, "text")
            )
        });
        let labels = notices.iter().map(|notice| text(notice, "id").split('-').next().unwrap().to_owned()).collect();
        let html = column(pages.collect());
        let tables: [(&str, &[(&str, ArrayRef)]); 5] = [
            ("pages.parquet", &[("id", of("id")), ("html", html.clone())]),
            ("labelled.parquet", &[("id", of("id")), ("html", html), ("label", column(labels))]),
            ("bench/a.parquet", &[("id", of("id")), ("text", of("text"))]),
            ("bench/b.parquet", &[("id", of("id")), ("text", of("text"))]),
            ("labels.parquet", &[("id_a", column(vec!["pool-1".into()])), ("id_b", column(vec!["pool-2".into()]))]),
        ];
        for (name, columns) in tables {
            write_columns(&here.join(name), columns, 100);
        }
        let page = "<html><title>A title</title><body><p>One page of an archive, with some words.</p></body></html>";
        let response = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
        let record = format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2026-11-20T00:00:00Z\r\nWARC-Target-URI: http://a.example/\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{response}\r\n\r\n",
            response.len()
        );
        fs::write(here.join("crawl.warc"), record).unwrap();
        let desk = Desk { folder, outputs: 0 };
        desk.sh("gzip crawl.warc && gzip <corpus/notices.jsonl >crawl.jsonl.gz && cp crawl.jsonl.gz data/crawl/today.jsonl.gz")
            .ends_with(0);
        desk
    }

    fn path(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Runs a line in a shell, with the Python interpreter of the tests.
    fn sh(&self, line: &str) -> Ran {
        let here = self.path();
        let python = python("").get_program().to_owned();
        let of_python = Path::new(&python).parent().unwrap().to_path_buf();
        let usual = std::env::var_os("PATH").unwrap_or_default();
        let path = [here.join("bin"), of_python].into_iter().chain(std::env::split_paths(&usual));
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&here).stdin(Stdio::null());
        command.env("PATH", std::env::join_paths(path).unwrap()).env("HOME", &here).env("NO_COLOR", "1");
        for name in ["RUST_LOG", "CARGO_TARGET_DIR", "CARGO", "MAKEFLAGS", "MAKELEVEL", "DUPSIFT", "OUT", "CORPUS"] {
            command.env_remove(name);
        }
        Ran::of(command.output().unwrap())
    }

    /// Maps absolute paths to folders below this folder, and replaces placeholders.
    fn bound(&mut self, typed: &str) -> String {
        let here = self.path();
        let mut bound = format!(" {typed} ");
        for (from, to) in BOUND {
            bound = bound.replace(&format!(" {from} "), &format!(" {to} "));
        }
        for root in ROOTS {
            let below = format!("{}/{}", here.display(), root.trim_start_matches(['/', '~']));
            for begin in [" ", "=", ">"] {
                bound = bound.replace(&format!("{begin}{root}"), &format!("{begin}{below}"));
            }
        }
        // Each run that writes to OUT gets its own output; commands that read OUT use the latest output.
        if bound.contains(" --out OUT ") {
            self.outputs += 1;
        } else if bound.contains(" OUT ") && self.outputs == 0 {
            self.outputs = 1;
            self.sh("dupsift run corpus --out OUT-1").ends_with(0);
        }
        bound.replace(" OUT ", &format!(" OUT-{} ", self.outputs)).trim().to_owned()
    }

    /// Runs a command; returns the failure as an error.
    fn run(&mut self, printed: &Printed) -> Result<(), String> {
        let shown = |line: &str, ran: &Ran| {
            format!(
                "{}:{}: {}\n  run as: {line}\n  exit code {}\n{}{}",
                printed.page, printed.line, printed.typed, ran.code, ran.stdout, ran.stderr
            )
        };
        for (page, words, line) in BEFORE {
            if printed.page == *page && begins(&printed.typed, words) {
                let ran = self.sh(line);
                if ran.code != 0 {
                    return Err(shown(line, &ran));
                }
            }
        }
        if printed.kind == Kind::File {
            let name =
                printed.typed.lines().next().and_then(|line| line.strip_prefix("# ")).ok_or("a file without a name")?;
            fs::write(self.path().join(name), &printed.typed).unwrap();
            return Ok(());
        }
        if is_name(printed) {
            return self.knows(printed);
        }
        let line = self.bound(&printed.typed);
        let ran = self.sh(&line);
        let expected: &[i32] = match printed.kind {
            Kind::Line(code) if code != 0 => &[code],
            _ => &[0, 3],
        };
        if expected.contains(&ran.code) { Ok(()) } else { Err(shown(&line, &ran)) }
    }

    /// Checks that the command, make target or executable script exists.
    fn knows(&self, printed: &Printed) -> Result<(), String> {
        let wrong = |why: &str| Err(format!("{}:{}: {}: {why}", printed.page, printed.line, printed.typed));
        match printed.typed.split_once(' ') {
            Some(("dupsift", verb)) if self.sh(&format!("dupsift {verb} --help")).code != 0 => {
                wrong("no command of the program")
            }
            Some(("make", target)) if !targets().contains(target) => {
                wrong("no target that the help of the Makefile names")
            }
            None if self.sh(&format!("test -x {}", printed.typed)).code != 0 => wrong("no script that can be started"),
            _ => Ok(()),
        }
    }
}

fn copy(from: &Path, folder: &Path) {
    let to = folder.join(from.file_name().unwrap());
    if from.is_dir() {
        fs::create_dir(&to).unwrap();
        fs::read_dir(from).unwrap().for_each(|entry| copy(&entry.unwrap().path(), &to));
    } else {
        fs::copy(from, to).unwrap();
    }
}

/// Returns the lines in the Makefile's help that begin with `make`, without their descriptions.
fn helped() -> Vec<String> {
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let lines = makefile.lines().take_while(|line| line.starts_with('#'));
    lines.filter_map(|line| Some(line.strip_prefix("#   ")?.split("  ").next()?.to_owned())).collect()
}

fn targets() -> BTreeSet<String> {
    helped().iter().map(|typed| typed.split(' ').nth(1).unwrap().to_owned()).collect()
}

fn run_pages(chosen: impl Fn(&str) -> bool) {
    let printed = all();
    let mut wrong = Vec::new();
    for page in pages().into_iter().filter(|page| chosen(page)) {
        let mut desk = Desk::new();
        for printed in printed.iter().filter(|printed| printed.page == page && !is_left_out(printed)) {
            wrong.extend(desk.run(printed).err());
        }
    }
    assert!(wrong.is_empty(), "{} commands do not run as printed\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn every_command_of_the_readme_runs_as_printed() {
    run_pages(|page| page == "README.md" || page == "python/README.md");
}

#[test]
fn every_command_of_the_manual_runs_as_printed() {
    run_pages(|page| page.starts_with("docs/") && page < "docs/n");
}

#[test]
fn every_command_of_the_rest_of_the_manual_runs_as_printed() {
    run_pages(|page| page.starts_with("docs/") && page >= "docs/n");
}

#[test]
fn the_table_of_edits_is_what_its_script_prints() {
    let ran = Desk::new().sh("benches/lab/edits.py data-samples").ends_with(0);
    let page = fs::read_to_string(root().join("docs/methods/goals.md")).unwrap();
    assert!(
        ran.stdout.lines().count() > 8 && page.contains(&ran.stdout),
        "docs/methods/goals.md has not\n{}",
        ran.stdout
    );
}

/// Checks that options in brackets are optional.
#[test]
fn every_line_of_the_help_of_make_is_one_of_the_makefile() {
    let desk = Desk::new();
    let helped = helped();
    assert!(helped.len() > 15, "{helped:?}");
    for typed in helped {
        let mut least = String::new();
        let mut depth = 0;
        for letter in typed.chars() {
            depth += i32::from(letter == '[') - i32::from(letter == ']');
            if depth == 0 && letter != ']' {
                least.push(letter);
            }
        }
        let most = typed.replace(['[', ']'], "").replace("ARGS=...", "ARGS=--strict");
        for line in [least, most] {
            let ran = desk.sh(&line.replacen("make ", "make -n ", 1));
            assert_eq!(ran.code, 0, "{line}\n{}", ran.stderr);
        }
    }
}

#[test]
fn what_is_left_out_is_printed_somewhere_and_has_a_reason() {
    let printed = all();
    assert!(printed.len() > 150, "only {} commands were found", printed.len());
    for (words, why) in LEFT_OUT {
        assert!(printed.iter().any(|printed| begins(&printed.typed, words)), "no page prints {words:?} any more");
        assert!(why.len() > 8, "{words}");
    }
    for (page, words, _) in BEFORE {
        assert!(
            printed.iter().any(|printed| printed.page == *page && begins(&printed.typed, words)),
            "{page}: {words}"
        );
    }
    for (from, _) in BOUND {
        let is_there = |printed: &Printed| format!(" {} ", printed.typed).contains(&format!(" {from} "));
        assert!(printed.iter().any(is_there), "no page prints {from:?} any more");
    }
    let run = printed.iter().filter(|printed| !is_left_out(printed) && !is_name(printed)).count();
    assert!(run > 60, "only {run} commands run");
}

#[test]
fn the_reader_of_commands_reads_commands() {
    let page = "`dupsift a\nb` and `c`\n```sh\ndupsift d \"e f\" \\\n  g   # h, exit code 4\nmake i\n```\n```text\n30 2 * * * X=1 /a/nightly.sh b >>c\n```\nThe exit code is 3.\n```console\n$ dupsift j\n```\n# k\n```sh\ndupsift l\n```\n";
    let found: Vec<(usize, String, Kind)> =
        commands("p", page).into_iter().map(|printed| (printed.line, printed.typed, printed.kind)).collect();
    let line = |line, typed: &str, code| (line, typed.to_owned(), Kind::Line(code));
    assert_eq!(
        found,
        [
            (1, "dupsift a b".to_owned(), Kind::Inline),
            line(4, "dupsift d \"e f\" g", 4),
            line(6, "make i", 0),
            line(9, "X=1 /a/nightly.sh b >>c", 0),
            line(13, "dupsift j", 3),
            line(17, "dupsift l", 0),
        ]
    );
}
