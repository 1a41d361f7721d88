//! Tells the program what it was built for, and releases also from which commit.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=DUPSIFT_COMMIT");
    println!("cargo:rustc-env=DUPSIFT_TARGET={}", variable("TARGET").unwrap_or_default());
    // Other profiles would be built again after each commit.
    let commit = variable("DUPSIFT_COMMIT").or_else(|| (variable("PROFILE")? == "release").then(commit)?);
    println!("cargo:rustc-env=DUPSIFT_COMMIT={}", commit.unwrap_or_default());
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns the commit of these sources; `None` if they are not in a repository of their own, as in a package of sources.
fn commit() -> Option<String> {
    if !Path::new(".git").exists() {
        return None;
    }
    for name in ["HEAD", "logs/HEAD"] {
        println!("cargo:rerun-if-changed={}", git(&["rev-parse", "--git-path", name])?);
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
