//! Property tests for reading web archives from arbitrary bytes: no input causes a panic, a piece contains the same records as the
//! corresponding part of the entire file, and truncating a file does not affect the records before the truncated one.

use crate::archive::records::{NextRecord, Records};
use crate::compressed::packing::Packing;
use proptest::prelude::*;
use std::fs::File;
use std::io::Write as _;

/// A record that was read: its position, whether a read may begin at that position, and its content or error.
type Come = (u64, bool, Result<(String, Vec<u8>), String>);

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(bytes).expect("written");
    file
}

fn records(file: &File, packing: Packing, from: u64, hold: bool) -> Vec<Come> {
    let mut records = Records::new(file.try_clone().expect("a handle"), packing, 1 << 27, from).expect("opened");
    let mut all = Vec::new();
    while let Some(found) = records.next().expect("read") {
        let (start, fresh) = (records.start(), records.is_fresh());
        let what = match found {
            NextRecord::Broken(why) => Err(why.to_owned()),
            NextRecord::Head(head) => {
                let mut block = Vec::new();
                let whole = records.block(&head, hold.then_some(&mut block)).expect("read");
                whole.map(|()| (head.kind, block)).map_err(|why| why.to_string())
            }
        };
        all.push((start, fresh, what));
    }
    all
}

/// Reads the bytes in every possible way and checks the properties. Returns the records found by one of the reads.
fn lawful(bytes: &[u8], packing: Packing) -> Vec<Come> {
    let file = file(bytes);
    let all = records(&file, packing, 0, true);
    // Skipping blocks gives the same records as reading them.
    let stepped = records(&file, packing, 0, false);
    let same = |(a, b): (&Come, &Come)| (a.0, a.1, a.2.as_ref().err()) == (b.0, b.1, b.2.as_ref().err());
    assert!(all.len() == stepped.len() && all.iter().zip(&stepped).all(same), "{all:?} {stepped:?}");
    assert!(all.is_sorted_by_key(|told| told.0), "{all:?}");
    for (at, told) in all.iter().enumerate().filter(|(_, told)| told.1) {
        assert!(at == 0 || all[at - 1].0 < told.0, "{all:?}");
        assert_eq!(records(&file, packing, told.0, true), all[at..], "from {} on", told.0);
    }
    all
}

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns a frame with a checksum, as written by the `zstd` program. Without a checksum, a changed byte that moves the end of a frame may
/// go undetected, in which case the next frame is lost as well.
fn zst(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("memory");
    encoder.include_checksum(true).expect("a parameter");
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn record(kind: &str, block: &str) -> Vec<u8> {
    format!("WARC/1.0\r\nWARC-Type: {kind}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len()).into_bytes()
}

fn small() -> Vec<Vec<u8>> {
    let noise: String = (0..20u64).map(|n| format!("{:x}", dupsift_core::hash::mix64(n))).collect();
    vec![
        record("request", "GET"),
        record("response", "one\r\n\r\ntwo"),
        record("resource", &noise),
        record("conversion", ""),
    ]
}

fn dressed(records: &[Vec<u8>]) -> [(Packing, Vec<Vec<u8>>); 3] {
    let each = |pack: fn(&[u8]) -> Vec<u8>| records.iter().map(|record| pack(record)).collect();
    [(Packing::Plain, each(<[u8]>::to_vec)), (Packing::Gzip, each(gz)), (Packing::Zstd, each(zst))]
}

#[test]
fn a_cut_anywhere_leaves_what_stands_before_it() {
    for (packing, members) in dressed(&small()) {
        let bytes = members.concat();
        let whole = lawful(&bytes, packing);
        assert_eq!(whole.len(), 4);
        for cut in 0..bytes.len() {
            let mut end = 0;
            let before = members.iter().take_while(|member| {
                end += member.len();
                end <= cut
            });
            let before = before.count();
            let came = lawful(&bytes[..cut], packing);
            assert_eq!(came[..before], whole[..before], "{packing:?} {cut}");
            // The rest of the result comes from the truncated record: nothing, a broken record, or the complete record except for line
            // breaks.
            let rest = &came[before..];
            assert!(rest.is_empty() || rest.len() == 1 && (rest[0].2.is_err() || rest[0] == whole[before]), "{rest:?}");
            let begun = cut - members[..before].iter().map(Vec::len).sum::<usize>();
            assert_eq!(rest.is_empty(), begun == 0, "{packing:?} {cut}: {rest:?}");
        }
    }
}

#[test]
fn a_changed_byte_changes_one_record_of_a_compressed_file_and_no_other() {
    for (packing, members) in dressed(&small()).into_iter().skip(1) {
        let bytes = members.concat();
        let whole = lawful(&bytes, packing);
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x41;
            let came = lawful(&changed, packing);
            let mut end = 0;
            let hit = members.iter().take_while(|member| {
                end += member.len();
                end <= at
            });
            let hit = hit.count();
            assert_eq!(came[..hit], whole[..hit], "{packing:?} {at}");
            let after = whole.len() - hit - 1;
            assert!(came.len() >= hit + after, "{packing:?} {at}: {came:?}");
            // If the damaged member was unpacked beyond its end, a read may be unable to begin at the following member.
            let told = |all: &[Come]| all.iter().map(|told| (told.0, told.2.clone())).collect::<Vec<_>>();
            assert_eq!(told(&came[came.len() - after..]), told(&whole[hit + 1..]), "{packing:?} {at}");
        }
    }
}

/// Generates pieces of archives in any order: records, partial records, line breaks, invalid headers, arbitrary bytes.
fn pieces() -> impl Strategy<Value = Vec<(usize, usize, u64)>> {
    proptest::collection::vec((0usize..14, 0usize..400, any::<u64>()), 0..12)
}

fn made(pieces: &[(usize, usize, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for &(kind, size, seed) in pieces {
        let whole = record(["response", "warcinfo"][size % 2], &"x\r\n".repeat(size));
        bytes.extend(match kind {
            0..3 => whole,
            3 => gz(&whole),
            4 => zst(&whole),
            5 => whole[..size % whole.len()].to_vec(),
            6 => {
                let gz = gz(&whole);
                gz[..size % gz.len()].to_vec()
            }
            7 => {
                let zst = zst(&whole);
                zst[size % zst.len()..].to_vec()
            }
            8 => format!("WARC/1.0\r\nWARC-Type: response\r\nContent-Length: {}\r\n\r\n", size * 3).into_bytes(),
            9 => b"WARC/1.1\r\n".to_vec(),
            10 => vec![0; size],
            11 => gz(&[whole.clone(), b"garbage".to_vec(), whole].concat()),
            12 => b"\x50\x2A\x4D\x18\x09\0\0\0".to_vec(),
            _ => (0..size as u64).map(|at| dupsift_core::hash::mix64(seed ^ at) as u8).collect(),
        });
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_are_read_lawfully(pieces in pieces()) {
        let bytes = made(&pieces);
        for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd] {
            lawful(&bytes, packing);
        }
        // Repeats the check with the same bytes inside a compressed member.
        lawful(&gz(&bytes), Packing::Gzip);
        lawful(&zst(&bytes), Packing::Zstd);
    }
}
