//! Parts that several members share. A member imports these and the contract, never another member.

pub mod blocks;
pub mod digest;
#[cfg(test)]
pub mod in_memory;
pub mod marks;
pub mod minwise;
pub mod passages;
pub mod raw_places;
pub mod sentences;
pub mod shingling;
pub mod title;
pub mod top_words;
pub mod verify;
pub mod votes;

/// Three documents with a known answer, for the members' worked examples (algorithms.md, A1).
#[cfg(test)]
pub mod examples {
    use crate::algorithm::contract::{Algorithm, Corpus, Signer};
    use crate::algorithm::params::Params;
    use crate::corpus::CorpusStats;
    use crate::row::Signatures;
    use crate::text::{Pipeline, TextOptions};

    /// The first document.
    pub const D1: &str = "Кот спит на окне. Кот видит птицу за окном. Птица улетела.";
    /// The same sentences in another order: a duplicate of [`D1`].
    pub const D2: &str = "Кот видит птицу за окном. Кот спит на окне! Птица улетела";
    /// Another document.
    pub const D3: &str = "Собака спит на крыльце. Кот видит рыбу.";

    /// The parameters of a member from `a=1,b=2`.
    pub fn params(algorithm: &dyn Algorithm, typed: &str) -> Params {
        let typed: Vec<(String, String)> = typed
            .split(',')
            .filter_map(|item| item.split_once('='))
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect();
        Params::check(algorithm.name(), &crate::algorithm::specs(algorithm), &typed).expect("parameters of a test")
    }

    /// What a member without statistics emits for a text: (position, key, order, sketch) rows, or the reason.
    pub type Emitted = Result<Vec<(u32, u128, u32, Vec<u8>)>, &'static str>;

    /// Signs one text with a member that needs no statistics.
    pub fn sign(algorithm: &dyn Algorithm, typed: &str, text: &str) -> Emitted {
        let stats = CorpusStats::none();
        let corpus = Corpus::new(1000, &stats);
        let signer = algorithm.signer(&params(algorithm, typed), &corpus).expect("parameters of a test");
        sign_with(signer.as_ref(), text)
    }

    /// Signs one text with a signer.
    pub fn sign_with(signer: &dyn Signer, text: &str) -> Emitted {
        let pipeline = Pipeline::new(&TextOptions::default()).expect("default options");
        let mut out = Signatures::default();
        signer.sign(&pipeline.analyse(text), &mut out);
        match out.reason() {
            Some(reason) => Err(reason),
            None => Ok(out.rows(0).map(|row| (row.position, row.key, row.order, row.sketch.to_vec())).collect()),
        }
    }

    /// The one key of a single-signature member.
    pub fn key(algorithm: &dyn Algorithm, typed: &str, text: &str) -> Result<u128, &'static str> {
        sign(algorithm, typed, text).map(|rows| {
            assert_eq!(rows.len(), 1);
            rows[0].1
        })
    }
}
