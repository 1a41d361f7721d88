//! The library from outside: the examples of its documentation do what they say, and mistakes are answered with a way out.

#[path = "../../examples/run.rs"]
mod run;
#[path = "../../examples/sign.rs"]
mod sign;

use dupsift::error::Kind;

#[test]
fn the_examples_run() {
    run::main().unwrap();
    sign::main().unwrap();
    assert!(std::path::Path::new("out/example/pairs/algorithm=minhash").is_dir());
}

#[test]
fn mistakes_have_a_kind_an_option_and_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out").to_string_lossy().into_owned();
    let fail = |input: &str, option: &str, value: &str| {
        let error = dupsift::run(&[input], &[("out", &out), (option, value)]).unwrap_err();
        (error.kind(), error.option().map(|option| option.name()), error.to_string())
    };
    let samples = "data-samples/docs";
    let (kind, option, said) = fail(samples, "max_group", "1");
    assert_eq!((kind, option), (Kind::Usage, Some("max-group")));
    assert_eq!(said, "max_group: expected a whole number of at least 2, got \"1\"");
    assert_eq!(fail(samples, "memory", "1MiB").1, Some("memory"));
    let (kind, _, said) = fail(samples, "max_grup", "2");
    assert!(kind == Kind::Usage && said.contains("did you mean \"max_group\"?"), "{said}");
    let (kind, option, said) = fail("nowhere.parquet", "max_group", "2");
    assert_eq!((kind, option), (Kind::Input, None), "{said}");
    let missing = dupsift::run(&["nowhere.parquet"], &[("out", &out)]).unwrap_err();
    assert!(matches!(missing, dupsift::Error::Missing { path, .. } if path.ends_with("nowhere.parquet")));
    assert!(!folder.path().join("out").exists());
}
