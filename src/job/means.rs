//! What a job works with, whatever it works on: threads, memory, a pipeline for texts, a folder for work files.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

use super::budget::Budget;
use super::clock::Clock;
use super::gate::Gate;
use super::options::RunOptions;
use super::progress::Progress;
use super::purified::Purified;
use super::workers::Job;
use crate::allocator;
use crate::error::{Error, Result};
use crate::io::{Source, Unfinished, WORK};
use crate::purify::Purifier;
use crate::shuffle::Memory;
use crate::text::Pipeline;

/// How often one thread is asked for, where several could not be started.
const ATTEMPTS: usize = 3;
/// What threads take to end, with much to spare.
const A_MOMENT: Duration = Duration::from_millis(100);

/// What options ask for, made once.
pub struct Means {
    clock: Clock,
    budget: Budget,
    pipeline: Pipeline,
    pool: rayon::ThreadPool,
    long_documents: Gate,
}

impl Means {
    /// Starts the clock and the threads.
    pub fn new(options: &RunOptions) -> Result<Means> {
        let clock = Clock::start();
        let budget = Budget::new(options.memory, options.threads)?;
        allocator::for_threads(options.threads);
        let pipeline = Pipeline::new(&options.recipe.text)?;
        let long_documents = Gate::new(budget.long_documents());
        Ok(Means { clock, budget, pipeline, pool: pool(options.threads)?, long_documents })
    }

    /// A job on a corpus.
    pub fn job<'j>(
        &'j self,
        options: &'j RunOptions,
        source: &'j Source,
        dir: &'j Path,
        progress: &'j Progress,
        cancel: &'j AtomicBool,
    ) -> Job<'j> {
        Job {
            options,
            source,
            pipeline: &self.pipeline,
            purified: Purified::new(Purifier::new(options.recipe.purify)),
            fields: options.recipe.fields().into_iter().collect(),
            pool: &self.pool,
            budget: self.budget,
            // The filters of the sieve take the other half.
            memory: Memory::new(if options.sift { self.budget.rows / 2 } else { self.budget.rows }),
            dir,
            progress,
            cancel,
            clock: &self.clock,
            long_documents: &self.long_documents,
            segmented: AtomicU64::new(0),
            bad: Mutex::default(),
        }
    }
}

/// So many threads, or as many as the system lets this process start.
fn pool(asked: usize) -> Result<rayon::ThreadPool> {
    let (mut threads, mut alone) = (asked, 0);
    loop {
        match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
            Ok(pool) if threads < asked => {
                tracing::warn!(
                    "--threads {asked}: only {threads} can be started; is there a limit of processes (ulimit -u)?"
                );
                return Ok(pool);
            }
            Ok(pool) => return Ok(pool),
            Err(error) if alone == ATTEMPTS => {
                return Err(Error::table("start a thread (is there a limit of processes, ulimit -u?)")(error));
            }
            Err(_) => {
                // Those that were started have to end before others are.
                std::thread::sleep(A_MOMENT);
                alone += usize::from(threads == 1);
                threads = (threads / 2).max(1);
            }
        }
    }
}

/// Does work on the corpus of a run that is done, with the threads and the memory of the options, and a folder of work
/// files that goes afterwards.
///
/// # Errors
/// What `work` returns; a damaged file of the corpus ends it.
pub fn work_again<T>(
    options: &RunOptions,
    source: &Source,
    progress: &Progress,
    cancel: &AtomicBool,
    work: impl FnOnce(&Job<'_>) -> Result<T>,
) -> Result<T> {
    let means = Means::new(options)?;
    let beside = options.out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let parent = options.work.as_deref().unwrap_or(beside);
    let folder = Unfinished::create_in(parent, WORK).map_err(Error::io("create the work folder in", parent))?;
    let job = means.job(options, source, folder.path(), progress, cancel);
    job.check_pages()?;
    work(&job)
}

#[cfg(test)]
mod tests {
    use crate::io::is_work_file;
    use crate::shuffle::product::{PRODUCT, ProductWriter};
    use crate::shuffle::run::RUN;

    /// The work folder removes nothing but what it knows.
    #[test]
    fn what_is_put_down_has_a_name_that_the_work_folder_knows() {
        let folder = tempfile::tempdir().unwrap();
        let named = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        for ending in [PRODUCT, RUN] {
            let writer = ProductWriter::create(folder.path(), &format!("a b{ending}")).unwrap();
            assert!(named().all(|name| is_work_file(&name.to_string_lossy())) && named().count() > 0);
            writer.put_down().unwrap();
            assert!(named().all(|name| is_work_file(&name.to_string_lossy())));
        }
    }
}
