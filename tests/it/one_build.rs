//! Tests that the program, the tests and the Python package share every compiled dependency, because cargo enables the same features of
//! each crate for all of them. If this test fails, add the missing feature to Cargo.toml, in the section for crates that no code uses.

use std::collections::BTreeSet;
use std::process::Command;

/// Returns the crates that a build compiles, each with its version and features.
fn crates(package: &str, edges: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args([
            "tree",
            "--locked",
            "--offline",
            "--prefix",
            "none",
            "--format",
            "{p} [{f}]",
            "-p",
            package,
            "-e",
            edges,
        ])
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

#[test]
fn no_dependency_is_compiled_twice() {
    let program = crates("dupsift", "no-dev");
    assert!(program.len() > 100, "{program:#?}");
    for (package, edges) in [("dupsift", "all"), ("dupsift-python", "no-dev")] {
        let others = crates(package, edges);
        let differ: Vec<&String> = program.difference(&others).collect();
        assert_eq!(differ, Vec::<&String>::new(), "other features with -p {package} -e {edges}");
    }
}

/// Checks the package's copy of the license. The copy has a different name, because the source distribution also includes the repository's
/// copy.
#[test]
fn the_wheel_has_the_licence_of_the_repository() {
    let read = |name: &str| std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/").to_owned() + name).unwrap();
    assert!(read("LICENSE") == read("python/LICENSE.txt"));
}
