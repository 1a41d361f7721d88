//! Classes of documents that are equal to a method: each document's class, each class's documents.
//!
//! A class is named by its smallest document, the representative. Two memory-mapped arrays hold it all: for each document
//! where its class begins (0: it is alone), and the classes one after another, each as its size and its documents.

use super::workers::Job;
use crate::error::Result;
use crate::shuffle::{Mapped, Shuffle, Sorted, Writer};

/// Bytes of a link: representative and document.
const LINK: usize = 16;

/// A shuffle for links of about so many documents.
pub fn links(job: &Job<'_>, name: &str, rows: u64) -> Result<Shuffle> {
    job.ordered(name, LINK, 8, 8, rows)
}

/// Writes one class: its documents with the smallest first.
pub fn push_class(writer: &mut Writer<'_>, representative: u64, doc: u64) -> Result<()> {
    let mut link = [0; LINK];
    link[..8].copy_from_slice(&representative.to_be_bytes());
    link[8..].copy_from_slice(&doc.to_be_bytes());
    writer.push(&link)
}

/// The classes with two documents or more.
pub struct Classes {
    begins: Mapped<u64>,
    members: Mapped<u64>,
    used: usize,
    surplus: u64,
}

impl Classes {
    /// From the links of every class, the representative among its own documents.
    pub fn build(job: &Job<'_>, name: &str, links: &Sorted) -> Result<Classes> {
        let rows = links.rows() as usize;
        let mut begins: Mapped<u64> = Mapped::new(job.dir, &format!("{name}-begins"), job.documents() as usize)?;
        let mut members: Mapped<u64> = Mapped::new(job.dir, &format!("{name}-members"), 3 + rows + rows / 2)?;
        let (mut used, mut surplus) = (1, 0);
        for partition in 0..links.partitions() {
            let records = links.load(partition, job.budget.a_thread)?;
            for group in records.groups() {
                job.go_on()?;
                // One document may have come by several ways; a class of one is none.
                let begin = used;
                let mut last = None;
                for at in group {
                    let doc = number(&records.record(at)[8..]);
                    if last != Some(doc) {
                        used += 1;
                        members[used] = doc;
                        last = Some(doc);
                    }
                }
                let size = used - begin;
                if size < 2 {
                    used = begin;
                    continue;
                }
                members[begin] = size as u64;
                used += 1;
                surplus += size as u64 - 1;
                for &doc in &members[begin + 1..used] {
                    begins[doc as usize] = begin as u64;
                }
            }
        }
        Ok(Classes { begins, members, used, surplus })
    }

    /// The smallest document of the class that `doc` is in; itself if it is alone.
    pub fn representative(&self, doc: u64) -> u64 {
        match self.begins[doc as usize] {
            0 => doc,
            begin => self.members[begin as usize + 1],
        }
    }

    /// Whether a smaller document is equal to it.
    pub fn is_surplus(&self, doc: u64) -> bool {
        self.representative(doc) != doc
    }

    /// The documents of the class that `doc` is in, ascending; none if it is alone.
    pub fn members(&self, doc: u64) -> &[u64] {
        match self.begins[doc as usize] as usize {
            0 => &[],
            begin => self.class_at(begin),
        }
    }

    /// All classes, in order of their representatives.
    pub fn iter(&self) -> impl Iterator<Item = &[u64]> {
        let mut at = 1;
        std::iter::from_fn(move || {
            if at >= self.used {
                return None;
            }
            let class = self.class_at(at);
            at += 1 + class.len();
            Some(class)
        })
    }

    /// Documents beyond the first of each class.
    pub fn surplus(&self) -> u64 {
        self.surplus
    }

    fn class_at(&self, begin: usize) -> &[u64] {
        let size = self.members[begin] as usize;
        &self.members[begin + 1..begin + 1 + size]
    }
}

/// A big-endian number of up to eight bytes.
pub fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
