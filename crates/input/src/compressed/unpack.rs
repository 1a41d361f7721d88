//! Unpacks a compressed file: consecutive gzip members or Zstandard frames.

use crate::compressed::members::{Fault, Members, Next};
use crate::compressed::packing::Packing;
use crate::compressed::rest::Behind;
use std::fs::File;
use std::io::{self, BufRead, Read};

/// The size of the buffer for unpacked bytes.
const HELD_BYTES: usize = 256 << 10;

/// The unpacked bytes of all members of a file, as one stream. The stream ends where the file is damaged; see [`Unpack::damage`].
///
/// Data after the last member is ignored, as in gzip(1), and reported by [`Unpack::behind`].
pub(crate) struct Unpack {
    members: Members,
    packing: Packing,
    inside: bool,
    ended: bool,
    /// The number of bytes read so far.
    bytes: u64,
    /// The number of bytes in the members before the currently open member.
    before: u64,
    damage: Option<Damage>,
}

impl Unpack {
    /// Starts unpacking at the beginning of a file.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub(crate) fn new(file: File, packing: Packing, window_bytes: u64) -> io::Result<Unpack> {
        let members = Members::new(file, packing, window_bytes, 0)?.holding(HELD_BYTES);
        Ok(Unpack { members, packing, inside: false, ended: false, bytes: 0, before: 0, damage: None })
    }

    /// Returns a description of the data after the last member; valid once everything has been read.
    pub(crate) fn behind(&self) -> Option<Behind> {
        self.members.rest().as_ref().map(Behind::of)
    }

    /// Returns the damage that ends the unpacked data early, if any; valid once everything has been read.
    pub(crate) fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Opens the next member, if there is one.
    fn open(&mut self) -> io::Result<()> {
        match self.members.next_whole()? {
            Next::Member => (self.inside, self.before) = (true, self.bytes),
            Next::End => self.ended = true,
            Next::Garbage(0) => {
                let why = format!("it is not {} data", self.packed_as());
                return Err(io::Error::new(io::ErrorKind::InvalidData, why));
            }
            Next::Garbage(at) => {
                let why = format!(
                    "the file is damaged at byte {at}: the data there is not compressed, but compressed data follows it"
                );
                self.ends(Trust::All, why, at);
            }
        }
        Ok(())
    }

    fn ends(&mut self, trust: Trust, why: String, at: u64) {
        self.ended = true;
        self.damage = Some(Damage { why, trust, at, bytes: self.bytes });
    }

    fn packed_as(&self) -> String {
        self.packing.said().replacen(" in ", "", 1)
    }
}

/// Describes where and why the data of a compressed file ends early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Damage {
    /// A description of the problem.
    pub why: String,
    /// States which of the bytes before the damage are correct.
    pub trust: Trust,
    /// The position in the file where the damage was detected.
    pub at: u64,
    /// The number of bytes that were unpacked before the damage.
    pub bytes: u64,
}

/// States which of the bytes before the damage are correct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
    /// All bytes before the damage are correct: the file is truncated, or there is garbage between two members.
    All,
    /// The bytes before this position, where the damaged member begins, are correct. The bytes of the damaged member are correct up to the
    /// damage, whose position is unknown.
    Before(u64),
    /// The bytes before this position, where a member with a wrong checksum begins, are correct. If the damage can be located, the bytes of
    /// this member before the damage are also correct.
    Checked(u64),
}

/// Implements [`Read::read`] for a buffered reader.
pub(super) fn read_buffered(reader: &mut impl BufRead, into: &mut [u8]) -> io::Result<usize> {
    let there = reader.fill_buf()?;
    let some = there.len().min(into.len());
    into[..some].copy_from_slice(&there[..some]);
    reader.consume(some);
    Ok(some)
}

impl Read for Unpack {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, into)
    }
}

impl BufRead for Unpack {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while !self.ended {
            if !self.inside {
                self.open()?;
                continue;
            }
            if !self.members.fill()?.is_empty() {
                break;
            }
            self.inside = false;
            let at = self.members.position();
            match self.members.fault() {
                None => {}
                Some(Fault::CutOff) => {
                    self.ends(
                        Trust::All,
                        "the file is truncated: it ends partway through the compressed data".to_owned(),
                        at,
                    );
                }
                Some(Fault::Damaged) => {
                    self.ends(Trust::Before(self.before), "the compressed data is damaged".to_owned(), at);
                }
                Some(Fault::Altered) => {
                    let why = "the compressed data is damaged: its checksum is wrong";
                    self.ends(Trust::Checked(self.before), why.to_owned(), at);
                }
            }
        }
        if self.ended { Ok(&[]) } else { self.members.fill() }
    }

    fn consume(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        self.members.consume(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{file_of, gz, zst};

    fn all(bytes: &[u8], packing: Packing) -> (io::Result<String>, Option<String>) {
        let mut unpack = Unpack::new(file_of(bytes), packing, 1 << 30).expect("opened");
        let mut text = String::new();
        let read = unpack.read_to_string(&mut text).and_then(|_| match unpack.damage() {
            Some(damage) => Err(io::Error::other(damage.why.clone())),
            None => Ok(text),
        });
        let (notes, lost) = Behind::notes(unpack.behind());
        (read, notes.into_iter().chain(lost.map(|lost| format!("lost {}: {}", lost.bytes, lost.why))).next())
    }

    #[test]
    fn what_stands_behind_the_last_member_is_left_out_and_reported() {
        type Pack<'p> = &'p dyn Fn(&[u8]) -> Vec<u8>;
        let cases: [(Packing, Pack<'_>); 2] = [(Packing::Gzip, &gz), (Packing::Zstd, &|bytes| zst(bytes, b""))];
        for (packing, pack) in cases {
            let members = [pack(b"one "), pack(b""), pack(b"two")].concat();
            assert_eq!((all(&members, packing).0.unwrap(), all(&members, packing).1), ("one two".to_owned(), None));
            let length = members.len();
            for (rest, what) in
                [(vec![0; 700], "zeros"), (b"signature\n".to_vec(), "not compressed data"), (vec![0], "zeros")]
            {
                let (read, note) = all(&[members.clone(), rest.clone()].concat(), packing);
                assert_eq!(read.unwrap(), "one two");
                let expected = format!("the last {} bytes, from byte {length}, are {what}", rest.len());
                assert!(note.as_ref().is_some_and(|note| note.starts_with(&expected)), "{note:?}");
            }
            // Garbage between two members is damage; a file that begins with garbage is not compressed.
            let why = |bytes: &[u8]| all(bytes, packing).0.unwrap_err().to_string();
            assert!(why(&[members.clone(), b"xyz".to_vec(), members.clone()].concat()).contains("is damaged"));
            assert!(why(b"plain text").contains("it is not "), "{}", why(b"plain text"));
            for cut in 1..pack(b"two").len() {
                assert!(
                    why(&members[..length - cut]).contains("truncated"),
                    "{cut}: {}",
                    why(&members[..length - cut])
                );
            }
            assert_eq!(all(b"", packing).0.unwrap(), "");
        }
    }

    #[test]
    fn a_member_that_is_damaged_at_its_beginning_is_lost_data() {
        let note = |bytes: &[u8], packing| all(bytes, packing).1.unwrap_or_default();
        for (packing, member) in [(Packing::Gzip, gz(b"two")), (Packing::Zstd, zst(b"two", b""))] {
            for at in 0..if packing == Packing::Gzip { 3 } else { 4 } {
                let mut bytes = [member.clone(), member.clone()].concat();
                bytes[member.len() + at] ^= 0xFF;
                let said = note(&bytes, packing);
                assert!(said.starts_with(&format!("lost {}: the last", member.len())), "{said}");
            }
            let with = |rest: usize| [member.clone(), vec![b'x'; rest]].concat();
            assert!(!note(&with(1024), packing).contains("lost"));
            assert!(note(&with(1025), packing).starts_with("lost 1025: "));
            assert!(note(&[member.clone(), vec![0; 1 << 20]].concat(), packing).contains("zeros"));
        }
    }

    #[test]
    fn a_window_above_the_bound_is_refused_with_the_options_that_help() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("memory");
        encoder.long_distance_matching(true).expect("a parameter");
        encoder.window_log(25).expect("a parameter");
        io::Write::write_all(&mut encoder, &[b'a'; 1 << 10]).expect("memory");
        io::Write::flush(&mut encoder).expect("memory");
        let bytes = encoder.finish().expect("memory");
        let read = |window| {
            let mut text = String::new();
            Unpack::new(file_of(&bytes), Packing::Zstd, window)?.read_to_string(&mut text)
        };
        assert_eq!(read(32 << 20).expect("within the bound"), 1 << 10);
        let why = read(31 << 20).expect_err("above the bound").to_string();
        assert!(why.contains("window") && why.contains("16.0 MiB") && why.contains("memory"), "{why}");
    }
}
