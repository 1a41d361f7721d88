//! Tests results that a guard holds back. The earlier output is unchanged, byte for byte, until the result is accepted or a good result is
//! published.

use std::path::{Path, PathBuf};

use crate::kit::{Ran, names_in, program, python, record, run};

/// Holds a temporary folder with a corpus and, at `out`, a good result of 200 rows.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        place.good();
        place.run(&[]).ends_with(0);
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, bytes: &[u8]) {
        std::fs::create_dir_all(self.at("corpus")).unwrap();
        std::fs::write(self.at("corpus/a.jsonl"), bytes).unwrap();
    }

    fn good(&self) {
        let line = |n: usize| format!("{{\"id\":{n},\"text\":\"text number {} of this night\"}}\n", n / 2);
        self.write((0..200).map(line).collect::<String>().as_bytes());
    }

    /// Writes this many rows; the first `broken` rows are not valid UTF-8.
    fn broken(&self, rows: usize, broken: usize) {
        let line = |n: usize| {
            let text: &[u8] = if n < broken { b"\xC4\xE3\xBA\xC3" } else { b"good" };
            [b"{\"text\":\"", text, b"\"}\n"].concat()
        };
        self.write(&(0..rows).flat_map(line).collect::<Vec<u8>>());
    }

    fn run(&self, more: &[&str]) -> Ran {
        let more = [&["--overwrite", "--algorithms", "exact"], more].concat();
        run(&[&self.at("corpus")], &self.at("out"), &more)
    }

    fn accept(&self, more: &[&str]) -> Ran {
        Ran::of(program().arg("accept").arg(self.at("out.held")).args(more).output().unwrap())
    }

    fn names(&self) -> Vec<String> {
        names_in(self.folder.path())
    }

    /// Checks that a run is held back and that the earlier output is unchanged.
    #[track_caller]
    fn held(&self, more: &[&str]) -> Ran {
        let before = tree(&self.at("out"));
        let ran = self.run(more).ends_with(4);
        assert!(before == tree(&self.at("out")), "what stands has changed");
        assert!(self.at("out.held/_HELD").is_file() && !self.at("out.held/_SUCCESS").exists());
        assert_eq!(self.names(), ["corpus", "out", "out.held"]);
        ran
    }
}

/// Returns the files below a folder with their bytes.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for name in names_in(folder) {
        let path = folder.join(name);
        if path.is_dir() {
            files.extend(tree(&path));
        } else {
            files.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    files
}

#[test]
fn nothing_read_never_replaces_what_stands() {
    let place = Place::new();
    place.write(b"");
    let ran = place.held(&[]).says(&["nothing was read"]);
    for told in
        ["guard (held back): nothing was read: the input has no rows", "held back:", "dupsift accept", "out.held"]
    {
        assert!(ran.stdout.contains(told), "{told} is not in\n{}", ran.stdout);
    }
    let record = record(&place.at("out.held"));
    assert_eq!((&record["guards"][0]["name"], &record["guards"][0]["held"]), (&"nothing-read".into(), &true.into()));
    let page = std::fs::read_to_string(place.at("out.held/report.html")).unwrap();
    assert!(page.contains("nothing was read"), "the page tells of it");
    // Replaces the corpus with a web archive whose only record is skipped because of its kind.
    std::fs::remove_file(place.at("corpus/a.jsonl")).unwrap();
    let answer = "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n<p>no";
    let head = "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://x/\r\nContent-Type: application/http\r\n";
    let archive = format!("{head}Content-Length: {}\r\n\r\n{answer}\r\n\r\n", answer.len());
    std::fs::write(place.at("corpus/a.warc"), archive).unwrap();
    place.held(&[]).says(&["the only row has no usable text"]);
}

#[test]
fn a_mostly_broken_corpus_is_held_back_by_its_share() {
    let place = Place::new();
    place.broken(500, 500);
    place.held(&[]);
    place.broken(500, 26);
    let ran = place.held(&[]);
    assert!(ran.stdout.contains("26 rows rejected: 26 not UTF-8; see rejected/"), "{}", ran.stdout);
    // A result at the limit is published, and so is a result within a raised limit. Publication removes the older held result.
    place.broken(500, 25);
    place.run(&[]).ends_with(3);
    assert_eq!(
        (place.names(), record(&place.at("out"))["guards"].clone()),
        (vec!["corpus".into(), "out".into()], serde_json::json!([]))
    );
    place.broken(500, 100);
    place.held(&[]);
    place.run(&["--max-rejected-share", "0.2"]).ends_with(3);
    assert_eq!(place.names(), ["corpus", "out"]);
    // If there are few rows, half of them may be invalid.
    place.broken(99, 49);
    place.run(&[]).ends_with(3);
    place.broken(99, 50);
    place.held(&[]);
    // `--accept` publishes the result of the same files and reports the guard. That of other files would replace it unseen.
    let held = tree(&place.at("out.held"));
    // The first differs in size, the second only in content.
    for (rows, broken) in [(120, 60), (99, 51)] {
        place.broken(rows, broken);
        let said = ["out.held is the result of other files (a.jsonl differs)", "dupsift reject"];
        place.run(&["--accept"]).ends_with(2).says(&said);
        assert!(held == tree(&place.at("out.held")), "{broken} of {rows}");
    }
    place.broken(99, 50);
    let ran = place.run(&["--accept"]).ends_with(3);
    assert!(ran.stdout.contains("guard: 50 of 99 rows are invalid"), "{}", ran.stdout);
    assert_eq!(place.names(), ["corpus", "out"]);
}

#[test]
fn files_set_aside_count_by_their_bytes() {
    let place = Place::new();
    std::fs::write(place.at("corpus/b.parquet"), [b"PAR1".as_slice(), &[7; 100_000]].concat()).unwrap();
    place.held(&[]).says(&["1 skipped file has"]);
    std::fs::write(place.at("corpus/b.parquet"), b"PAR1").unwrap();
    place.run(&[]).ends_with(3);
    // If no row can be used, there is an error, and the earlier output is unchanged.
    std::fs::remove_file(place.at("corpus/a.jsonl")).unwrap();
    let before = tree(&place.at("out"));
    place.run(&[]).ends_with(1).says(&["it is the only input file"]);
    assert!(before == tree(&place.at("out")));
}

#[test]
fn where_nothing_stands_the_result_is_published_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("a.jsonl"), folder.path().join("out"));
    std::fs::write(&input, b"").unwrap();
    run(&[&input], &out, &[]).ends_with(3).says(&["WARN", "nothing was read"]);
    assert!(out.join("_SUCCESS").is_file());
    assert_eq!(record(&out)["guards"][0]["held"], false);
    // An empty folder is not an earlier output.
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    run(&[&input], &folder.path().join("empty"), &["--overwrite"]).ends_with(3);
    assert!(!folder.path().join("empty.held").exists());
}

#[test]
fn an_empty_result_leaves_an_older_one_that_is_held_back() {
    let place = Place::new();
    place.broken(500, 400);
    place.held(&[]);
    std::fs::remove_dir_all(place.at("out")).unwrap();
    place.write(b"");
    place.run(&[]).ends_with(3);
    assert_eq!(place.names(), ["corpus", "out", "out.held"]);
    assert_eq!(record(&place.at("out.held"))["documents"]["rejected"], 400);
    place.accept(&[]).ends_with(0);
    assert_eq!(record(&place.at("out"))["documents"]["rejected"], 400);
}

#[test]
fn an_accepted_result_takes_the_place_with_its_reason() {
    let place = Place::new();
    place.broken(500, 400);
    place.held(&[]);
    let tables = tree(&place.at("out.held/removed"));
    // The held result can be inspected. When the held result is accepted, its page is updated without the corpus.
    Ran::of(program().arg("report").arg(place.at("out.held")).output().unwrap()).ends_with(0);
    let before = std::fs::read_to_string(place.at("out.held/report.html")).unwrap();
    assert!(before.contains("(held back)") && !before.contains("accepted at "));
    std::fs::rename(place.at("corpus"), place.at("corpora")).unwrap();
    let said = place.accept(&["--reason", "the \"new\" crawler"]).ends_with(0).stdout;
    assert_eq!(said.trim_end(), place.at("out").canonicalize().unwrap().display().to_string());
    std::fs::rename(place.at("corpora"), place.at("corpus")).unwrap();
    assert_eq!(place.names(), ["corpus", "out"]);
    assert_eq!(
        names_in(&place.at("out")),
        ["README.md", "_SUCCESS", "clusters", "pairs", "rejected", "removed", "report.html", "run.json"]
    );
    let accepted = record(&place.at("out"))["accepted"].clone();
    assert_eq!((&accepted["reason"], &accepted["output"]), (&"the \"new\" crawler".into(), &"out".into()));
    assert!(accepted["time"].as_str().unwrap().ends_with('Z'));
    assert_eq!(tables.len(), tree(&place.at("out/removed")).len());
    let page = || std::fs::read_to_string(place.at("out/report.html")).unwrap();
    let accepted = page();
    assert!(accepted.contains("accepted at ") && !accepted.contains("(held back)"), "the page tells of it");
    let texts = |page: &str| page.matches("of this night").count();
    assert!(texts(&accepted) == texts(&before), "the rest of the page is as it was");
    Ran::of(program().arg("report").arg(place.at("out")).output().unwrap()).ends_with(0);
    let remarks = |page: &str| page.split("remarks-->").nth(1).map(str::to_owned).unwrap();
    assert_eq!(remarks(&page()), remarks(&accepted));
    let tree = tree(&place.at("out"));
    let again = place.accept(&["--reason", "again"]).ends_with(0).says(&["already accepted"]).stdout;
    assert_eq!((again, tree == self::tree(&place.at("out"))), (said, true));
    // The next good run replaces the held result.
    place.good();
    place.run(&[]).ends_with(0);
}

#[test]
fn an_acceptance_that_was_ended_goes_on_from_every_step() {
    let steps: [&dyn Fn(&Place); 5] = [
        // In the first case, the new record is partly written; in the second, it is complete.
        &|place| std::fs::write(place.at("out.held/.run.json.dupsift-accept"), b"{").unwrap(),
        &|place| accept_until(place, false),
        &|place| {
            accept_until(place, false);
            std::fs::write(place.at("out.held/.report.html.dupsift-accept"), b"<").unwrap();
        },
        // The mark is renamed; then the earlier output is moved aside.
        &|place| accept_until(place, true),
        &|place| {
            accept_until(place, true);
            std::fs::rename(place.at("out"), place.at(".out.dupsift-old-7")).unwrap();
        },
    ];
    for (at, step) in steps.into_iter().enumerate() {
        let place = Place::new();
        place.broken(500, 400);
        place.held(&[]);
        step(&place);
        place.accept(&[]).ends_with(0);
        assert_eq!(place.names(), ["corpus", "out"], "step {at}");
        let record = record(&place.at("out"));
        assert_eq!(
            (&record["documents"]["rejected"], &record["accepted"]["output"]),
            (&400.into(), &"out".into()),
            "{at}"
        );
        assert!(!place.at("out/.report.html.dupsift-accept").exists(), "step {at}");
        // After the same interruptions, a run with the same output also succeeds.
        let place = Place::new();
        place.broken(500, 400);
        place.held(&[]);
        step(&place);
        place.good();
        place.run(&[]).ends_with(0);
        assert_eq!(place.names(), ["corpus", "out"], "step {at}");
    }
}

/// Accepts a result repeatedly, and each time kills the process at a different system call. While a result is accepted, two files, the
/// mark, both folders and the complete earlier result change.
#[cfg(target_os = "linux")]
#[test]
fn an_acceptance_that_is_killed_at_any_moment_loses_nothing() {
    let place = Place::new();
    place.broken(500, 400);
    place.held(&[]);
    let made = place.at("made");
    std::fs::create_dir(&made).unwrap();
    for name in ["out", "out.held"] {
        std::fs::rename(place.at(name), made.join(name)).unwrap();
    }
    let ran = python("tests/killed.py").arg(crate::kit::built()).arg(&made).output().unwrap();
    let said = Ran::of(ran).ends_with(0).stdout;
    let counts: Vec<usize> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
    assert!(counts.len() == 2 && counts[0] > 50 && counts[1] > 8, "{said}");
}

/// Writes the record and, if `mark` is set, renames the mark, as the program does when it accepts a result, before it renames the folder.
fn accept_until(place: &Place, mark: bool) {
    let path = place.at("out.held/run.json");
    let mut record: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    record["accepted"] = serde_json::json!({ "time": "2026-11-22T03:00:00Z", "reason": null, "output": "out" });
    std::fs::write(&path, serde_json::to_vec_pretty(&record).unwrap()).unwrap();
    if mark {
        std::fs::rename(place.at("out.held/_HELD"), place.at("out.held/_SUCCESS")).unwrap();
    }
}

#[test]
fn what_is_no_held_result_is_neither_accepted_nor_replaced() {
    let place = Place::new();
    let accept = |name: &str| Ran::of(program().arg("accept").arg(place.at(name)).output().unwrap()).ends_with(2);
    accept("out").says(&["does not end in .held"]);
    accept("out.held").says(&["there is no such folder"]);
    // A finished output with the name of a held result is an independent output, and a user's own folder with that name is not touched.
    run(&[&place.at("corpus")], &place.at("out.held"), &["--algorithms", "exact"]).ends_with(0);
    accept("out.held").says(&["it has no _HELD"]);
    let before = tree(&place.at("out.held"));
    place.run(&[]).ends_with(2).says(&["out.held", "`--accept"]);
    place.run(&["--accept"]).ends_with(0);
    assert!(before == tree(&place.at("out.held")), "a good run removes held results alone");
    std::fs::remove_dir_all(place.at("out.held")).unwrap();
    // An empty folder with the name of a held result does not prevent the result from being held.
    std::fs::create_dir(place.at("out.held")).unwrap();
    place.run(&[]).ends_with(0);
    place.broken(500, 400);
    place.held(&[]);
    std::fs::write(place.at("out.held/removed/notes.txt"), b"mine").unwrap();
    accept("out.held").says(&["removed/notes.txt"]);
    std::fs::remove_file(place.at("out.held/removed/notes.txt")).unwrap();
    // The folder with the final name must be replaceable.
    std::fs::write(place.at("out/mine.txt"), b"mine").unwrap();
    accept("out.held").says(&["mine.txt"]);
    assert!(place.at("out.held/_HELD").is_file() && place.at("out/mine.txt").is_file());
}

#[cfg(unix)]
#[test]
fn make_dedup_fails_on_a_held_result_and_takes_losses_with_a_notice() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    // Stands in for cargo, because the program is already built.
    let cargo = place.at("cargo");
    let words = "#!/bin/sh\n[ \"$1\" = build ] && exit 0\nwhile [ \"$1\" != -- ]; do shift; done; shift\nexec";
    std::fs::write(&cargo, format!("{words} '{}' \"$@\"\n", crate::kit::built())).unwrap();
    std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
    let make = || {
        let mut make = std::process::Command::new("make");
        make.args(["-C", env!("CARGO_MANIFEST_DIR"), "--no-print-directory", "dedup", "ALGORITHMS=exact"]);
        make.arg(format!("CARGO={}", cargo.display())).arg("ARGS=--threads 2 --memory 256MiB");
        make.env("CORPUS", place.at("corpus")).env("OUT", place.at("out")).env_remove("MAKEFLAGS");
        Ran::of(make.output().unwrap())
    };
    make().ends_with(0);
    place.broken(500, 5);
    make().ends_with(0).says(&["notice: done, but rows"]);
    let before = tree(&place.at("out"));
    place.broken(500, 400);
    make().ends_with(2).says(&["held back:", "accept", "Error 4"]);
    assert!(before == tree(&place.at("out")) && place.at("out.held/_HELD").is_file());
}

#[test]
fn every_verb_that_replaces_is_guarded() {
    let place = Place::new();
    std::fs::write(place.at("items.jsonl"), "{\"question\": \"one two three four five six\"}\n").unwrap();
    for verb in ["compare", "stream", "purify", "contaminated"] {
        let out = place.at(verb);
        let go = |more: &[&str]| {
            let mut command = program();
            command.arg(verb).arg(place.at("corpus")).arg("--out").arg(&out).arg("--overwrite").args(more);
            command.args(["--threads", "2", "--memory", "512MiB", "--no-progress"]);
            if verb == "compare" {
                command.args(["--algorithms", "exact"]);
            }
            if verb == "purify" {
                command.args(["--html-column", "text"]);
            }
            if verb == "contaminated" {
                command.arg("--against").arg(place.at("items.jsonl"));
            }
            Ran::of(command.output().unwrap())
        };
        place.good();
        go(&[]).ends_with(0);
        let before = tree(&out);
        // `purify` treats bytes that are not UTF-8 as a page in a different charset, but null is always invalid.
        place.write("{\"text\":null}\n".repeat(500).as_bytes());
        let ran = go(&[]).ends_with(4);
        assert!(ran.stdout.contains("held back:") && ran.stdout.contains("500 null text"), "{verb}: {}", ran.stdout);
        assert!(before == tree(&out) && place.at(&format!("{verb}.held/_HELD")).is_file(), "{verb}");
        assert_eq!(record(&place.at(&format!("{verb}.held")))["guards"][0]["held"], true, "{verb}");
        // The next step that is printed works once the result is accepted.
        let next = match verb {
            "stream" => {
                Some(format!("next time, once it is accepted: --filter {}\n", out.join("filter.bloom").display()))
            }
            "purify" => Some(format!("next, once it is accepted: dupsift run {} ", out.join("pages").display())),
            _ => None,
        };
        assert!(next.is_none_or(|next| ran.stdout.contains(&next)), "{}", ran.stdout);
        go(&["--accept"]).ends_with(3);
        assert!(!place.at(&format!("{verb}.held")).exists(), "{verb}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_with_a_slash_behind_it_is_the_same_output() {
    let place = Place::new();
    std::fs::rename(place.at("out"), place.at("real")).unwrap();
    std::os::unix::fs::symlink(place.at("real"), place.at("link")).unwrap();
    let slashed = |name: &str| PathBuf::from(format!("{}/", place.at(name).display()));
    let go = |more: &[&str]| {
        let more = [&["--overwrite", "--algorithms", "exact"], more].concat();
        run(&[&place.at("corpus")], &slashed("link"), &more)
    };
    go(&[]).ends_with(0);
    place.broken(500, 400);
    let ran = go(&[]).ends_with(4);
    assert!(ran.stdout.contains(&format!("accept {}\n", place.at("real.held").display())), "{}", ran.stdout);
    assert_eq!(place.names(), ["corpus", "link", "real", "real.held"]);
    Ran::of(program().arg("accept").arg(slashed("real.held")).output().unwrap()).ends_with(0);
    assert_eq!(place.names(), ["corpus", "link", "real"]);
    assert!(place.at("link").is_symlink() && record(&place.at("real"))["documents"]["rejected"] == 400);
    place.good();
    go(&[]).ends_with(0);
}

/// Checks a path that goes through the folder that is replaced. This path would lead nowhere after the folder is renamed.
#[test]
fn an_output_behind_itself_is_replaced_held_back_and_accepted() {
    let place = Place::new();
    let go = || run(&[&place.at("corpus")], &place.at("out/../out"), &["--overwrite", "--algorithms", "exact"]);
    go().ends_with(0);
    assert_eq!(place.names(), ["corpus", "out"]);
    place.broken(500, 400);
    go().ends_with(4);
    Ran::of(program().arg("accept").arg(place.at("out/../out.held")).output().unwrap()).ends_with(0);
    assert_eq!(place.names(), ["corpus", "out"]);
    assert_eq!(record(&place.at("out"))["documents"]["rejected"], 400);
    // The path may also go through a folder that does not exist yet.
    run(&[&place.at("corpus")], &place.at("new/../new"), &["--algorithms", "exact"]).ends_with(3);
    assert_eq!(place.names(), ["corpus", "new", "out"]);
}

#[test]
fn a_model_learnt_from_a_broken_corpus_is_held_back() {
    let place = Place::new();
    let out = place.at("model");
    let train = |more: &[&str]| {
        let mut command = program();
        command.arg("purify").arg(place.at("corpus")).arg("--out").arg(&out).args(["--overwrite", "--no-progress"]);
        Ran::of(command.args(["--html-column", "text", "--train", "kind"]).args(more).output().unwrap())
    };
    // Writes this many labeled pages, and this many rows without a page.
    let write = |pages: usize, nulls: usize| {
        let page = |n: usize| {
            let kind = ["sport", "market"][n % 2];
            format!("{{\"kind\":\"{kind}\",\"text\":\"<p>A page of words on {kind}, number {}.\"}}\n", n / 4)
        };
        let nulls = "{\"kind\":\"sport\",\"text\":null}\n".repeat(nulls);
        place.write(((0..pages).map(page).collect::<String>() + &nulls).as_bytes());
    };
    write(400, 20);
    train(&[]).ends_with(3);
    let before = tree(&out);
    write(400, 22);
    let ran = train(&[]).ends_with(4);
    assert!(ran.stdout.contains("held back:") && ran.stdout.contains("22 null text"), "{}", ran.stdout);
    assert!(before == tree(&out) && place.at("model.held/_HELD").is_file());
    assert_eq!(record(&place.at("model.held"))["guards"][0]["held"], true);
    // Without training data there is an error, and the earlier output is unchanged.
    write(0, 500);
    train(&[]).ends_with(2).says(&["no labeled documents"]);
    assert!(before == tree(&out));
    write(400, 22);
    train(&["--max-rejected-share", "0.06"]).ends_with(3);
    assert!(!place.at("model.held").exists());
    train(&["--accept", "--max-rejected-share", "0"]).ends_with(3);
    assert_eq!(record(&out)["guards"][0]["held"], false);
    train(&["--max-rejected-share", "0"]).ends_with(4);
    let accept = program().arg("accept").arg(place.at("model.held")).output().unwrap();
    Ran::of(accept).ends_with(0);
    assert_eq!(record(&out)["accepted"]["output"], "model");
}

#[test]
fn a_rejected_result_is_removed_and_what_stands_is_unchanged() {
    let place = Place::new();
    let reject = |name: &str| Ran::of(program().arg("reject").arg(place.at(name)).output().unwrap());
    // Only a held result is removed.
    let before = tree(place.folder.path());
    for name in ["out", "corpus", "out.held", "nowhere.held"] {
        reject(name).ends_with(2).says(&["is not a result that was held back"]);
    }
    std::fs::create_dir(place.at("mine.held")).unwrap();
    std::fs::write(place.at("mine.held/notes.txt"), "mine").unwrap();
    reject("mine.held").ends_with(2).says(&["notes.txt"]);
    assert!(place.at("mine.held/notes.txt").is_file());
    std::fs::remove_dir_all(place.at("mine.held")).unwrap();
    assert!(before == tree(place.folder.path()));
    place.broken(500, 500);
    place.held(&[]);
    let before = tree(&place.at("out"));
    let ran = reject("out.held").ends_with(0);
    assert!(ran.stdout.starts_with("removed ") && !ran.stdout.contains("index"), "{}", ran.stdout);
    assert!(before == tree(&place.at("out")));
    assert_eq!(place.names(), ["corpus", "out"]);
    reject("out.held").ends_with(2);
}

#[test]
fn the_index_forgets_a_rejected_batch() {
    let place = Place::new();
    let index = place.at("seen");
    let with_index = |name: &str| {
        let more = ["--algorithms", "exact", "--index", index.to_str().unwrap(), "--previous"];
        let previous = place.at("out");
        run(&[&place.at("corpus")], &place.at(name), &[&more[..], &[previous.to_str().unwrap()]].concat())
    };
    with_index("first").ends_with(0);
    let before = tree(&index);
    place.broken(500, 500);
    with_index("second").ends_with(4);
    assert!(before != tree(&index), "the index holds the batch");
    let ran = Ran::of(program().arg("reject").arg(place.at("second.held")).output().unwrap()).ends_with(0);
    assert!(ran.stdout.contains("the index has forgotten its batch"), "{}", ran.stdout);
    let batches = || Ran::of(program().args(["index", "info", "--json"]).arg(&index).output().unwrap()).ends_with(0);
    assert!(!batches().stdout.contains("second"));
    Ran::of(program().args(["index", "verify"]).arg(&index).output().unwrap()).ends_with(0);
    place.good();
    with_index("third").ends_with(0);
}
