//! Stores classes of documents that an algorithm treats as equal: the class of each document, and the documents in each class.
//!
//! The document with the smallest number represents its class. The classes are in two memory-mapped arrays. The first array holds, for each
//! document, the position of its class, or 0 if the document is in no class. The second array holds the classes one after another. Each
//! class is stored as its size, followed by its documents. A bitmap marks the documents that are in a class, because most queries are about
//! documents that are in no class.

use std::ops::Range;

use crate::engine::checkpoints::{Checkpoint, CheckpointReader, CheckpointWriter};
use crate::engine::numbers::Numbers;
use crate::engine::threads::Engine;
use crate::session::Session;
use dupsift_algorithms::steps::copies::{Copies, class};
use dupsift_core::error::Result;
use dupsift_core::row::{Docs, LinkLayout};
use dupsift_spill::shuffle::{AtomicBits, Shuffle, Sorted, Writer};

/// Encodes pairs of document numbers as rows of a shuffle.
#[derive(Clone, Copy)]
pub struct Link {
    layout: LinkLayout,
}

impl Link {
    /// Returns the encoding for the documents of the job.
    pub fn new(session: &Session<'_>) -> Link {
        Link { layout: LinkLayout::new(session.documents()) }
    }

    /// Returns a shuffle for approximately this many rows, grouped and ordered by the first document.
    pub fn shuffle(self, session: &Session<'_>, name: &str, rows: u64) -> Result<Shuffle> {
        session.engine.ordered(
            session.documents(),
            name,
            self.layout.width(),
            self.layout.group_width(),
            self.layout.group_width(),
            rows,
        )
    }

    /// Writes one row.
    #[inline]
    pub fn push(self, writer: &mut Writer<'_>, first: u64, second: u64) -> Result<()> {
        writer.push(&self.layout.encode(first, second)[..self.layout.width()])
    }

    /// Reads one row.
    #[inline]
    pub fn read(self, record: &[u8]) -> (u64, u64) {
        self.layout.decode(record)
    }
}

/// Holds the classes with at least two documents.
pub struct Classes {
    classed: AtomicBits,
    begins: Numbers,
    members: Numbers,
    documents: u64,
    extra: u64,
}

impl Classes {
    /// Builds the classes from links between representatives and documents. Each representative is also linked to itself.
    pub fn build(session: &Session<'_>, name: &str, links: &Sorted) -> Result<Classes> {
        let (link, rows, documents) = (Link::new(session), links.rows() as usize, session.documents());
        // A class of n documents takes n + 1 entries, and every class has at least two documents.
        let places = 3 + rows + rows / 2;
        let begins_len = if rows == 0 { 0 } else { documents as usize };
        let classed = AtomicBits::new(session.engine.dir, &format!("{name}-classed"), begins_len)?;
        let mut begins = Numbers::new(session.engine.dir, &format!("{name}-begins"), begins_len, places as u64)?;
        let mut members = Numbers::new(session.engine.dir, &format!("{name}-members"), places, documents)?;
        let (mut used, mut extra) = (1, 0);
        let (mut to_begins, mut to_members) = (begins.slots(), members.slots());
        for partition in 0..links.partitions() {
            let records = links.load(partition, session.engine.budget.a_thread)?;
            let width = records.width();
            for group in records.groups() {
                session.engine.go_on()?;
                let begin = used;
                for doc in class(link.layout, &records.bytes()[group.start * width..group.end * width]) {
                    used += 1;
                    to_members.set(used, doc);
                }
                let size = used - begin;
                if size < 2 {
                    used = begin;
                    continue;
                }
                to_members.set(begin, size);
                used += 1;
                extra += size - 1;
                for at in begin + 1..used {
                    to_begins.set(to_members.get(at), begin);
                    classed.set(to_members.get(at) as usize);
                }
            }
        }
        Ok(Classes { classed, begins, members, documents, extra })
    }

    /// Saves the classes to a checkpoint.
    pub fn save(&self, to: &mut CheckpointWriter<'_>) -> Result<()> {
        to.plain(&(self.documents, self.extra))?;
        to.bits(&self.classed)?;
        self.begins.save(to)?;
        self.members.save(to)
    }

    /// Restores the classes from a checkpoint.
    pub fn restore(from: &mut CheckpointReader<'_>) -> Result<Classes> {
        let (documents, extra) = from.plain()?;
        let classed = from.bits()?;
        let (begins, members) = (Numbers::restore(from)?, Numbers::restore(from)?);
        Ok(Classes { classed, begins, members, documents, extra })
    }

    /// Returns the document with the smallest number in the class of `doc`, or `doc` itself if it is unique.
    pub fn representative(&self, doc: u64) -> u64 {
        match self.begin(doc) {
            0 => doc,
            begin => self.members.get(begin + 1),
        }
    }

    /// Returns whether `doc` is equal to a document with a smaller number.
    pub fn is_extra_copy(&self, doc: u64) -> bool {
        self.representative(doc) != doc
    }

    /// Returns whether no other document is equal to `doc`.
    #[inline]
    pub fn is_alone(&self, doc: u64) -> bool {
        self.extra == 0 || !self.classed.get(doc as usize)
    }

    /// Returns the documents in the class of `doc`, in ascending order, or an empty list if `doc` is unique.
    pub fn members(&self, doc: u64) -> Docs<'_> {
        match self.begin(doc) as usize {
            0 => Docs::NONE,
            begin => {
                let size = self.members.get(begin as u64) as usize;
                self.members.docs(begin + 1..begin + 1 + size)
            }
        }
    }

    /// Returns the classes whose representatives are in a range of documents, ordered by representative.
    pub fn of(&self, range: Range<u64>) -> impl Iterator<Item = Docs<'_>> {
        let range = if self.extra == 0 { 0..0 } else { range.start..range.end.min(self.documents) };
        let classes = range.map(|doc| (doc, self.members(doc)));
        classes.filter(|(doc, class)| !class.is_empty() && class.get(0) == *doc).map(|(_, class)| class)
    }

    /// Returns the number of documents in classes, not counting the first document of each class.
    pub fn extra_copies(&self) -> u64 {
        self.extra
    }

    /// Returns the position of the class of `doc`, or 0 if `doc` is unique. The array is empty if there are no classes.
    #[inline]
    fn begin(&self, doc: u64) -> u64 {
        if self.is_alone(doc) { 0 } else { self.begins.get(doc) }
    }
}

impl Copies for Classes {
    #[inline]
    fn is_extra_copy(&self, doc: u64) -> bool {
        Classes::is_extra_copy(self, doc)
    }

    fn members(&self, doc: u64) -> Docs<'_> {
        Classes::members(self, doc)
    }
}

impl Checkpoint for Classes {
    fn save(&mut self, _: &Engine<'_>, to: &mut CheckpointWriter<'_>) -> Result<()> {
        Classes::save(self, to)
    }

    fn restore(_: &Engine<'_>, _: u64, from: &mut CheckpointReader<'_>) -> Result<Classes> {
        Classes::restore(from)
    }
}
