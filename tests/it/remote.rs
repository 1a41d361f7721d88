//! Tests input from object stores, against a store on the loopback interface that fails on request (`tests/store.py`).
//!
//! The law: the tables, `deduped/` and `texts/` are byte-identical to those of the same files read locally; or the run says what it lost
//! and exits with 3; or it publishes nothing and exits with 1.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dupsift_engine::engine::progress::{Event, Progress, Sink, Unit};
use dupsift_engine::options::{Settings, Verb, resolve};
use dupsift_engine::reading::{Writes, look_and_write};

use crate::kit::{Doc, Ran, files_below, json_lines, names_in, numbered, program, python, record, samples, write_docs};

const SECRET: &str = "canary-4f1b9d2c7e";

/// A store, and a folder for outputs. The store is stopped when the value is dropped.
struct Store {
    folder: tempfile::TempDir,
    server: Child,
    port: u16,
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Store {
    /// Serves an empty bucket.
    fn new() -> Store {
        Store::serving("tests/store.py")
    }

    /// Serves an empty folder by this program.
    fn serving(script: &str) -> Store {
        let folder = tempfile::tempdir().unwrap();
        let bucket = folder.path().join("bucket");
        fs::create_dir(&bucket).unwrap();
        let mut server = python(script).arg(&bucket).stdout(Stdio::piped()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Store { folder, server, port: port.trim().parse().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, key: &str, bytes: &[u8]) {
        let path = self.at("bucket").join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Each fault is `NAME KEY-SUFFIX COUNT`; see `tests/store.py`.
    fn faults(&self, faults: &[&str]) {
        fs::write(self.at("bucket/.faults"), faults.join("\n")).unwrap();
        let _ = fs::remove_file(self.at("bucket/.requests"));
    }

    fn requests(&self) -> Vec<String> {
        fs::read_to_string(self.at("bucket/.requests")).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Returns the program with the environment of the store.
    fn program(&self) -> Command {
        let mut command = program();
        command
            .env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port))
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", SECRET)
            .env("AWS_SESSION_TOKEN", format!("token-{SECRET}"))
            .env_remove("AWS_PROFILE");
        command
    }

    fn command(&self, inputs: &[&str], out: &str, more: &[&str]) -> Command {
        let mut command = self.program();
        command
            .arg("run")
            .args(inputs)
            .arg("--out")
            .arg(self.at(out))
            .args(["--no-progress", "-v", "--threads", "2", "--memory", "512MiB", "--max-template-share", "1"])
            .args(["--algorithms", "exact,minhash"])
            .args(more);
        command
    }

    fn run(&self, inputs: &[&str], out: &str, more: &[&str]) -> Ran {
        Ran::of(self.command(inputs, out, more).output().unwrap())
    }

    /// Runs on the files of the bucket, read locally.
    fn run_locally(&self, folder: &str, out: &str, more: &[&str]) -> Ran {
        self.run(&[&self.at("bucket").join(folder).to_string_lossy()], out, more)
    }

    /// Checks that nothing was published and that nothing incomplete is left next to the output.
    fn has_published_nothing(&self, out: &str) {
        assert!(!self.at(out).exists() && !names_in(self.folder.path()).iter().any(|name| name.contains("partial")));
    }
}

/// Returns the content of all files of an output except the records of the run, which contain times and addresses.
fn content(out: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = files_below(out).into_iter().map(|path| (path.strip_prefix(out).unwrap().to_owned(), path));
    let files = files.filter(|(name, _)| {
        let name = name.file_name().unwrap_or_default();
        !["run.json", "report.html", "applied.json", "comparison.json"].iter().any(|record| name == *record)
    });
    files.map(|(name, path)| (name, fs::read(path).unwrap())).collect()
}

#[track_caller]
fn are_same(a: &Path, b: &Path) {
    let (a, b) = (content(a), content(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    a.iter().for_each(|(name, bytes)| assert!(Some(bytes) == b.get(name), "{} differs", name.display()));
}

/// Documents of which each third repeats the one before.
fn documents(name: &str) -> Vec<Doc> {
    let text = |at: usize| {
        let of = if at % 3 == 2 { at - 1 } else { at };
        (0..30).map(|word| format!("{name}{} word{} ", of * 31 + word, (of + word) % 17)).collect::<String>()
    };
    numbered((0..60).map(text))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    to.write_all(bytes).unwrap();
    to.finish().unwrap()
}

/// Puts one object of each format below `crawl/`.
fn all_formats(store: &Store) {
    let path = store.at("a.parquet");
    write_docs(&path, &documents("a"), 10);
    store.put("crawl/a.parquet", &fs::read(&path).unwrap());
    store.put("crawl/lang=ru/b.jsonl", &json_lines(&documents("b")));
    store.put("crawl/c.jsonl.gz", &gzip(&json_lines(&documents("c"))));
    store.put("crawl/d.jsonl.zst", &zstd::encode_all(&*json_lines(&documents("a")), 3).unwrap());
    store.put("crawl/empty.jsonl", b"");
    store.put("crawl/_hidden.jsonl", b"{\"text\": \"hidden\"}\n");
    store.put("crawl/notes.csvx", b"not read");
}

/// A web archive with one record for each page.
fn archive() -> Vec<u8> {
    let record = |at: usize| {
        let of = at / 2;
        let text: String = (0..80).map(|word| format!("page{of} says word{} again. ", of * 7 + word)).collect();
        let page = format!("<html><body><article><p>{text}</p></article></body></html>");
        let block = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{page}");
        let head = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: https://example.org/{at}\r\nWARC-Date: 2026-11-01T00:00:00Z\r\n\
             WARC-Record-ID: <urn:uuid:{at}>\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n",
            block.len()
        );
        gzip(format!("{head}{block}\r\n\r\n").as_bytes())
    };
    (0..20).flat_map(record).collect()
}

#[test]
fn a_bucket_gives_the_tables_of_the_same_files_in_a_folder() {
    let store = Store::new();
    for name in names_in(samples()) {
        store.put(&format!("docs/{name}"), &fs::read(samples().join(&name)).unwrap());
    }
    let more = ["--corpus", "keep"];
    store.run_locally("docs", "local", &more).ends_with(0);
    for (input, out) in [("s3://bucket/docs", "folder"), ("s3a://bucket/docs/*.parquet", "glob")] {
        store.run(&[input], out, &more).ends_with(0).says(&["3 objects"]);
        are_same(&store.at("local"), &store.at(out));
    }
    store.run_locally("docs/en.parquet", "one-local", &more).ends_with(0);
    store.run(&["s3://bucket/docs/en.parquet"], "one", &more).ends_with(0);
    are_same(&store.at("one-local"), &store.at("one"));
    let input = &record(&store.at("one"))["inputs"][0];
    assert_eq!((&input["file"], &input["path"]), (&"en.parquet".into(), &"s3://bucket/docs/en.parquet".into()));
    assert!(input["etag"].as_str().is_some_and(|etag| etag.len() == 34), "{input}");
    let downloads = &record(&store.at("one"))["downloads"];
    let counts = ["objects", "reused", "requests", "retries", "bytes"].map(|name| downloads[name].as_u64().unwrap());
    assert_eq!(counts, [1, 0, 2, 0, fs::metadata(store.at("bucket/docs/en.parquet")).unwrap().len()]);
    // The copies are gone, and no output names them.
    assert!(names_in(store.folder.path()).iter().all(|name| !name.contains("dupsift-work")));
    for path in files_below(&store.at("folder")) {
        let bytes = fs::read(&path).unwrap();
        assert!(!contains(&bytes, b"dupsift-work") && !contains(&bytes, SECRET.as_bytes()), "{}", path.display());
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn faults_that_pass_change_nothing() {
    let store = Store::new();
    all_formats(&store);
    store.put("web/pages.warc.gz", &archive());
    store.put("web/more.warc.gz", &archive());
    let more = ["--corpus", "keep"];
    store.run_locally("crawl", "local", &more).ends_with(0);
    store.run_locally("web", "local-web", &[]).ends_with(0);
    let faults = [
        "empty list 2",
        "503 a.parquet 1",
        "short a.parquet 1",
        "200 a.parquet 1",
        "reset b.jsonl 1",
        "last c.jsonl.gz 1",
        "429 d.jsonl.zst 1",
        "500 d.jsonl.zst 1",
        "last pages.warc.gz 1",
        "short more.warc.gz 2",
    ];
    store.faults(&faults);
    store.run(&["s3://bucket/crawl/"], "out", &more).ends_with(0).says(&["5 objects"]);
    are_same(&store.at("local"), &store.at("out"));
    let requests = store.requests();
    assert!(requests.iter().filter(|line| line.contains("a.parquet")).count() == 4, "{requests:#?}");
    // Only the last byte is asked for again, and an empty object is not asked for.
    let length = fs::metadata(store.at("bucket/crawl/c.jsonl.gz")).unwrap().len();
    let rest = format!("GET crawl/c.jsonl.gz bytes={}-{} 206", length - 1, length - 1);
    assert!(requests.contains(&rest), "{rest} is not in {requests:#?}");
    assert!(!requests.iter().any(|line| line.starts_with("GET") && line.contains("empty.jsonl")), "{requests:#?}");
    store.run(&["s3://bucket/web/*.warc.gz"], "web", &[]).ends_with(0);
    are_same(&store.at("local-web"), &store.at("web"));
}

#[test]
fn what_is_lost_is_named_and_a_list_is_complete_or_the_run_fails() {
    let store = Store::new();
    all_formats(&store);
    for (fault, said) in [
        ("changed b.jsonl 9", "the object has changed since it was listed"),
        ("deaf b.jsonl 9", "the object has changed since it was listed"),
        ("403 b.jsonl 9", "access is denied"),
    ] {
        store.faults(&[fault]);
        let out = format!("out-{}", &fault[..4]);
        let ran = store.run(&["s3://bucket/crawl"], &out, &[]).ends_with(3);
        ran.says(&["s3://bucket/crawl/lang=ru/b.jsonl: cannot be downloaded", said]);
        let bad = &record(&store.at(&out))["bad_inputs"][0];
        assert_eq!(bad["file"], "lang=ru/b.jsonl");
    }
    store.faults(&["deaf b.jsonl 9"]);
    store.run(&["s3://bucket/crawl"], "strict", &["--strict"]).ends_with(1);
    store.has_published_nothing("strict");
    store.faults(&["403 list 1"]);
    store.run(&["s3://bucket/crawl"], "out", &[]).ends_with(1).says(&["s3://bucket/crawl: cannot be listed"]);
    store.has_published_nothing("out");
    store.run(&["s3://bucket/nowhere/*.parquet"], "out", &[]).ends_with(2).says(&["does not exist"]);
    store.run(&["s3://bucket/crawl/notes.csvx"], "out", &[]).ends_with(2).says(&["nothing to read"]);
    store.run(&["s3://bucket/crawl"], "out", &["--dry-run"]).ends_with(2).says(&["5 objects", "`--dry-run`"]);
    store.has_published_nothing("out");
}

#[test]
fn a_list_of_several_pages_is_complete_or_the_run_fails() {
    let store = Store::new();
    for (at, doc) in documents("x").iter().cycle().take(2_500).enumerate() {
        store.put(&format!("many/{at:04}.jsonl"), &json_lines(std::slice::from_ref(doc)));
    }
    store.faults(&["ok list 1", "empty list 1", "ok list 1", "403 list 1"]);
    store.run(&["s3://bucket/many"], "out", &[]).ends_with(1).says(&["cannot be listed"]);
    store.has_published_nothing("out");
    store.faults(&[]);
    store.run(&["s3://bucket/many"], "out", &[]).ends_with(0).says(&["2,500 objects"]);
    store.run_locally("many", "local", &[]).ends_with(0);
    are_same(&store.at("local"), &store.at("out"));
}

#[test]
fn a_run_that_is_killed_while_it_downloads_fetches_only_the_rest() {
    let store = Store::new();
    all_formats(&store);
    store.faults(&["slow a.parquet 9"]);
    let mut killed = store.command(&["s3://bucket/crawl"], "out", &[]).stderr(Stdio::null()).spawn().unwrap();
    let work = store.at(".out.dupsift-work");
    let copies = || files_below(&work).into_iter().filter(|path| path.to_string_lossy().ends_with(".object")).count();
    let begin = Instant::now();
    while copies() < 4 {
        assert!(begin.elapsed() < Duration::from_secs(60) && killed.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    for path in files_below(&work).iter().filter(|path| path.to_string_lossy().contains(".object")) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
    store.faults(&[]);
    store.run(&["s3://bucket/crawl"], "out", &[]).ends_with(0).says(&["4 of them are already here"]);
    let fetched: Vec<String> = store.requests().into_iter().filter(|line| line.contains("GET crawl/")).collect();
    assert_eq!(fetched, ["GET crawl/a.parquet - 200"]);
    store.run_locally("crawl", "local", &[]).ends_with(0);
    are_same(&store.at("local"), &store.at("out"));
    assert!(!work.exists());
    // A copy of an object that has changed since is not used.
    store.faults(&["slow a.parquet 9"]);
    let mut killed = store.command(&["s3://bucket/crawl"], "again", &[]).stderr(Stdio::null()).spawn().unwrap();
    let work = store.at(".again.dupsift-work");
    while files_below(&work).into_iter().filter(|path| path.to_string_lossy().ends_with(".object")).count() < 4 {
        assert!(begin.elapsed() < Duration::from_secs(120) && killed.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    store.put("crawl/lang=ru/b.jsonl", &json_lines(&documents("other")));
    store.faults(&[]);
    store.run(&["s3://bucket/crawl"], "again", &[]).ends_with(0).says(&["3 of them are already here"]);
    store.run_locally("crawl", "again-local", &[]).ends_with(0);
    are_same(&store.at("again-local"), &store.at("again"));
}

#[test]
fn secrets_are_never_written() {
    let store = Store::new();
    all_formats(&store);
    store.faults(&["503 a.parquet 1", "403 b.jsonl 9"]);
    let out = store.command(&["s3://bucket/crawl"], "out", &[]).env("RUST_LOG", "trace").output().unwrap();
    let ran = Ran::of(out).ends_with(3);
    assert!(!ran.stderr.contains(SECRET) && !ran.stdout.contains(SECRET), "{}", ran.stderr);
    for path in files_below(store.folder.path()).iter().filter(|path| !path.starts_with(store.at("bucket"))) {
        assert!(!contains(&fs::read(path).unwrap(), SECRET.as_bytes()), "{}", path.display());
    }
    for address in ["s3://user:pass-4711@bucket/crawl", "https://user:pass-4711@example.org/a.jsonl"] {
        let ran = store.run(&[address], "refused", &[]).ends_with(2).says(&["contains a password"]);
        assert!(!ran.stderr.contains("4711"), "{}", ran.stderr);
    }
}

#[test]
fn the_mode_of_a_copy_does_not_make_an_output_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let store = Store::new();
    store.put("a.jsonl", &json_lines(&documents("a")));
    store.run(&["s3://bucket/a.jsonl"], "out", &["--corpus", "keep"]).ends_with(0);
    let probe = store.at("probe");
    fs::write(&probe, "").unwrap();
    let usual = fs::metadata(&probe).unwrap().permissions().mode();
    for path in files_below(&store.at("out")) {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode(), usual, "{}", path.display());
    }
}

#[test]
fn every_command_that_reads_a_corpus_reads_a_bucket() {
    let store = Store::new();
    store.put("crawl/a.jsonl", &json_lines(&documents("a")));
    store.put("crawl/b.jsonl", &json_lines(&documents("a")));
    store.put("web/pages.warc.gz", &archive());
    store.put("items.jsonl", &json_lines(&documents("a")[..1]));
    let items = store.at("bucket/items.jsonl");
    let items = items.to_string_lossy();
    for (verb, input, more) in [
        ("compare", "crawl", vec!["--algorithms", "exact,minhash"]),
        ("contaminated", "crawl", vec!["--against", &*items, "--item-column", "text"]),
        ("contaminated", "crawl", vec!["--item-column", "text", "--against", "s3://bucket/items.jsonl"]),
        ("purify", "web", vec![]),
        ("stream", "crawl", vec!["--keys", "1000"]),
    ] {
        let of = |input: &str, out: &str| {
            let mut command = store.program();
            command.arg(verb).arg(input).arg("--out").arg(store.at(out)).args(["--no-progress", "--threads", "2"]);
            Ran::of(command.args(&more).output().unwrap())
        };
        let (local, remote) = (format!("{verb}-{}-local", more.len()), format!("{verb}-{}-remote", more.len()));
        let _ = (fs::remove_dir_all(store.at(&local)), fs::remove_dir_all(store.at(&remote)));
        let expected = of(&store.at("bucket").join(input).to_string_lossy(), &local);
        assert!([0, 3].contains(&expected.code), "{verb}: {}", expected.stderr);
        of(&format!("s3://bucket/{input}"), &remote).ends_with(expected.code);
        are_same(&store.at(&local), &store.at(&remote));
    }
}

/// Runs a command on finished results.
fn after(store: &Store, verb: &str, arguments: &[&str]) -> Ran {
    Ran::of(store.program().arg(verb).args(arguments).output().unwrap())
}

#[test]
fn commands_on_a_result_download_what_the_run_read() {
    let store = Store::new();
    all_formats(&store);
    fs::create_dir(store.at("tmp")).unwrap();
    let (out, work) = (store.at("out"), store.at("tmp"));
    let (out, work) = (&*out.to_string_lossy(), &*work.to_string_lossy());
    store.run_locally("crawl", "local", &[]).ends_with(0);
    store.run(&["s3://bucket/crawl"], "out", &[]).ends_with(0);
    let lists = || store.requests().iter().filter(|line| line.contains(" list ")).count();
    store.faults(&["last a.parquet 1"]);
    let pair = ["a.parquet#2", "a.parquet#1"];
    after(&store, "explain", &[out, pair[0], pair[1], "--work", work]).ends_with(0);
    assert_eq!(lists(), 0, "{:#?}", store.requests());
    after(&store, "show", &[out, "--work", work]).ends_with(0);
    after(&store, "report", &[out, "--work", work]).ends_with(0);
    fs::write(store.at("truth.csv"), "id_a,id_b\nd1,d2\n").unwrap();
    // Ids are unique in a single object.
    store.run(&["s3://bucket/crawl/c.jsonl.gz"], "one", &[]).ends_with(0);
    let (one, truth) = (store.at("one"), store.at("truth.csv"));
    after(&store, "evaluate", &[&one.to_string_lossy(), "--truth", &truth.to_string_lossy(), "--work", work])
        .ends_with(0);
    for (result, to) in [(out, "applied"), (&*store.at("local").to_string_lossy(), "applied-local")] {
        let to = store.at(to);
        after(&store, "apply", &[result, "--out", &to.to_string_lossy(), "--work", work]).ends_with(0);
    }
    are_same(&store.at("applied-local"), &store.at("applied"));
    // The copies are gone.
    assert!(names_in(&store.at("tmp")).is_empty(), "{:?}", names_in(&store.at("tmp")));
    // Texts that the run kept are not downloaded.
    store.run(&["s3://bucket/crawl"], "kept", &["--keep-texts"]).ends_with(0);
    store.faults(&[]);
    let kept = store.at("kept");
    after(&store, "explain", &[&kept.to_string_lossy(), pair[0], pair[1]]).ends_with(0);
    assert!(store.requests().is_empty(), "{:#?}", store.requests());
    // An object that has changed is named, and nothing is published.
    store.put("crawl/lang=ru/b.jsonl", &json_lines(&documents("other")));
    let applied = store.at("again");
    for (verb, more) in [("apply", ["--out", &*applied.to_string_lossy()]), ("explain", pair)] {
        let ran = after(&store, verb, &[&[out], &more[..]].concat());
        assert_ne!(ran.code, 0);
        ran.says(&["s3://bucket/crawl/lang=ru/b.jsonl", "has changed since it was listed", "--input"]);
    }
    assert!(!applied.exists());
    // A copy of the corpus as it was can be given.
    store.put("crawl/lang=ru/b.jsonl", &json_lines(&documents("b")));
    let copy = store.at("bucket/crawl");
    let input = ["--input", &*copy.to_string_lossy(), "--out", &*applied.to_string_lossy()];
    after(&store, "apply", &[&[out], &input[..]].concat()).ends_with(0);
    are_same(&store.at("applied-local"), &applied);
}

#[test]
fn a_reference_can_be_in_a_bucket() {
    let store = Store::new();
    store.put("seen/a.jsonl", &json_lines(&documents("a")[..30]));
    store.put("crawl/a.jsonl", &json_lines(&documents("a")));
    let local = store.at("bucket/seen");
    store.run_locally("crawl", "local", &["--reference", &local.to_string_lossy()]).ends_with(0);
    store.run(&["s3://bucket/crawl"], "out", &["--reference", "s3://bucket/seen"]).ends_with(0);
    are_same(&store.at("local"), &store.at("out"));
    assert_eq!(record(&store.at("out"))["options"]["reference"], "s3://bucket/seen");
}

#[test]
fn settings_of_the_store_are_recorded_and_used_again() {
    let store = Store::new();
    store.put("crawl/a.jsonl", &json_lines(&documents("a")));
    let endpoint = format!("http://127.0.0.1:{}", store.port);
    let settings = format!("endpoint={endpoint},region=us-east-1,anonymous=true,allow_http=true");
    let plain = |arguments: &[&str]| {
        let mut command = program();
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("AWS_")) {
            command.env_remove(name);
        }
        Ran::of(command.args(arguments).output().unwrap())
    };
    let out = store.at("out");
    let out = &*out.to_string_lossy();
    plain(&["run", "s3://bucket/crawl", "--out", out, "--no-progress", "--storage", &settings]).ends_with(0);
    assert_eq!(record(&store.at("out"))["options"]["storage"], settings);
    plain(&["explain", out, "a.jsonl#2", "a.jsonl#1"]).ends_with(0);
    let secret = format!("secret_access_key={SECRET}");
    let ran = plain(&["run", "s3://bucket/crawl", "--out", out, "--storage", &secret]).ends_with(2);
    assert!(ran.stderr.contains("come from the environment") && !ran.stderr.contains(SECRET), "{}", ran.stderr);
}

/// Checks that a download counts each byte once, even if it arrives twice or an earlier run downloaded it.
#[test]
fn a_download_shows_its_progress() {
    #[derive(Default)]
    struct Told(Mutex<Vec<[u64; 2]>>);
    impl Sink for Told {
        fn tell(&self, event: &Event<'_>) {
            assert_eq!((event.stage, event.unit), ("download", Unit::Bytes));
            self.0.lock().unwrap().push([event.done, event.total]);
        }
    }
    let store = Store::new();
    store.put("crawl/a.jsonl", &json_lines(&documents("a")));
    store.put("crawl/b.jsonl", &json_lines(&documents("b")));
    store.faults(&["short a.jsonl 2"]);
    let bytes = ["a", "b"].map(|name| json_lines(&documents(name)).len() as u64).iter().sum();
    let mut settings = Settings::default();
    let storage = format!("endpoint=http://127.0.0.1:{},region=us-east-1,anonymous=true,allow_http=true", store.port);
    for (name, value) in [("out", &*store.at("out").to_string_lossy()), ("storage", &storage)] {
        settings.give_by_name(Verb::Run, name, &value.into()).unwrap();
    }
    let options = resolve(vec!["s3://bucket/crawl".to_owned()], &settings.with_defaults(Verb::Run).unwrap()).unwrap();
    let told = Arc::new(Told::default());
    look_and_write(&options, &Progress::to(told.clone()), &AtomicBool::new(false), Writes::Input).unwrap();
    let told = told.0.lock().unwrap();
    assert_eq!((told.first(), told.last()), (Some(&[0, bytes]), Some(&[bytes, bytes])));
    assert!(told.is_sorted(), "{told:?}");
}

#[test]
fn other_stores_and_web_servers_are_read_like_folders() {
    let store = Store::new();
    all_formats(&store);
    let more = ["--corpus", "keep"];
    store.run_locally("crawl", "local", &more).ends_with(0);
    let endpoint = format!("endpoint=http://127.0.0.1:{},allow_http=true,anonymous=true", store.port);
    for (at, input) in ["gs://bucket/crawl", "gcs://bucket/crawl/**/*.*", "az://bucket/crawl"].into_iter().enumerate() {
        store.faults(&["empty list 1", "503 a.parquet 1", "last c.jsonl.gz 1", "429 d.jsonl.zst 1"]);
        let out = format!("out-{at}");
        let mut command = store.command(&[input], &out, &more);
        command.env("AZURE_STORAGE_ACCOUNT_NAME", "account").args(["--storage", &endpoint]);
        Ran::of(command.output().unwrap()).ends_with(0).says(&["5 objects"]);
        are_same(&store.at("local"), &store.at(&out));
    }
    store.faults(&["changed b.jsonl 9"]);
    let mut command = store.command(&["az://bucket/crawl"], "lost", &["--storage", &endpoint]);
    let ran = Ran::of(command.env("AZURE_STORAGE_ACCOUNT_NAME", "account").output().unwrap()).ends_with(3);
    ran.says(&["az://bucket/crawl/lang=ru/b.jsonl: cannot be downloaded", "has changed since it was listed"]);

    store.run_locally("crawl/c.jsonl.gz", "one-local", &more).ends_with(0);
    store.faults(&["last c.jsonl.gz 1", "200 c.jsonl.gz 1", "reset c.jsonl.gz 1"]);
    let server = format!("http://127.0.0.1:{}/any/crawl", store.port);
    store.run(&[&format!("{server}/c.jsonl.gz")], "one", &more).ends_with(0);
    are_same(&store.at("one-local"), &store.at("one"));
    for (address, said) in [
        (format!("{server}/nothing.jsonl"), "does not exist"),
        (format!("{server}/"), "cannot be searched"),
        (format!("{server}/*.parquet"), "cannot be searched"),
    ] {
        store.run(&[&address], "none", &[]).ends_with(2).says(&[said]);
    }
    let ran = store.run(&[&format!("{server}/c.jsonl.gz?signature={SECRET}")], "none", &[]).ends_with(2);
    assert!(ran.stderr.contains("curl -LO ADDRESS") && !ran.stderr.contains(SECRET), "{}", ran.stderr);
    store.has_published_nothing("none");
}

#[test]
fn a_dataset_of_the_hub_is_read_at_one_commit_and_the_token_stays_there() {
    let store = Store::serving("tests/hub.py");
    all_formats(&store);
    store.run_locally("crawl", "local", &["--corpus", "keep"]).ends_with(0);
    let run = |input: &str, out: &str, more: &[&str]| {
        let mut command = store.command(&[input], out, more);
        command.env("HF_ENDPOINT", format!("http://127.0.0.1:{}", store.port)).env("HF_TOKEN", SECRET);
        Ran::of(command.env("RUST_LOG", "trace").output().unwrap())
    };
    let ran = run("hf://datasets/owner/name/crawl", "out", &["--corpus", "keep"]).ends_with(0).says(&["5 objects"]);
    assert!(!ran.stderr.contains(SECRET), "{}", ran.stderr);
    are_same(&store.at("local"), &store.at("out"));
    let requests = store.requests();
    let has = |line: &str| requests.iter().any(|request| request.starts_with(line));
    assert!(
        has("storage GET") && has("hub GET") && requests.iter().any(|line| line.contains("bytes=")),
        "{requests:#?}"
    );
    for line in &requests {
        assert_eq!(line.ends_with(" token"), line.starts_with("hub "), "{line}");
    }
    let input = &record(&store.at("out"))["inputs"][0];
    assert_eq!(
        (&input["path"], &input["version"]),
        (&"hf://datasets/owner/name/crawl/a.parquet".into(), &"c0ffee".into())
    );
    for path in files_below(&store.at("out")) {
        assert!(!contains(&fs::read(&path).unwrap(), SECRET.as_bytes()), "{}", path.display());
    }
    store.run_locally("crawl/c.jsonl.gz", "one-local", &[]).ends_with(0);
    run("hf://datasets/owner/name@~parquet/crawl/c.jsonl.gz", "one", &[]).ends_with(0);
    are_same(&store.at("one-local"), &store.at("one"));
    run("hf://datasets/owner/name@gone/crawl", "none", &[]).ends_with(2).says(&["does not exist"]);
    run("hf://datasets/owner/name/nowhere", "none", &[]).ends_with(2).says(&["does not exist"]);
    let mut command = store.command(&["hf://datasets/owner/name/crawl"], "none", &[]);
    command.env("HF_ENDPOINT", format!("http://127.0.0.1:{}", store.port)).env("HF_TOKEN", "other");
    Ran::of(command.output().unwrap()).ends_with(1).says(&["access is denied (401)", "HF_TOKEN"]);
    store.has_published_nothing("none");
}
