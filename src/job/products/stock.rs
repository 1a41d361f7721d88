//! The products of one attempt: keys are made when the first of them is asked for.

use std::cell::OnceCell;

use bytesize::ByteSize;

use super::keys::Keys;
use crate::engine::products::{Kept, Key, Left, Product, Products};
use crate::engine::threads::Engine;
use crate::error::Result;
use crate::io::{Source, WorkFolder};
use crate::job::read_back::Frozen;
use crate::options::RunOptions;
use crate::reading::reader::Reader;
use crate::stage::plan::Plan;
use crate::text::Pipeline;

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
    let reader = Reader::new(options, source, &pipeline);
    // An input that is another one by now is told where it is read.
    let Ok(keys) = Keys::without(&reader, &left.known_bad(), plan, None) else { return Ok(None) };
    let there = if options.stats.is_some() { left.of_keys(keys.of_texts()) } else { left.of_keys(keys.all()) };
    Ok(there.map(|(names, Kept { cpu_seconds, bytes })| {
        let (names, size) = (names.join(", "), ByteSize(bytes));
        format!("taken up from an earlier run ({cpu_seconds:.1} CPU s of work, {size}): {names}")
    }))
}

/// What a job takes up, and where it puts down.
pub struct Stock<'j> {
    engine: &'j Engine<'j>,
    reader: &'j Reader<'j>,
    plan: &'j Plan,
    frozen: Option<&'j Frozen>,
    products: &'j Products<'j>,
    keys: OnceCell<Keys>,
}

impl<'j> Stock<'j> {
    /// Of a job.
    pub fn new(
        engine: &'j Engine<'j>,
        reader: &'j Reader<'j>,
        plan: &'j Plan,
        frozen: Option<&'j Frozen>,
        products: &'j Products<'j>,
    ) -> Stock<'j> {
        Stock { engine, reader, plan, frozen, products, keys: OnceCell::new() }
    }

    /// The passes.
    pub fn plan(&self) -> &'j Plan {
        self.plan
    }

    fn keys(&self) -> Result<&Keys> {
        if let Some(keys) = self.keys.get() {
            return Ok(keys);
        }
        let keys = Keys::new(self.reader, self.plan, self.frozen)?;
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
        products.take(self.engine, self.reader.documents(), key(self.keys()?))
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
            self.products.put(self.engine, key(self.keys()?), &mut value)?;
        }
        Ok(value)
    }

    /// Puts a product down, however little time has passed.
    ///
    /// # Errors
    /// A full disk.
    pub fn put<T: Product>(&self, key: impl Fn(&Keys) -> &Key, mut value: T) -> Result<()> {
        self.products.put(self.engine, key(self.keys()?), &mut value)
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
