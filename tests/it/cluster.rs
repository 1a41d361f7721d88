//! Tests runs whose passes are performed by a cluster, which these tests simulate within the process. The tables must equal the tables of a
//! run on one machine, and if a row is lost or read twice, the run must fail.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use dupsift::error::{Error, Result};
use dupsift_cluster::{Block, Blocks, Cluster, Frame, Kind, Known, Layout, Opened, Step};
use dupsift_engine::engine::Progress;
use dupsift_engine::job::RunReport;
use dupsift_engine::options::{RunOptions, Settings, Verb, resolve};
use dupsift_engine::reading::look;
use dupsift_study::{Review, with_page};

use crate::hot_key::of_the_same_sentences;
use crate::kit::{assert_same_bytes, done, record, sample_docs, samples, write_docs};
use crate::what_identifies;

const BUCKETS: u32 = 5;
const TASK_BYTES: u64 = 300_000;

/// Selects the error to simulate in the first pass.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// A task is skipped.
    Lost,
    /// A task is run in place of a different task and therefore counts twice.
    Twice,
}

/// Simulates a cluster with one thread. Frames are lists, and a task processes the blocks of one bucket.
struct Here<'h> {
    options: &'h RunOptions,
    dir: &'h Path,
    fault: Fault,
    opened: OnceLock<Opened>,
    frames: Mutex<HashMap<Frame, Vec<Block>>>,
    made: AtomicUsize,
}

impl<'h> Here<'h> {
    fn new(options: &'h RunOptions, dir: &'h Path, fault: Fault) -> Here<'h> {
        let (opened, frames, made) = Default::default();
        Here { options, dir, fault, opened, frames, made }
    }

    fn opened(&self) -> &Opened {
        self.opened.get().unwrap()
    }

    /// Loads the data that a task requires, as a separate process would.
    fn known(&self, path: Option<&Path>) -> Result<Known> {
        path.map_or_else(|| Ok(Known::none()), |path| Known::read(path, self.opened(), self.dir))
    }

    fn keep(&self, blocks: Vec<Block>) -> Frame {
        let frame = self.made.fetch_add(1, Ordering::Relaxed) as Frame;
        self.frames.lock().unwrap().insert(frame, blocks);
        frame
    }
}

fn all(mut blocks: Blocks, to: &mut Vec<Block>) -> Result<()> {
    while let Some(block) = blocks.take()? {
        to.push(block);
    }
    Ok(())
}

impl Cluster for Here<'_> {
    fn name(&self) -> &str {
        "here"
    }

    fn sizes(&self) -> Result<(u64, u32)> {
        Ok((TASK_BYTES, BUCKETS))
    }

    fn begin(&self, layout: &Layout) -> Result<()> {
        let opened = Opened::open(self.options.clone(), layout.clone())?;
        assert!(self.opened.set(opened).is_ok());
        Ok(())
    }

    fn map(&self, step: &Step, tasks: usize, known: Option<&Path>) -> Result<Frame> {
        let Step::Map(pass) = step else { panic!("{step:?} takes rows") };
        assert!(tasks > 2);
        let (known, mut out) = (self.known(known)?, Vec::new());
        for task in 0..tasks {
            let task = match self.fault {
                Fault::Lost if pass.notes && task == 1 => continue,
                Fault::Twice if pass.notes && task == 1 => 0,
                _ => task,
            };
            all(dupsift_cluster::map(self.opened(), pass, &known, task, self.dir)?, &mut out)?;
        }
        Ok(self.keep(out))
    }

    fn reduce(&self, step: &Step, of: &[(Frame, Vec<Kind>)], known: Option<&Path>) -> Result<Frame> {
        let (known, mut by_bucket, mut out) = (self.known(known)?, BTreeMap::<u32, Vec<Block>>::new(), Vec::new());
        for (frame, kinds) in of {
            for block in self.frames.lock().unwrap()[frame].iter().filter(|block| kinds.contains(&block.kind)) {
                let bucket = if step.brings_together() { block.bucket } else { 0 };
                by_bucket.entry(bucket).or_default().push(block.clone());
            }
        }
        for mut blocks in by_bucket.into_values() {
            // The last block comes first, because the order of blocks must not matter.
            all(dupsift_cluster::reduce(self.opened(), step, &known, &mut || Ok(blocks.pop()), self.dir)?, &mut out)?;
        }
        Ok(self.keep(out))
    }

    fn collect(&self, of: Frame, kinds: &[Kind], each: &mut dyn FnMut(Block) -> Result<()>) -> Result<()> {
        let blocks = self.frames.lock().unwrap()[&of].clone();
        blocks.into_iter().rev().filter(|block| kinds.contains(&block.kind)).try_for_each(each)
    }

    fn forget(&self, frame: Frame) -> Result<()> {
        self.frames.lock().unwrap().remove(&frame).map(drop).ok_or_else(|| Error::Internal("forgotten twice".into()))
    }
}

fn options(input: &Path, out: &Path, given: &[(&str, &str)]) -> RunOptions {
    let mut settings = Settings::default();
    let out = out.display().to_string();
    for (name, value) in given.iter().copied().chain([("out", &*out), ("threads", "1"), ("memory", "512MiB")]) {
        settings.give_by_name(Verb::Run, name, &value.into()).unwrap();
    }
    resolve(vec![input.display().to_string()], &settings.with_defaults(Verb::Run).unwrap()).unwrap()
}

fn on_cluster(out: &Path, given: &[(&str, &str)], fault: Fault) -> Result<()> {
    over(samples(), out, given, fault)
}

fn over(input: &Path, out: &Path, given: &[(&str, &str)], fault: Fault) -> Result<()> {
    let (options, dir, cancel) = (options(input, out, given), tempfile::tempdir().unwrap(), AtomicBool::new(false));
    let inputs = look(&options, &cancel)?;
    let page = |_: &RunReport, _: &Review| Ok(String::new());
    let cluster = Here::new(&options, dir.path(), fault);
    dupsift_cluster::run(&options, inputs, &cluster, &Progress::hidden(), &cancel, &with_page(&page))?;
    assert!(cluster.frames.lock().unwrap().is_empty(), "blocks that are not needed any more lie there");
    Ok(())
}

#[test]
fn a_cluster_gives_the_tables_of_one_machine() {
    for given in [
        &[("algorithms", "exact,minhash,cosine"), ("decide", "at-least:2")][..],
        &[("algorithms", "exact,minhash,cosine"), ("decide", "all"), ("remove-if", "pair"), ("chain", "remove")],
        &[
            ("algorithms", "exact,simhash:distance=12,tf,lsi,repeats"),
            ("count-copies", "false"),
            ("keep", "length asc"),
        ],
        &[("algorithms", "exact,minhash"), ("keep-per", "source"), ("corpus", "keep"), ("add", "duplicates")],
    ] {
        let folder = tempfile::tempdir().unwrap();
        let typed: Vec<String> =
            given.iter().flat_map(|(name, value)| [format!("--{name}"), (*value).to_owned()]).collect();
        let one = done(samples(), &typed.iter().map(String::as_str).collect::<Vec<_>>());
        let out = folder.path().join("out");
        on_cluster(&out, given, Fault::None).unwrap();
        assert_same_bytes(&one.out(), &out, &format!("{given:?}"));
        assert_eq!(record(&out)["driver"], "here");
    }
}

/// Checks that tasks remove the same documents as one machine if titles, numbers, code and answers decide.
#[test]
fn a_cluster_removes_by_what_identifies_documents() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("docs"), folder.path().join("out"));
    for (at, docs) in what_identifies::batches().concat().chunks(90).enumerate() {
        write_docs(&input.join(format!("{at}.parquet")), docs, 30);
    }
    let one = done(&input, &[]);
    what_identifies::check(&[&one.out()]);
    over(&input, &out, &[("max-template-share", "1")], Fault::None).unwrap();
    assert_same_bytes(&one.out(), &out, "what identifies documents");
}

/// Checks that tasks leave out the same candidates as a run on one machine if hundreds of texts share most of their sentences.
#[test]
fn a_cluster_compares_the_nearest_texts_of_a_large_group() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("texts"), folder.path().join("out"));
    fs::create_dir_all(&input).unwrap();
    for (at, texts) in of_the_same_sentences(1_200).chunks(300).enumerate() {
        let line = |(row, text): (usize, &String)| format!("{{\"id\": \"{at}-{row}\", \"text\": \"{text}\"}}\n");
        fs::write(input.join(format!("{at}.jsonl")), texts.iter().enumerate().map(line).collect::<String>()).unwrap();
    }
    let one = done(&input, &["--max-removed-share", "1"]);
    over(&input, &out, &[("max-removed-share", "1")], Fault::None).unwrap();
    assert_same_bytes(&one.out(), &out, "a large group");
    let counts = [&one.out(), &out].map(|out| {
        let versions = &record(out)["algorithms"][1];
        ["compared", "candidates", "left_out_of_large_groups"].map(|name| versions[name].as_u64().unwrap())
    });
    assert!(counts[0] == counts[1] && counts[0][2] > 0, "{counts:?}");
}

#[test]
fn the_rows_that_tasks_read_are_held_against_those_of_the_files() {
    let rows = sample_docs().len();
    let lost = format!("but the corpus has {rows}");
    let twice = format!(" of {rows} more than once");
    for (fault, said) in [(Fault::Lost, lost), (Fault::Twice, twice)] {
        let folder = tempfile::tempdir().unwrap();
        let error = on_cluster(&folder.path().join("out"), &[("algorithms", "exact")], fault).unwrap_err().to_string();
        assert!(error.contains(&said), "{error}");
        assert!(!folder.path().join("out").exists());
    }
}

/// Writes four files of documents. Each document has three unique words and one word that all documents share; some documents have exact
/// copies.
fn one_word_in_common(folder: &Path, texts: u64, copies: u64) {
    fs::create_dir_all(folder).unwrap();
    let mut files: [String; 4] = Default::default();
    for (row, number) in (0..texts).chain(0..copies).enumerate() {
        let own = ["lamp", "stone", "river"].map(|word| format!("{word}{number}")).join(" ");
        writeln!(files[row % 4], r#"{{"id": "d{row}", "text": "common {own}"}}"#).unwrap();
    }
    for (at, lines) in files.iter().enumerate() {
        fs::write(folder.join(format!("{at}.jsonl")), lines).unwrap();
    }
}

#[test]
fn a_join_that_compares_nearly_all_with_all_is_refused_once_terms_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let (input, out) = (folder.path().join("texts"), folder.path().join("out"));
    let cosine = |threshold: &str| ("algorithms", format!("exact,cosine:threshold={threshold}"));
    let run = |threshold: &str| {
        let (name, algorithms) = cosine(threshold);
        over(&input, &out, &[(name, &algorithms), ("max-removed-share", "1")], Fault::None)
    };
    // The shared word has the weight ln 2, and each of the three other words has the weight ln 22,001. The shared word contributes 0.04 of
    // the vector's length, so it is a key at threshold 0.03 but not at 0.1.
    one_word_in_common(&input, 21_500, 500);
    let error = run("0.03").unwrap_err();
    assert!(matches!(error, Error::Usage { .. }), "{error:?}");
    // The number of comparisons is 21,500 x 21,499 / 2, because extra copies are not compared.
    for part in ["cosine would need about 2.3e8 comparisons", "with 21,499 others", "at most 19,999; use join=heavy"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(!out.exists());
    run("0.1").unwrap();
    assert_eq!(record(&out)["algorithms"][1]["compared"], 0);
    // This many documents may all be compared with each other.
    one_word_in_common(&input, 19_500, 500);
    let (name, algorithms) = cosine("0.03");
    let given = [(name, &*algorithms), ("max-removed-share", "1"), ("overwrite", "true")];
    over(&input, &out, &given, Fault::None).unwrap();
    let cosine = &record(&out)["algorithms"][1];
    let sum = ["compared", "left_out"].map(|name| cosine[name].as_u64().unwrap()).iter().sum::<u64>();
    assert_eq!(sum, 19_500 * 19_499 / 2);
}
