//! Tests that the commands printed in README.md and the manual run, or at least parse, and that the output shown is the actual output of
//! the program.

use std::path::{Path, PathBuf};

use crate::kit::{Ran, program, samples};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// Returns README.md and the pages in docs.
fn pages() -> Vec<PathBuf> {
    let folders = ["docs", "docs/dev", "docs/methods"].map(|folder| root().join(folder).read_dir().unwrap());
    let pages = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    pages.chain([root().join("README.md")]).collect()
}

/// Returns the commands on a page without the program name: lines in code blocks, without comments and redirections, and code within
/// sentences.
fn commands(page: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut prose = String::new();
    let mut in_block = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let typed = line.strip_prefix("dupsift ").and_then(|typed| typed.split(" #").next()?.split(" >").next());
            commands.extend(typed.map(str::to_string));
        } else {
            prose += line;
            prose.push('\n');
        }
    }
    let spans = prose.split('`').skip(1).step_by(2);
    commands.extend(spans.filter_map(|span| span.strip_prefix("dupsift ")).map(str::to_string));
    commands
}

/// Splits a command into words as a shell does.
fn words(typed: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in typed.split('"').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(str::to_string));
        }
    }
    words
}

/// Checks commands with `--help` appended. Such a command does nothing, but fails if its subcommand or an option is unknown.
#[test]
fn every_command_of_the_manual_is_understood() {
    let mut seen = 0;
    for path in pages() {
        for typed in commands(&std::fs::read_to_string(&path).unwrap()) {
            let ran = Ran::of(program().args(words(&typed)).arg("--help").output().unwrap());
            assert_eq!(ran.code, 0, "{}: dupsift {typed}\n{}", path.display(), ran.stderr);
            seen += 1;
        }
    }
    assert!(seen > 50, "only {seen} commands were found");
}

#[test]
fn every_message_of_the_page_of_troubles_is_one_of_the_program() {
    let (page, transcript) = (read("docs/troubleshooting.md"), read("tests/cmd/troubles.trycmd"));
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let messages: Vec<&str> = blocks.flat_map(str::lines).collect();
    assert!(messages.len() > 15, "only {} messages were found", messages.len());
    for message in messages {
        let is_said = transcript.lines().any(|line| line.contains(message));
        assert!(is_said, "tests/cmd/troubles.trycmd has no line with: {message}");
    }
}

/// Checks that the commands in README.md run on the samples, and that the output and the statements about the samples in README.md
/// are correct.
#[test]
fn what_the_readme_types_and_shows_is_so() {
    let page = read("README.md");
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    std::os::unix::fs::symlink(samples().parent().unwrap(), here.join("data-samples")).unwrap();
    let mut said = String::new();
    for typed in page.lines().filter_map(|line| line.strip_prefix("dupsift ")) {
        let typed = typed.split(" #").next().unwrap();
        let mut command = program();
        command.current_dir(here).args(words(typed)).arg("--no-progress");
        said += &Ran::of(command.output().unwrap()).ends_with(0).stdout;
    }
    let shown = page.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let shown: Vec<&str> = shown.lines().filter(|line| *line != "...").collect();
    assert!(shown.len() > 3, "{shown:?}");
    for line in shown {
        assert!(said.contains(line), "{line}\nis not in\n{said}");
    }
    // The two commands that everybody types first stand on the first screen, before anything has to be installed.
    let first_screen: Vec<&str> = page.lines().take(30).collect();
    for typed in ["make dedup CORPUS=data-samples/docs", "make test"] {
        assert!(first_screen.contains(&typed), "`{typed}` is not on the first screen of README.md");
    }
    // Checks the pair on the first screen.
    assert!(page.contains("301 of its 303") && said.contains("301 of 303"), "{said}");
}

#[test]
fn the_reader_of_commands_reads_commands() {
    let page = "`dupsift a\nb` and `c`\n```sh\ndupsift d \"e f\" g   # h\ndupsift i >j\nmake i\n```\n```text\n$ dupsift j\n```\n";
    let found = commands(page);
    assert_eq!(
        found.iter().map(|typed| words(typed)).collect::<Vec<_>>(),
        [vec!["d", "e f", "g"], vec!["i"], vec!["a", "b"]]
    );
}
