//! The products of one attempt: keys are made when the first of them is asked for.

use std::cell::OnceCell;

use super::{Key, Keys, Product, Products};
use crate::error::Result;
use crate::job::workers::Job;
use crate::stage::plan::Plan;

/// What a job takes up, and where it puts down.
pub struct Stock<'j> {
    job: &'j Job<'j>,
    plan: &'j Plan,
    products: &'j Products<'j>,
    keys: OnceCell<Keys>,
}

impl<'j> Stock<'j> {
    /// Of a job.
    pub fn new(job: &'j Job<'j>, plan: &'j Plan, products: &'j Products<'j>) -> Stock<'j> {
        Stock { job, plan, products, keys: OnceCell::new() }
    }

    fn keys(&self) -> Result<&Keys> {
        if let Some(keys) = self.keys.get() {
            return Ok(keys);
        }
        let keys = Keys::new(self.job, self.plan)?;
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
        products.take(self.job, key(self.keys()?))
    }

    /// Whether what comes of the stage at hand is to be put down.
    pub fn due(&self) -> bool {
        self.products.due()
    }

    /// Puts a product down, if it is `due` and not there yet.
    ///
    /// # Errors
    /// A full disk.
    pub fn offer<T: Product>(&self, due: bool, key: impl Fn(&Keys) -> &Key, value: T) -> Result<T> {
        if !due || self.products.has(key(self.keys()?)) {
            return Ok(value);
        }
        self.products.put(self.job, key(self.keys()?), value)
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
