//! Accepts a held result, so that it becomes the output.

use std::path::{Path, PathBuf};

use crate::review::page::PAGE;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::is_file;
use dupsift_core::safe_fs::{self, MOST_JSON};
use dupsift_engine::job::run_report::{AcceptedReport, IndexReport, RunReport};
use dupsift_publish::Held;

/// Returns the new text of the report page, given its old text and the record of the accepted result; `None` if the page was written by a
/// different version of dupsift.
pub(crate) type AcceptedPage<'p> = dyn Fn(&str, &RunReport) -> Option<String> + 'p;

/// Publishes a result and adds it to the index that it was matched against. The arguments are the records of the index and the run, the
/// location of the result, and a function that publishes the result.
pub(crate) type IntoIndex<'i> =
    dyn Fn(&IndexReport, &RunReport, &Path, &mut dyn FnMut() -> Result<PathBuf>) -> Result<PathBuf> + 'i;

/// Makes an index forget the held batch of a result. The arguments are the records of the index and the run, and the location of the result.
pub(crate) type FromIndex<'i> = dyn Fn(&IndexReport, &RunReport, &Path) -> Result<bool> + 'i;

/// The location of an accepted result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The output folder.
    pub out: PathBuf,
    /// Whether an earlier call had already published the result.
    pub before: bool,
}

/// Publishes the held result in `folder` (`NAME.held`) under the name NAME, and returns its new location. If the result was matched against
/// an index, `into_index` also adds it to the index. The previous output, if any, is removed last. `page` updates the text of the page to
/// match the new record; if `page` returns `None`, the text does not change.
///
/// The process may be killed at any time: the previous output is kept until the result has its final name, and repeating the call resumes
/// the work. If the work is complete, repeating the call changes nothing.
///
/// # Errors
/// Returns [`Error::Usage`] if the folder contains no held result, or if NAME exists and is not an output.
pub fn accept(
    folder: &Path,
    time: String,
    reason: Option<String>,
    page: &AcceptedPage<'_>,
    into_index: &IntoIndex<'_>,
) -> Result<Accepted> {
    let held = match Held::open(folder) {
        Ok(held) => held,
        Err(error) => {
            let Some(out) = Held::accepted_before(folder)? else { return Err(error) };
            let (_, record) = record(&out)?;
            // The process may have been killed before the index had its next generation.
            added(record.as_ref(), &out, &mut || Ok(out.clone()), into_index)?;
            return Ok(Accepted { out, before: true });
        }
    };
    held.check()?;
    let (json, record) = record(held.path())?;
    let accepted = AcceptedReport { time, reason, output: held.name().to_owned() };
    let mut publish = || publish(&held, &json, &accepted, page);
    let out = added(record.as_ref(), held.path(), &mut publish, into_index)?;
    Ok(Accepted { out, before: false })
}

/// Removes the held result in `folder` (`NAME.held`), and makes the index forget its batch. `from_index` does the latter; it is called with
/// the records of the index and the run and with the location of the result, and returns whether the index held the batch. Returns what
/// `from_index` returned, or `None` if the result was not matched against an index.
///
/// # Errors
/// Returns [`Error::Usage`] if the folder contains no held result, or if the result has been accepted.
pub fn reject(folder: &Path, from_index: &FromIndex<'_>) -> Result<Option<bool>> {
    let held = Held::open(folder)?;
    let (_, record) = record(held.path())?;
    if held.is_accepted() {
        return held.reject().map(|()| None);
    }
    // If the process is killed in between, the folder is still there, and the call can be repeated.
    let forgotten = match record.as_ref().and_then(|record| Some((record.index.as_ref()?, record))) {
        Some((index, record)) => Some(from_index(index, record, held.path())?),
        None => None,
    };
    held.reject().map(|()| forgotten)
}

/// Returns the record of the result in a folder as text, and parsed if this version can parse it.
fn record(folder: &Path) -> Result<(String, Option<RunReport>)> {
    let path = folder.join("run.json");
    let json = safe_fs::read_text(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
    let record = serde_json::from_str(&json).ok();
    Ok((json, record))
}

/// Publishes a result, and adds it to the index that it was matched against, if any.
fn added(
    record: Option<&RunReport>,
    folder: &Path,
    publish: &mut dyn FnMut() -> Result<PathBuf>,
    into_index: &IntoIndex<'_>,
) -> Result<PathBuf> {
    match record.and_then(|record| Some((record.index.as_ref()?, record))) {
        Some((index, record)) => into_index(index, record, folder, publish),
        None => publish(),
    }
}

/// Adds the acceptance to the record and to the page, and renames the result.
fn publish(held: &Held, json: &str, accepted: &AcceptedReport, page: &AcceptedPage<'_>) -> Result<PathBuf> {
    if !held.is_accepted() {
        let path = held.path().join("run.json");
        let record = with_accepted(json, accepted).map_err(|why| Error::BadFile { path, why })?;
        held.replace("run.json", record.as_bytes())?;
        write_page(held, &record, page)?;
    }
    held.publish()
}

/// Updates the page to match the record, if there is a page.
fn write_page(held: &Held, record: &str, page: &AcceptedPage<'_>) -> Result<()> {
    let path = held.path().join(PAGE);
    if !is_file(&path)? {
        return Ok(());
    }
    let text = safe_fs::read_text(&path, MOST_JSON).map_err(Error::reading("read", &path))?;
    let record: Option<RunReport> = serde_json::from_str(record).ok();
    match record.and_then(|record| page(&text, &record)) {
        Some(text) => held.replace(PAGE, text.as_bytes()),
        None => {
            tracing::warn!(
                "{PAGE} was written by a different version and still shows the result as held back; run dupsift report DIR to update it"
            );
            Ok(())
        }
    }
}

/// Returns the record with the acceptance added as the last entry. An entry from an interrupted acceptance is replaced.
fn with_accepted(json: &str, accepted: &AcceptedReport) -> std::result::Result<String, String> {
    let mut record: serde_json::Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let Some(record) = record.as_object_mut() else { return Err("it is not the record of a run".to_owned()) };
    let entry = serde_json::to_string_pretty(accepted).map_err(|error| error.to_string())?;
    if record.contains_key("accepted") {
        let entry = serde_json::to_value(accepted).map_err(|error| error.to_string())?;
        record.insert("accepted".to_owned(), entry);
        return serde_json::to_string_pretty(record).map_err(|error| error.to_string());
    }
    // The entry is appended as text, so that the other entries keep their order.
    let open = json.trim_end().strip_suffix('}').unwrap_or_default().trim_end();
    Ok(format!("{open},\n  \"accepted\": {}\n}}", entry.replace('\n', "\n  ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_gets_one_entry_and_keeps_its_order() {
        let accepted = |reason: &str| AcceptedReport {
            time: "2026-11-22T03:00:00Z".into(),
            reason: Some(reason.into()),
            output: "out".into(),
        };
        let record = "{\n  \"b\": 1,\n  \"a\": [\n    2\n  ]\n}";
        let first = with_accepted(record, &accepted("a \"crawl\" of {images}")).expect("a record");
        expect_test::expect![[r#"
            {
              "b": 1,
              "a": [
                2
              ],
              "accepted": {
                "time": "2026-11-22T03:00:00Z",
                "reason": "a \"crawl\" of {images}",
                "output": "out"
              }
            }"#]]
        .assert_eq(&first);
        let second: serde_json::Value =
            serde_json::from_str(&with_accepted(&first, &accepted("again")).expect("a record")).expect("JSON");
        assert_eq!((&second["accepted"]["reason"], &second["b"]), (&"again".into(), &1.into()));
        assert!(with_accepted("[]", &accepted("")).is_err() && with_accepted("{", &accepted("")).is_err());
    }
}
