//! Expands globs.

use dupsift_core::error::{Error, Result};
use globset::{GlobBuilder, GlobMatcher};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Returns whether a folder or one of its ancestors matches the glob. Each folder is checked only once.
pub(super) fn is_below_match(matcher: &GlobMatcher, folder: &Path, known: &mut HashMap<PathBuf, bool>) -> bool {
    if let Some(&is_match) = known.get(folder) {
        return is_match;
    }
    // The check starts at the nearest folder that has been checked before, because folders may be deeply nested.
    let unknown: Vec<&Path> = folder.ancestors().take_while(|above| !known.contains_key(*above)).collect();
    let above = unknown.last().and_then(|last| last.parent());
    let mut is_match = above.is_some_and(|above| known.get(above).copied().unwrap_or_default());
    for folder in unknown.into_iter().rev() {
        is_match = is_match || (!folder.as_os_str().is_empty() && matcher.is_match(folder));
        known.insert(folder.to_path_buf(), is_match);
    }
    is_match
}

/// Returns the prefixes of a glob that end in a component without wildcards. A folder written by dupsift is read if a prefix matches the
/// folder or one of its entries. For example, `out/*/deduped/*.parquet` reads results, but `out/**/*.parquet` does not.
pub(super) fn spelled(pattern: &str) -> Result<Vec<GlobMatcher>> {
    let ends = pattern.match_indices('/').map(|(at, _)| at).chain([pattern.len()]);
    let is_plain = |end: &usize| !pattern[..*end].rsplit('/').next().unwrap_or_default().contains(['*', '?', '[', ']']);
    // A prefix that ends inside braces is not a valid glob and is ignored.
    Ok(ends.filter(is_plain).filter_map(|end| glob(&pattern[..end]).ok()).collect())
}

/// Returns whether a glob may match files in a folder, given its path relative to the first folder of the glob.
pub(super) fn leads_through(pattern: &str, folder: &Path) -> bool {
    let depth = folder.components().count();
    let parts: Vec<&str> = pattern.split('/').collect();
    let Some(above) = parts.get(..depth).filter(|_| parts.len() > depth) else { return pattern.contains("**") };
    // Part of a pattern may not be a pattern, if it ends inside braces.
    above.iter().any(|part| part.contains("**")) || glob(&above.join("/")).map_or(true, |above| above.is_match(folder))
}

/// The characters that make a path a glob.
pub(super) const WILD: [char; 4] = ['*', '?', '[', '{'];

/// Returns the folder that is searched for the files of an input, and the glob that the files match. For a folder, the glob is empty.
pub fn searched(input: &str) -> (&Path, String) {
    if Path::new(input).exists() || !input.contains(WILD) {
        return (Path::new(input), String::new());
    }
    let (folder, pattern) = glob_parts(input);
    (Path::new(folder), pattern)
}

/// Returns the folder before the first component with a wildcard, and the remaining components as a pattern.
pub(super) fn glob_parts(input: &str) -> (&str, String) {
    let wild = input.find(WILD).unwrap_or(input.len());
    let cut = input[..wild].rfind('/').map_or(0, |slash| slash + 1);
    let base = if cut == 0 { "." } else { &input[..cut] };
    (base, input[cut..].to_owned())
}

/// Compiles a glob.
///
/// # Errors
/// Returns [`Error::Usage`] if the glob is not valid.
pub(super) fn glob(pattern: &str) -> Result<GlobMatcher> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| Error::usage(format!("the glob {pattern:?} cannot be read: {}", error.kind())))
}
