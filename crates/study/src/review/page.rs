//! Collects the data for `report.html`. The caller renders the page, because the engine does not depend on the user interface.

use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Read, Review, review};
use crate::finished::Finished;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::{self, Readers};
use dupsift_engine::engine::clock::Clock;
use dupsift_engine::engine::progress::Progress;
use dupsift_engine::engine::threads::Engine;
use dupsift_engine::job::check::check_resources;
use dupsift_engine::job::run_report::RunReport;
use dupsift_engine::options::RunOptions;
use dupsift_engine::session::Session;
use dupsift_incremental::ReadAgain;
use dupsift_publish::unfinished::publish;
use dupsift_publish::{Stage, TemporaryFolder};
use dupsift_spill::shuffle::AtomicBits;

/// The file name of the page in the output folder.
pub const PAGE: &str = "report.html";

/// The beginning of the notice on a page that shows no document text. The text of a document cannot contain this string, because angle
/// brackets in the text are escaped.
pub const NO_TEXTS: &str = "<li class=\"warn\">The texts could not be read: ";

/// The name of the hidden file to which the new page is written. If writing fails, this file may remain in the output folder.
const HALF: &str = ".report.html.dupsift-accept";

/// Renders the page from a record and its tables.
pub type Page<'p> = dyn Fn(&RunReport, &Review) -> Result<String> + 'p;

/// Returns a function for [`dupsift_engine::job::run()`] that writes the page as the last stage of the run.
pub fn with_page<'p>(page: &'p Page<'p>) -> impl Fn(&Session<'_>, &Stage, RunReport) -> Result<RunReport> + 'p {
    move |session, stage, report| write(session, stage, report, page)
}

/// Writes the page into an unfinished output folder whose tables are complete, unless the options turn the page off. Returns the
/// record, including this stage.
pub(crate) fn write(session: &Session<'_>, stage: &Stage, mut report: RunReport, page: &Page<'_>) -> Result<RunReport> {
    if !session.options.output.report {
        return Ok(report);
    }
    let running = session.engine.clock.stage("report");
    let finished = Finished::new(stage.path(), report.clone());
    let seen = review(&finished, Some(Read::whole(session)), session.engine.dir, &|| session.engine.go_on())?;
    running.end(seen.pooled, seen.texts.len() as u64, 0);
    // The page is rendered from the record as written, so that the same page can be rendered again from the record.
    report.stages = session.engine.clock.stages();
    (report.seconds, report.cpu_seconds, report.peak_memory_bytes) = session.engine.clock.totals();
    // The progress bar of this stage is shown even if the stage reads no documents.
    let bar = session.engine.bar("report", 1);
    stage.write_bytes(PAGE, page(&report, &seen)?.as_bytes())?;
    bar.add(1);
    Ok(report)
}

/// Writes the page of a finished run again, and changes nothing else. If the corpus can no longer be read, the page shows no document text,
/// and the reason is returned.
///
/// # Errors
/// Returns [`Error::Usage`] if the existing page shows document text and the new page would not, or an error if tables cannot be read, if
/// resources are insufficient, or if the run is interrupted.
pub fn write_again(
    finished: &Finished,
    options: Result<RunOptions>,
    progress: &Progress,
    cancel: &AtomicBool,
    page: &Page<'_>,
) -> Result<Option<String>> {
    finished.unless_replaced(|| written_again(finished, options, progress, cancel, page))
}

fn written_again(
    finished: &Finished,
    options: Result<RunOptions>,
    progress: &Progress,
    cancel: &AtomicBool,
    page: &Page<'_>,
) -> Result<Option<String>> {
    if let Ok(options) = &options {
        check_resources(options)?;
    }
    let dir = std::path::absolute(finished.dir()).map_err(Error::reading("find", finished.dir()))?;
    let folder = TemporaryFolder::create(options.as_ref().ok().and_then(|options| options.resources.work.as_deref()))?;
    let clock = Clock::start();
    let running = clock.stage("report");
    let go_on = || if cancel.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) };
    // The index is opened first: without the index, the new page of an incremental run would show no document text.
    let again = options.as_ref().ok().map(|options| ReadAgain { options, progress, cancel });
    let again = finished.again(again)?;
    let with_texts = options.and_then(|options| {
        finished.read(&options, progress, cancel, |session, _| {
            let Some(again) = &again else {
                return review(finished, Some(Read::whole(session)), session.engine.dir, &go_on);
            };
            let earlier = earlier(finished, session.engine)?;
            again.joined(session, earlier.iter().map(|doc| doc as u64), |joined| {
                let corpus = Read { session: joined, is_hidden: &|doc| again.is_forgotten(doc) };
                review(finished, Some(corpus), session.engine.dir, &go_on)
            })
        })
    });
    let seen = match with_texts {
        Ok(seen) => seen,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(error) => {
            // If the tables caused the error, this call returns the error again.
            let seen = review(finished, None, folder.path(), &go_on)?;
            if shows_texts(&dir.join(PAGE))? {
                return Err(poorer(&dir, &error));
            }
            Review { no_texts: Some(error.to_string()), ..seen }
        }
    };
    let text = page(&finished.report, &seen)?;
    let (written, place) = (dir.join(HALF), dir.join(PAGE));
    go_on()?;
    publish(|| {
        let write = || {
            let mut file = safe_fs::create(&written)?;
            // The page shows texts of the corpus. A file system without permissions refuses to change them.
            let _ = Readers::of([&*dir.join("run.json")]).limit(&file);
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        let done = write().map_err(Error::io("write", &written)).and_then(|()| finished.check_not_replaced());
        let done = done.and_then(|()| std::fs::rename(&written, &place).map_err(Error::io("replace", &place)));
        if done.is_err() {
            // If the file cannot be removed, it is recognized as part of the output.
            let _ = std::fs::remove_file(&written);
        }
        done
    })?;
    running.end(seen.pooled, seen.texts.len() as u64, 0);
    Ok(seen.no_texts)
}

/// Returns whether the page exists and shows document text.
fn shows_texts(page: &Path) -> Result<bool> {
    match std::fs::read_to_string(page) {
        Ok(text) => Ok(!text.contains(NO_TEXTS)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(Error::reading("read", page)(error)),
    }
}

/// Returns the error for a page that would show less than the existing page.
fn poorer(dir: &Path, why: &Error) -> Error {
    Error::usage(format!(
        "{} was not replaced, because a new page would lack texts that it shows: {why}; restore the missing files, or remove the page first",
        dir.join(PAGE).display()
    ))
}

/// Returns the indexed documents that the tables of an incremental run contain.
fn earlier(finished: &Finished, engine: &Engine<'_>) -> Result<AtomicBits> {
    let first_doc = finished.first_doc();
    let named = AtomicBits::new(engine.dir, "earlier", first_doc as usize)?;
    let note = |doc: u64| {
        if doc < first_doc {
            named.set(doc as usize);
        }
    };
    for one in &finished.report.algorithms {
        for pair in finished.pairs(&one.label)? {
            let pair = pair?;
            [pair.a, pair.b].into_iter().for_each(note);
        }
        engine.go_on()?;
        for document in finished.clusters(&one.label)? {
            note(document?.doc);
        }
        engine.go_on()?;
    }
    if finished.report.removal.is_some() {
        for removal in finished.removals()? {
            note(removal?.kept);
        }
    }
    Ok(named)
}
