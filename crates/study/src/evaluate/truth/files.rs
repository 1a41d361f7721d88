//! Reads the files that contain the truth: labeled pairs or clusters.

use std::path::{Path, PathBuf};

use dupsift_core::error::{Error, Result, nearest};
use dupsift_core::shown::shortened;
use dupsift_input::{Coding, FoundFile, IdColumns, IdRow, Quoting, Taking, column_names, find_all, line_at, read_ids};
use dupsift_tables::{RejectReason, Rejection};

/// The columns of a truth file in each of its two forms.
const FORMS: [[&str; 2]; 2] = [["id_a", "id_b"], ["id", "cluster"]];

/// The columns of which one may say whether the two documents of a row are duplicates.
pub(crate) const LABELS: [&str; 3] = ["label", "duplicate", "is_duplicate"];

/// The labels that stand for duplicates, for different documents, and for rows that are skipped, in lower case.
const DUPLICATE: [&str; 8] = ["1", "1.0", "true", "yes", "y", "same", "right", "duplicate"];
/// How labels begin that say in what the two documents are the same, such as `same-page`.
const SAME: &str = "same-";
const DIFFERENT: [&str; 7] = ["0", "0.0", "false", "no", "n", "different", "wrong"];
const UNSURE: &str = "unsure";
/// The values of an empty label; `NaN` is how some programs write it.
const EMPTY: [&str; 2] = ["", "nan"];

/// The columns of `dupsift sample` that need no warning although they are not read.
const OF_SAMPLE: [&str; 2] = ["weight", "similarity"];

/// Whether the two documents of a row are duplicates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// They are. This is also the label of every row in a file without a label column.
    Duplicate,
    /// They are not.
    Different,
    /// The row is labeled as unsure.
    Unsure,
    /// The row has no label.
    Empty,
}

impl Label {
    /// Returns the label that is written like this, or `None` for any other value.
    pub fn of(typed: &str) -> Option<Label> {
        let typed = typed.trim().to_lowercase();
        let is_one = |known: &[&str]| known.contains(&typed.as_str());
        match () {
            () if is_one(&DUPLICATE) || typed.starts_with(SAME) => Some(Label::Duplicate),
            () if is_one(&DIFFERENT) => Some(Label::Different),
            () if typed == UNSURE => Some(Label::Unsure),
            () if is_one(&EMPTY) => Some(Label::Empty),
            () => None,
        }
    }
}

/// The two ids and the label of a row, or the reason why the row cannot be used.
pub(crate) type Values<'v> = std::result::Result<([&'v str; 2], Label), Rejection>;

/// Holds the files that contain the truth; all files have the same form.
pub struct TruthFiles {
    files: Vec<TruthFile>,
    columns: [&'static str; 2],
    /// The distinct columns that are not read.
    unread: Vec<String>,
}

/// Holds a file and the column with its labels, if it has one.
struct TruthFile {
    file: FoundFile,
    label: Option<&'static str>,
}

impl TruthFiles {
    /// Finds the files and determines their form.
    ///
    /// # Errors
    /// Returns [`Error::Missing`], or [`Error::Usage`] if a file has the columns of neither form or of both forms, or if its form differs
    /// from the form of the first file.
    pub fn find(truth: &[String], quotes: Quoting) -> Result<TruthFiles> {
        let coding = Coding { quoting: quotes, ..Coding::default() };
        let found = find_all(truth, Taking { coding, follow_links: true, ..Taking::default() });
        let mut found = found.map_err(|error| error.of("truth"))?.files;
        // A file that is only assumed to be JSON lines is used only if it has columns.
        found.retain(|file| !file.is_guess || column_names(file).is_ok());
        let (mut files, mut unread) = (Vec::new(), Vec::new());
        let mut first: Option<(PathBuf, [&'static str; 2])> = None;
        for file in found {
            // An empty JSON lines file may have either form.
            let Some(names) = column_names(&file)? else {
                files.push(TruthFile { file, label: None });
                continue;
            };
            let form = form(&file.path, &names)?;
            let (other, columns) = first.get_or_insert((file.path.clone(), form));
            if *columns != form {
                return Err(Error::wrong(
                    "truth",
                    format_args!(
                        "{} has the columns {}, but {} has the columns {}; expected the same columns in all files",
                        other.display(),
                        columns.join(", "),
                        file.path.display(),
                        form.join(", ")
                    ),
                ));
            }
            let label = label_column(&file.path, form, &names)?;
            for name in names {
                if !form.contains(&name.as_str())
                    && !OF_SAMPLE.contains(&name.as_str())
                    && label != Some(&name)
                    && !unread.contains(&name)
                {
                    unread.push(name);
                }
            }
            files.push(TruthFile { file, label });
        }
        let Some((_, columns)) = first else {
            return Err(Error::wrong_value(
                "truth",
                truth.join(" "),
                "it has no rows; expected labeled pairs or clusters",
            ));
        };
        Ok(TruthFiles { files, columns, unread })
    }

    /// Returns whether the files contain pairs rather than clusters.
    pub(crate) fn are_pairs(&self) -> bool {
        self.columns == FORMS[0]
    }

    /// Returns the paths of the files, in order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|one| one.file.path.as_path())
    }

    /// Returns whether a file has a column with labels.
    pub(crate) fn have_labels(&self) -> bool {
        self.files.iter().any(|one| one.label.is_some())
    }

    /// Returns the columns that are not read.
    pub(crate) fn unread_columns(&self) -> &[String] {
        &self.unread
    }

    /// Calls `each` for every row until `each` returns `false`. The arguments are the number of the row among all rows, its file, its row
    /// number in that file, and its two ids and its label or the reason why the row cannot be used. Returns the damaged files with the
    /// reasons; the rows before the damage are still read.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for a value that is no label, [`Error::Io`] or [`Error::BadFile`] for a file that cannot be read, and any
    /// error from `each`.
    pub fn read(
        &self,
        mut each: impl FnMut(u64, (&FoundFile, u64), Values<'_>) -> Result<bool>,
    ) -> Result<Vec<(&FoundFile, String)>> {
        let (mut row, mut more, mut damaged) = (0, true, Vec::new());
        for TruthFile { file, label: known } in &self.files {
            let first = row;
            if more {
                // Labels that begin behind the rows from which the columns were determined are an error.
                let labels: &[&str] = match known {
                    Some(label) => std::slice::from_ref(label),
                    None if self.are_pairs() => &LABELS,
                    None => &[],
                };
                let names = IdColumns { ids: self.columns, labels };
                let why = read_ids(file, names, &mut |values| {
                    let values = match values {
                        Ok(IdRow { ids: [Some(a), Some(b)], label, offset }) => {
                            let label = match label {
                                None if known.is_none() => Label::Duplicate,
                                None => Label::Empty,
                                Some((name, _)) if known.is_none() => {
                                    return Err(late_label(file, (row - first, offset), name));
                                }
                                Some((name, typed)) => Label::of(typed)
                                    .ok_or_else(|| not_a_label(file, (row - first, offset), name, typed))?,
                            };
                            Ok(([a, b], label))
                        }
                        Ok(_) => Err(RejectReason::NullId.into()),
                        Err(why) => Err(why),
                    };
                    more = each(row, (file, row - first), values)?;
                    row += 1;
                    Ok(more)
                })?;
                damaged.extend(why.map(|why| (file, why)));
            }
        }
        Ok(damaged)
    }
}

/// Returns the column with the labels of a file of pairs, if it has one.
fn label_column(path: &Path, form: [&str; 2], names: &[String]) -> Result<Option<&'static str>> {
    let has = |name: &&str| names.iter().any(|there| there == name);
    let there: Vec<&str> = LABELS.into_iter().filter(has).collect();
    match there.as_slice() {
        // Clusters have no labels.
        _ if form != FORMS[0] => Ok(None),
        [first, second, ..] => Err(Error::wrong_value(
            "truth",
            path.display(),
            format_args!("it has the columns {first} and {second}; expected one column with labels"),
        )),
        _ => Ok(there.first().copied()),
    }
}

/// Returns the line of a row, or its number if the file does not consist of lines.
fn place(file: &FoundFile, (row, offset): (u64, Option<u64>)) -> Result<String> {
    match offset {
        Some(offset) => line_at(file, offset).map(|line| format!("line {line}")),
        None => Ok(format!("row {row}")),
    }
}

/// Returns the error for a label that cannot be used. `what` follows the place of the row.
fn unusable_label(file: &FoundFile, at: (u64, Option<u64>), what: &str) -> Error {
    match place(file, at) {
        Ok(place) => Error::wrong_value("truth", file.path.display(), format_args!("{place} {what}")),
        Err(error) => error,
    }
}

/// Returns the error for the first label of a file, if the rows before it have none.
fn late_label(file: &FoundFile, at: (u64, Option<u64>), name: &str) -> Error {
    unusable_label(file, at, &format!("is the first with a {name}; expected a {name} in the first row of the file"))
}

/// Returns the error for a value that is no label.
fn not_a_label(file: &FoundFile, at: (u64, Option<u64>), name: &str, typed: &str) -> Error {
    let what = format!(
        "has the {name} {:?}; expected 1, true, yes, same, right or duplicate for duplicates, 0, false, no, different or wrong for other \
         pairs, or {UNSURE} or nothing to skip the pair",
        shortened(typed)
    );
    unusable_label(file, at, &what)
}

fn form(path: &Path, names: &[String]) -> Result<[&'static str; 2]> {
    let has = |name: &&str| names.iter().any(|there| there == name);
    if FORMS.iter().flatten().all(has) {
        return Err(Error::wrong_value(
            "truth",
            path.display(),
            "it has columns for both pairs (id_a, id_b) and clusters (id, cluster); expected only one kind",
        ));
    }
    FORMS.into_iter().find(|form| form.iter().all(has)).ok_or_else(|| {
        let there = if names.is_empty() { "none".into() } else { names.join(", ") };
        let strange =
            || names.iter().map(String::as_str).filter(|name| !FORMS.iter().flatten().any(|known| known == name));
        let hint =
            FORMS.iter().flatten().filter(|name| !has(name)).find_map(|name| {
                nearest(name, strange()).map(|likely| format!("; should {likely:?} be named {name}?"))
            });
        Error::wrong_value(
            "truth",
            path.display(),
            format_args!(
                "expected the columns id_a, id_b (pairs) or id, cluster (clusters); available: {there}{}",
                hint.unwrap_or_default()
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_follows_from_the_columns() {
        let of = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| name.to_string()).collect();
            form(Path::new("t.parquet"), &names).map_err(|error| error.to_string())
        };
        assert_eq!(of(&["label", "id_b", "id_a"]).unwrap(), ["id_a", "id_b"]);
        assert_eq!(of(&["cluster", "id"]).unwrap(), ["id", "cluster"]);
        let message = of(&["ida", "idb"]).unwrap_err();
        assert!(message.contains("available: ida, idb") && message.contains("id_a"), "{message}");
        assert!(of(&[]).unwrap_err().contains("available: none"));
        assert!(message.ends_with("should \"ida\" be named id_a?"), "{message}");
        let message = of(&["id", "label"]).unwrap_err();
        assert!(message.ends_with("available: id, label"), "{message}");
        assert!(of(&["id_a", "cluster"]).is_err());
        // A file with the two id columns of pairs contains pairs even if it has an `id` column.
        assert_eq!(of(&["id", "id_a", "id_b"]).unwrap(), ["id_a", "id_b"]);
        let message = of(&["id", "id_a", "id_b", "cluster"]).unwrap_err();
        assert!(message.contains("it has columns for both pairs"), "{message}");
    }

    #[test]
    fn labels_are_read_in_every_usual_spelling() {
        for (label, typed) in [
            (
                Some(Label::Duplicate),
                &["1", "1.0", "true", "True", "TRUE", "yes", "Same", "same-page", " right ", "duplicate"][..],
            ),
            (Some(Label::Different), &["0", "0.0", "false", "False", "no", "different", "wrong"]),
            (Some(Label::Unsure), &["unsure", "Unsure"]),
            (Some(Label::Empty), &["", "  ", "NaN"]),
            (None, &["2", "-1", "maybe", "0.5", "null", "[true]", "truе"]),
        ] {
            typed.iter().for_each(|typed| assert_eq!(Label::of(typed), label, "{typed:?}"));
        }
    }

    /// Returns the labels of a file, and the columns that are not read.
    fn read(path: &Path) -> std::result::Result<(Vec<Option<Label>>, Vec<String>), String> {
        let files =
            TruthFiles::find(&[path.display().to_string()], Quoting::Double).map_err(|error| error.to_string())?;
        let mut found = Vec::new();
        let damaged = files.read(|_, _, values| {
            found.push(values.ok().map(|(_, label)| label));
            Ok(true)
        });
        assert!(damaged.map_err(|error| error.to_string())?.is_empty());
        Ok((found, files.unread_columns().to_vec()))
    }

    #[test]
    fn labels_of_lines_and_tables_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let (yes, no) = (Some(Label::Duplicate), Some(Label::Different));
        let expected = vec![yes, no, Some(Label::Unsure), Some(Label::Empty), None];
        let csv = "id_a,id_b,is_duplicate,note\na,b,1,x\n\nc,d,False,\ne,f,unsure,\ng,h,,\ni,,1\n";
        assert_eq!(read(&at("a.csv", csv)), Ok((expected.clone(), vec!["note".to_owned()])));
        let lines = "{\"id_a\": 1, \"id_b\": 2, \"label\": true}\n{\"id_a\": 1, \"id_b\": 3, \"label\": 0}\n\n\
                     {\"id_a\": 1, \"id_b\": 4, \"label\": \"unsure\"}\n{\"id_a\": 1, \"id_b\": 5}\n{\"id_a\": 1, \"label\": 1}\n";
        assert_eq!(read(&at("a.jsonl", lines)), Ok((expected, Vec::new())));
        // Without a label column, all rows are duplicates; clusters have no labels.
        assert_eq!(read(&at("b.csv", "id_a,id_b\na,b\n")), Ok((vec![yes], Vec::new())));
        assert_eq!(read(&at("c.csv", "id,cluster,label\na,b,0\n")), Ok((vec![yes], vec!["label".to_owned()])));
        // The line is that of the file, including blank lines.
        let said = read(&at("d.csv", "id_a,id_b,label\na,b,1\n\nc,d,maybe\n")).unwrap_err();
        assert!(said.contains("d.csv`: line 4 has the label \"maybe\"; expected 1, true"), "{said}");
        let said = read(&at("d.jsonl", "\n{\"id_a\": 1, \"id_b\": 2, \"duplicate\": [1]}\n")).unwrap_err();
        assert!(said.contains("line 2 has the duplicate \"[1]\""), "{said}");
        let said = read(&at("e.csv", "id_a,id_b,label,duplicate\na,b,1,0\n")).unwrap_err();
        assert!(said.contains("it has the columns label and duplicate"), "{said}");
    }
}
