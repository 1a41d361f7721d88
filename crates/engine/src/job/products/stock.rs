//! The products of one attempt: keys are made when the first of them is asked for.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use bytesize::ByteSize;

use super::keys::Keys;
use crate::engine::products::{Kept, Key, Left, PortionReader, PortionWriter, Product, Products, Putting};
use crate::job::read::saved_inputs;
use crate::job::read_back::Frozen;
use crate::options::RunOptions;
use crate::session::Session;
use dupsift_algorithms::stage::plan::Plan;
use dupsift_core::error::Result;
use dupsift_core::number::counted;
use dupsift_files::io::{Source, WorkFolder};
use dupsift_text::Pipeline;

/// What an earlier run has left for one of these options over these files, as a line for the reader; none where there is nothing.
///
/// # Errors
/// A dictionary or a list of stop words that cannot be read.
pub fn left(options: &RunOptions, source: &Source, plan: &Plan) -> Result<Option<String>> {
    let folder = WorkFolder::would_be(&options.out, options.work.as_deref()).filter(|_| options.resumes);
    let left = folder.map(|folder| Left::of(&folder)).unwrap_or_default();
    if left.is_empty() {
        return Ok(None);
    }
    let pipeline = Pipeline::new(&options.recipe.text)?;
    // An input that is another one by now is told where it is read.
    let Ok(keys) = Keys::new(options, source, &pipeline.identity(), &left.known_bad(), plan, None) else {
        return Ok(None);
    };
    let portions = portions_left(&left, &keys, plan);
    let keys = if options.stats.is_some() { keys.of_texts().collect::<Vec<_>>() } else { keys.all().collect() };
    let there = left.of_keys(keys.into_iter().chain(&portions));
    Ok(there.map(|(names, Kept { cpu_seconds, bytes })| {
        let mut names = names;
        names.dedup();
        let (names, size) = (names.join(", "), ByteSize(bytes));
        let compared = match left.differing(source) as u64 {
            0 => String::new(),
            files => format!(", once the contents of {} are found to be the same", counted(files, "input file")),
        };
        format!("taken up from an earlier run ({cpu_seconds:.1} CPU s of work, {size}){compared}: {names}")
    }))
}

/// The keys of the portions of the first reading and of the second that are there, where they make all that is not.
fn portions_left(left: &Left, keys: &Keys, plan: &Plan) -> Vec<Key> {
    let has = |key: &Key| left.of_keys([key].into_iter()).is_some();
    let waits =
        |at: &usize| ![&keys.members[*at].rows, &keys.members[*at].pairs, &keys.members[*at].near].into_iter().any(has);
    let (first, second): (Vec<usize>, Vec<usize>) =
        (0..plan.signs.len()).filter(waits).partition(|&at| plan.signs_first(at));
    let takes = !has(&keys.notes) || !has(&keys.copies);
    let counts = plan.counts.is_some() && !has(&keys.counts);
    let copies = takes && !has(&keys.copies);
    let knows_pages = has(&keys.pages);
    let first = Made { notes: takes, copies, counts, members: first, knows_pages };
    let second = Made { members: second, knows_pages, ..Made::default() };
    let readings = [(FIRST, first), (SECOND, second.clone()), (RECALL, second)];
    let portions = readings.into_iter().flat_map(|(reading, made)| {
        let portions = Portions::new(reading, made);
        (0..).map(move |at| portions.key(keys, at)).take_while(&has)
    });
    portions.collect()
}

/// The reading that notes rows, and in which those sign who wait for nothing.
pub const FIRST: &str = "the first reading";
/// That in which the others sign.
pub const SECOND: &str = "the second reading";
/// Where the others sign from words that were kept.
pub const RECALL: &str = "the kept words";

/// What a reading makes.
#[derive(Clone, Default)]
pub struct Made {
    /// Notes of rows.
    pub notes: bool,
    /// The exact copies.
    pub copies: bool,
    /// Counts, with the words of documents.
    pub counts: bool,
    /// Rows of these algorithms.
    pub members: Vec<usize>,
    /// Texts of pages are known before it.
    pub knows_pages: bool,
}

/// The portions of a reading that makes all this. Keys are made when the first of them is asked for.
pub struct Portions {
    reading: &'static str,
    made: Made,
    lines: OnceLock<String>,
}

impl Portions {
    /// Of this reading.
    pub fn new(reading: &'static str, made: Made) -> Portions {
        Portions { reading, made, lines: OnceLock::new() }
    }

    /// The key of one of them, counted from 0.
    fn key(&self, keys: &Keys, at: u64) -> Key {
        let lines = self.lines.get_or_init(|| {
            let Made { notes, copies, counts, members, knows_pages } = &self.made;
            let some = [(notes, &keys.notes), (copies, &keys.copies), (counts, &keys.counts), (counts, &keys.words)];
            let some = some.into_iter().filter_map(|(is_made, key)| is_made.then_some(key));
            let made = some.chain(members.iter().map(|&at| &keys.members[at].rows));
            made.map(|key| format!("{}\n", key.hash)).collect::<String>() + &format!("pages known {knows_pages}")
        });
        let what = format!("portions of {}", self.reading);
        Key { hash: Key::new(what.clone(), &[lines, &at.to_string()]).hash, what }
    }
}

/// What a job takes up, and where it puts down.
pub struct Stock<'j> {
    session: &'j Session<'j>,
    plan: &'j Plan,
    frozen: Option<&'j Frozen>,
    products: &'j Products<'j>,
    keys: OnceLock<Keys>,
}

impl<'j> Stock<'j> {
    /// Of a job.
    pub fn new(
        session: &'j Session<'j>,
        plan: &'j Plan,
        frozen: Option<&'j Frozen>,
        products: &'j Products<'j>,
    ) -> Stock<'j> {
        Stock { session, plan, frozen, products, keys: OnceLock::new() }
    }

    /// The passes.
    pub fn plan(&self) -> &'j Plan {
        self.plan
    }

    fn keys(&self) -> Result<&Keys> {
        if let Some(keys) = self.keys.get() {
            return Ok(keys);
        }
        let keys = {
            let Session { options, source, pipeline, .. } = self.session;
            Keys::new(options, source, &pipeline.identity(), &BTreeMap::new(), self.plan, self.frozen)?
        };
        Ok(self.keys.get_or_init(|| keys))
    }

    /// The products, where there is anything to take up.
    fn there(&self) -> Option<&'j Products<'j>> {
        Some(self.products).filter(|products| !products.is_empty())
    }

    /// Whether there is a product of that key.
    ///
    /// # Errors
    /// An input that cannot be read.
    pub fn has(&self, key: impl Fn(&Keys) -> &Key) -> Result<bool> {
        let Some(products) = self.there() else { return Ok(false) };
        Ok(products.has(key(self.keys()?)))
    }

    /// Takes up the product of that key, if it is there and whole.
    ///
    /// # Errors
    /// A disk that cannot be read.
    pub fn take<T: Product>(&self, key: impl Fn(&Keys) -> &Key) -> Result<Option<T>> {
        let Some(products) = self.there() else { return Ok(None) };
        products.take(self.session.engine, self.session.documents(), key(self.keys()?))
    }

    /// Takes up a portion of a reading by a function that reads its bytes, and says whether it is of use; says whether there was one.
    ///
    /// # Errors
    /// A disk that cannot be read, and what the function returns.
    pub fn take_portion(
        &self,
        portions: &Portions,
        at: u64,
        take: impl FnOnce(&mut PortionReader<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let Some(products) = self.there() else { return Ok(false) };
        let key = portions.key(self.keys()?, at);
        let taken = products.take_with(&key, |found| take(&mut PortionReader::new(&found.bytes()?)))?;
        Ok(taken == Some(true))
    }

    /// Puts a portion down; says whether there was room for it.
    ///
    /// # Errors
    /// A full disk.
    pub fn put_portion(
        &self,
        portions: &Portions,
        at: u64,
        put: impl FnOnce(&mut PortionWriter<'_>) -> Result<()>,
    ) -> Result<bool> {
        let put = |to: &mut Putting<'_>| {
            to.stream(|writer| put(&mut PortionWriter::new(writer)))?;
            // What is hashed of the documents of a first pass ends with the portion.
            let documents = self.session.contents.documents();
            self.products.made_of(saved_inputs::of(self.session, documents));
            Ok(())
        };
        let bytes = self.products.put_with(self.session.engine, &portions.key(self.keys()?, at), put)?;
        tracing::debug!(reading = portions.reading, portion = at, bytes, "portion put down");
        Ok(bytes.is_some())
    }

    /// Whether portions of a reading were put down: what it makes is put down where they were, for a portion that is forgotten
    /// with nothing in its place would be work lost.
    ///
    /// # Errors
    /// An input that cannot be read.
    pub fn has_portions(&self, portions: &Portions) -> Result<bool> {
        let Some(products) = self.there() else { return Ok(false) };
        Ok(products.has(&portions.key(self.keys()?, 0)))
    }

    /// Removes the portions of a reading from one on.
    ///
    /// # Errors
    /// A ledger that cannot be written.
    pub fn forget_portions(&self, portions: &Portions, from: u64) -> Result<()> {
        let Some(products) = self.there() else { return Ok(()) };
        let keys = self.keys()?;
        // The first of them may be gone already, for it was damaged.
        products.forget(&portions.key(keys, from))?;
        let mut there = (from + 1..).map(|at| portions.key(keys, at)).take_while(|key| products.has(key));
        there.try_for_each(|key| products.forget(&key))
    }

    /// Whether what comes of the stage at hand is to be put down.
    pub fn due(&self) -> bool {
        self.products.due()
    }

    /// Puts a product down, if it is `due` and not there yet.
    ///
    /// # Errors
    /// A full disk.
    pub fn offer<T: Product>(&self, due: bool, key: impl Fn(&Keys) -> &Key, mut value: T) -> Result<T> {
        if due && !self.products.has(key(self.keys()?)) {
            self.made_of_all();
            self.products.put(self.session.engine, key(self.keys()?), &mut value)?;
        }
        Ok(value)
    }

    /// Notes that products are made of all documents.
    fn made_of_all(&self) {
        self.products.made_of(saved_inputs::of(self.session, self.session.documents()));
    }

    /// Puts a product down, however little time has passed.
    ///
    /// # Errors
    /// A full disk.
    pub fn put<T: Product>(&self, key: impl Fn(&Keys) -> &Key, mut value: T) -> Result<()> {
        self.made_of_all();
        self.products.put(self.session.engine, key(self.keys()?), &mut value)
    }

    /// Removes a product that nothing will ask for any more.
    ///
    /// # Errors
    /// A ledger that cannot be written.
    pub fn forget(&self, key: impl Fn(&Keys) -> &Key) -> Result<()> {
        let Some(products) = self.there() else { return Ok(()) };
        products.forget(key(self.keys()?))
    }
}
