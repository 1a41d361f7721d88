//! Tests the public library: the examples in its documentation work, and error messages suggest a solution.

#[path = "../../examples/run.rs"]
mod run;
#[path = "../../examples/sign.rs"]
mod sign;

use dupsift::Job;
use dupsift::error::Kind;

#[test]
fn the_examples_run() {
    run::main().unwrap();
    sign::main().unwrap();
    assert!(std::path::Path::new("out/example/pairs/algorithm=minhash").is_dir());
}

#[test]
fn a_job_has_the_options_it_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let samples = ["data-samples/docs/en.parquet", "data-samples/docs/ru.parquet"];
    let job = samples.iter().fold(Job::new(), |job, input| job.input(input)).output(&out).algorithms("exact");
    let report = job.threads(1).memory(256 << 20).option("limit", "9").option("limit", "7").run().unwrap();
    assert_eq!((report.inputs.len(), report.documents.rows, report.algorithms[0].label.as_str()), (2, 7, "exact"));
    assert_eq!(report.options["threads"], 1, "{:?}", report.options);
    assert!(out.join("_SUCCESS").exists());
}

#[test]
fn a_job_offers_the_other_commands() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, lines: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, lines).unwrap();
        path
    };
    let question = "What is the name of the long river that flows through the old town of Bern in Switzerland?";
    let corpus = file(
        "corpus.jsonl",
        &format!("{{\"text\": \"Quiz. {question}\"}}\n{{\"text\": \"b\"}}\n{{\"text\": \"b\"}}\n"),
    );
    let items = file("items.jsonl", &format!("{{\"question\": \"{question}\"}}\n"));
    let pages = file("pages.jsonl", "{\"html\": \"<p>One page.</p>\"}\n");
    let job = |input: &std::path::Path, out: &str| Job::new().input(input).output(folder.path().join(out)).threads(1);

    let found = job(&corpus, "clean").option("against", items.to_string_lossy()).contaminated().unwrap();
    assert_eq!((found.items, found.contaminated), (1, 1));
    assert!(folder.path().join("clean/report.html").exists());
    let flagged = job(&corpus, "stream").stream().unwrap();
    assert_eq!((flagged.rows, flagged.duplicates), (3, 1));
    let dupsift::Purified::Pages(read) = job(&pages, "pages").purify().unwrap() else {
        panic!("no model was asked for")
    };
    assert_eq!(read.written, 1);
    let no_option = job(&pages, "none").option("max_group", "5").purify().unwrap_err();
    assert!(no_option.to_string().contains("there is no option \"max_group\""), "{no_option}");
}

#[test]
fn mistakes_have_a_kind_an_option_and_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").to_string_lossy().into_owned();
    let fail = |input: &str, option: &str, value: &str| {
        let error = Job::new().input(input).output(&out).option(option, value).run().unwrap_err();
        (error.kind(), error.option(), error.to_string())
    };
    let samples = "data-samples/docs";
    let (kind, option, said) = fail(samples, "max_group", "1");
    assert_eq!((kind, option), (Kind::Usage, Some("max-group")));
    assert_eq!(said, "`max-group`: expected a whole number of at least 2, got \"1\"");
    assert_eq!(fail(samples, "memory", "1MiB").1, Some("memory"));
    let (kind, _, said) = fail(samples, "max_grup", "2");
    assert!(kind == Kind::Usage && said.contains("did you mean \"max_group\"?"), "{said}");
    let (kind, option, said) = fail("nowhere.parquet", "max_group", "2");
    assert_eq!((kind, option), (Kind::Input, None), "{said}");
    let remote = |job: Job| job.run().unwrap_err().to_string();
    let said = remote(Job::new().input("hdfs://host/docs").output(&out));
    assert!(said.contains("hdfs dfs -get hdfs://host/docs DIR"), "{said}");
    let said = remote(Job::new().input(samples).output("s3://bucket/out"));
    assert!(said.starts_with("`out`: ") && said.contains("aws s3 sync DIR s3://bucket/out"), "{said}");
    assert!(!std::path::Path::new("s3:").exists());
    let missing = Job::new().input("nowhere.parquet").output(&out).run().unwrap_err();
    assert!(matches!(missing, dupsift::Error::Missing { path, .. } if path.ends_with("nowhere.parquet")));
    assert!(!folder.path().join("out").exists());
}
