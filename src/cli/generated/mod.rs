//! Generates files from the tables of options and algorithms: pages of the manual, and keywords in Python.

pub(crate) mod handbook;
#[cfg(test)]
mod python_keywords;
