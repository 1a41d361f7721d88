//! The products of one attempt: keys are made when the first of them is asked for.

use std::cell::OnceCell;

use super::keys::Keys;
use crate::engine::products::{Key, Product, Products};
use crate::engine::threads::Engine;
use crate::error::Result;
use crate::job::read_back::Frozen;
use crate::reading::reader::Reader;
use crate::stage::plan::Plan;

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

    /// Removes a product that nothing will ask for any more.
    ///
    /// # Errors
    /// A ledger that cannot be written.
    pub fn forget(&self, key: impl Fn(&Keys) -> &Key) -> Result<()> {
        let Some(products) = self.there() else { return Ok(()) };
        products.forget(key(self.keys()?))
    }
}
