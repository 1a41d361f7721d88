//! Tests that a run returns the same rows as a plain sort, and that any damage is reported.

use std::path::Path;

use proptest::prelude::*;

use super::fence::Fence;
use super::*;
use crate::shuffle::saved_file::SavedFile;
use crate::shuffle::spec::bucket;
use crate::shuffle::{Memory, Order, Shuffle, Sorted, Spec};
use dupsift_core::error::{Error, Result};

fn sorted(dir: &Path, rows: &[u8], width: usize, group_width: usize, partitions: usize) -> Sorted {
    let spec = Spec { name: "rows".into(), width, group_width, order: Order::Hash, range_width: 0, partitions };
    let shuffle = Shuffle::new(spec, dir, &Memory::new(1 << 20)).expect("a shuffle");
    let mut writer = shuffle.writer();
    rows.chunks_exact(width).try_for_each(|row| writer.push(row)).expect("taken");
    writer.flush().expect("taken");
    drop(writer);
    shuffle.finish().expect("whole")
}

/// Uses two threads to save the rows, with partitions in any order.
fn save_file(dir: &Path, sorted: &Sorted, width: usize, group_width: usize, memory: usize) -> Result<SavedFile> {
    put_down_so(dir, sorted, (width, group_width), memory, false)
}

/// Saves the rows with or without a filter.
fn put_down_so(
    dir: &Path,
    sorted: &Sorted,
    (width, group_width): (usize, usize),
    memory: usize,
    filtered: bool,
) -> Result<SavedFile> {
    let partitions = sorted.partitions();
    let rows: Vec<u64> = (0..partitions).map(|partition| sorted.rows_of(partition)).collect();
    let writer = RunWriter::create(dir, "rows.run", width, group_width, &rows, filtered)?;
    std::thread::scope(|scope| {
        let share = |odd: usize| {
            let writer = &writer;
            let write = move |partition| writer.write(partition, &sorted.load(partition, 1 << 20)?, memory);
            scope.spawn(move || (0..partitions).rev().filter(|partition| partition % 2 == odd).try_for_each(write))
        };
        [share(0), share(1)].into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    writer.finish()
}

fn read(run: &Run, buckets: Range<usize>) -> Result<Vec<u8>> {
    let (mut reader, mut bytes) = (run.read(buckets), Vec::new());
    while let Some(rows) = reader.next_block()? {
        assert!(!rows.is_empty() && rows.len().is_multiple_of(run.width()));
        bytes.extend_from_slice(rows);
    }
    Ok(bytes)
}

/// Returns the expected result: rows sorted by the bucket of their group, then by their bytes.
fn expected(rows: &[u8], width: usize, group_width: usize) -> Vec<u8> {
    let mut rows: Vec<&[u8]> = rows.chunks_exact(width).collect();
    rows.sort_by_key(|row| (bucket(&row[..group_width]), row.to_vec()));
    rows.concat()
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

/// Tests three six-byte rows, each with its group in the first two bytes.
#[test]
fn a_worked_example() {
    let dir = tempfile::tempdir().expect("a folder");
    let rows = b"bb-twoaa-onebb-one";
    let saved = save_file(dir.path(), &sorted(dir.path(), rows, 6, 2, 5), 6, 2, 1 << 20).expect("saved");
    assert_eq!(
        (saved.name.as_str(), saved.bytes, names(dir.path())),
        ("rows.run", 32_808 + 18 + 12 + 4, vec!["rows.run".to_owned()])
    );
    let bytes = std::fs::read(dir.path().join("rows.run")).expect("there");
    let mut head = b"dupsrun2".to_vec();
    head.extend([6, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bytes[..28], head);
    let [aa, bb] = AA_AND_BB;
    assert_eq!([bucket(b"aa"), bucket(b"bb")], [aa, bb]);
    let table = |at: usize| u64::from_le_bytes(bytes[28 + 8 * at..][..8].try_into().expect("8 bytes"));
    for at in 0..=BUCKETS {
        assert_eq!(table(at), u64::from(at > aa) + 2 * u64::from(at > bb), "{at}");
    }
    let (first, second) = (&b"aa-one"[..], &b"bb-onebb-two"[..]);
    let in_order = if aa < bb { [first, second].concat() } else { [second, first].concat() };
    assert_eq!(bytes[32_808..32_808 + 18], in_order);
    let crc = crc32fast::hash(&[&[0; 8], &in_order[..]].concat());
    let fence = [&in_order[..2], &[0; 6], &crc.to_le_bytes()].concat();
    assert_eq!(bytes[32_808 + 18..32_808 + 30], fence);
    let crc = crc32fast::hash(&[&bytes[..32_808], &fence[..]].concat());
    assert_eq!((&bytes[32_808 + 30..], saved.crc), (&crc.to_le_bytes()[..], crc));
    let run = Run::load_file(dir.path(), &saved).expect("whole");
    assert_eq!((run.rows(), run.width(), run.group_width(), run.rows_of(bb..bb + 1)), (3, 6, 2, 2));
    assert_eq!(read(&run, bb..bb + 1).expect("whole"), second);
    assert_eq!(read(&Run::open(&dir.path().join("rows.run")).expect("whole"), 0..BUCKETS).expect("whole"), in_order);
}

/// The buckets of the groups aa and bb, computed by a different program according to the description of the layout.
const AA_AND_BB: [usize; 2] = [3155, 1378];

#[test]
fn a_run_without_rows_is_whole() {
    let dir = tempfile::tempdir().expect("a folder");
    for partitions in [1, 7] {
        let saved = save_file(dir.path(), &sorted(dir.path(), b"", 9, 9, partitions), 9, 9, 0).expect("saved");
        let run = Run::load_file(dir.path(), &saved).expect("whole");
        assert_eq!((saved.bytes, run.rows(), read(&run, 0..BUCKETS).expect("whole")), (32_812, 0, vec![]));
        assert!(run.load(0..BUCKETS, 0).expect("whole").is_empty());
    }
}

/// Checks that flipped bytes and truncations at many positions are reported, as well as swapped pieces and a missing file.
#[test]
fn every_damage_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    let rows: Vec<u8> = (0..100_000_u32).flat_map(|row| (row / 3).to_be_bytes()).collect();
    let saved = save_file(dir.path(), &sorted(dir.path(), &rows, 4, 4, 3), 4, 4, 1 << 20).expect("saved");
    let path = dir.path().join("rows.run");
    let whole = std::fs::read(&path).expect("there");
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        let read = Run::load_file(dir.path(), &saved).and_then(|run| read(&run, 0..BUCKETS));
        let error = read.expect_err("refused");
        assert!(matches!(&error, Error::Damaged { path: named, .. } if *named == path), "{error}");
        error.to_string()
    };
    let last = whole.len() - 1;
    for at in
        (0..64).chain([9_999, HEADER - 1, HEADER, HEADER + PIECE - 1, HEADER + PIECE, last - 90_000, last - 2, last])
    {
        let mut flipped = whole.clone();
        flipped[at] ^= 4;
        refused(&flipped);
        assert!(refused(&whole[..at]).contains("bytes instead of"));
    }
    refused(&[&whole[..], b"x"].concat());
    // Two pieces are swapped.
    let mut swapped = whole.clone();
    swapped[HEADER..HEADER + 2 * PIECE].rotate_left(PIECE);
    assert!(refused(&swapped).contains("piece 0 of its rows has checksum"));
    // Damage in other buckets has no effect.
    let mut flipped = whole.clone();
    flipped[HEADER + 4 * 100_000 - 500] ^= 1;
    std::fs::write(&path, &flipped).expect("written");
    let run = Run::load_file(dir.path(), &saved).expect("its header is whole");
    assert!(!read(&run, 0..100).expect("whole").is_empty() && run.load(BUCKETS - 100..BUCKETS, 0).is_err());
    std::fs::remove_file(&path).expect("removed");
    assert!(Run::load_file(dir.path(), &saved).expect_err("gone").to_string().contains("it is missing"));
}

#[test]
fn a_run_that_is_not_whole_gets_no_name() {
    let dir = tempfile::tempdir().expect("a folder");
    let two = sorted(dir.path(), b"aaaabbbbccccdddd", 4, 4, 2);
    let rows = [two.rows_of(0), two.rows_of(1)];
    let writer = RunWriter::create(dir.path(), "rows.run", 4, 4, &rows, false).expect("begun");
    writer.write(0, &two.load(0, 1 << 20).expect("loaded"), 0).expect("written");
    let twice = writer.write(0, &two.load(0, 1 << 20).expect("loaded"), 0).expect_err("refused").to_string();
    assert!(twice.contains("written twice"), "{twice}");
    let missing = writer.finish().expect_err("refused").to_string();
    assert!(missing.contains("partition 1 of a run was not written"), "{missing}");
    assert!(names(dir.path()).is_empty());
    // A partition rejects the rows of a different partition.
    let whole = sorted(dir.path(), b"aaaabbbbccccdddd", 4, 4, 1).load(0, 1 << 20).expect("loaded");
    let writer = RunWriter::create(dir.path(), "rows.run", 4, 4, &[4, 0, 0, 0, 0, 0, 0], true).expect("begun");
    let other = writer.write(0, &whole, 0).expect_err("refused").to_string();
    assert!(other.contains("a row from bucket"), "{other}");
}

#[test]
fn partitions_are_whole_numbers_of_buckets() {
    for partitions in [1, 2, 3, 60, 255, 256, 1000, 1024] {
        let mut end = 0;
        for partition in 0..partitions {
            let buckets = buckets_of(partition, partitions);
            assert!(buckets.start == end && !buckets.is_empty(), "{partition} of {partitions}: {buckets:?}");
            end = buckets.end;
        }
        assert_eq!(end, BUCKETS);
    }
    assert_eq!(buckets_of(1, 3), 1366..2731);
}

/// Returns pseudo-random rows of this width with `kinds` different groups.
fn random(count: usize, width: usize, group: usize, kinds: u64, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut rows = Vec::with_capacity(count * width);
    for _ in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let key = ((state >> 20) % kinds).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
        // Groups longer than 8 bytes share a prefix.
        let key = if group > 8 { [[7; 8], key].concat() } else { key.to_vec() };
        rows.extend((0..width).map(|at| if at < group { key[at] } else { (state >> (at % 60)) as u8 & 3 }));
    }
    rows
}

/// Returns half of the groups that occur in the rows and the same number of groups that do not, in the order used in a run.
fn asked(rows: &[u8], width: usize, group: usize, seed: u64) -> Vec<Vec<u8>> {
    let others = random(rows.len() / width / 2, group, group, u64::MAX, !seed);
    let known = rows.chunks_exact(width).step_by(2).map(|row| row[..group].to_vec());
    let mut asked: Vec<Vec<u8>> = others.chunks_exact(group).map(<[u8]>::to_vec).chain(known).collect();
    asked.sort_by_key(|group| (bucket(group), group.clone()));
    asked.dedup();
    asked
}

/// Checks that the filter rules out missing groups, and that a damaged filter is reported.
#[test]
fn most_groups_that_are_not_there_are_known_without_rows() {
    let dir = tempfile::tempdir().expect("a folder");
    let rows = random(200_000, 24, 16, u64::MAX, 3);
    let saved = put_down_so(dir.path(), &sorted(dir.path(), &rows, 24, 16, 3), (24, 16), 100_000, true).expect("saved");
    let path = dir.path().join("rows.run");
    let fences = (200_000_u64.div_ceil(170)) * 12 + 4;
    let pieces = (200_000_u64 / 32 + 1).div_ceil(127);
    assert_eq!(saved.bytes, HEADER as u64 + rows.len() as u64 + fences + 4096 * pieces);
    let pass = |groups: &[Vec<u8>]| {
        let run = Run::open(&path).expect("its header is whole");
        let mut reader = run.read(0..BUCKETS);
        let pass: Result<Vec<bool>> = groups.iter().map(|group| reader.may_have(bucket(group), group)).collect();
        (pass.map(|pass| pass.iter().filter(|pass| **pass).count()), reader.bytes())
    };
    let mut others: Vec<Vec<u8>> = random(20_000, 16, 16, u64::MAX, 99).chunks_exact(16).map(<[u8]>::to_vec).collect();
    others.sort_by_key(|group| bucket(group));
    let (passed, bytes) = pass(&others);
    let passed = passed.expect("whole");
    // Small buckets share their blocks unevenly, so more than 3% of the missing groups pass.
    assert!((100..2_000).contains(&passed), "{passed} of 20,000");
    assert!(bytes <= 2 * 4096 * BUCKETS as u64, "{bytes}");
    // Filters are in bucket order, so the last piece belongs to the last bucket.
    let mut flipped = std::fs::read(&path).expect("there");
    let at = flipped.len() - 2_000;
    flipped[at] ^= 16;
    std::fs::write(&path, &flipped).expect("written");
    let (first, last) = (others.first().expect("there").clone(), others.last().expect("there").clone());
    pass(&[first]).0.expect("its piece is whole");
    let error = pass(&[last]).0.expect_err("refused");
    assert!(matches!(&error, Error::Damaged { path: named, .. } if *named == path), "{error}");
    assert!(error.to_string().contains(&format!("piece {} of its filter", pieces - 1)), "{error}");
}

/// Checks that only one piece per group is read if about 150 groups are looked up in 1,765 pieces.
#[test]
fn pieces_without_a_group_are_not_read() {
    let dir = tempfile::tempdir().expect("a folder");
    let rows = random(300_000, 24, 16, u64::MAX, 3);
    save_file(dir.path(), &sorted(dir.path(), &rows, 24, 16, 3), 24, 16, 1 << 20).expect("saved");
    let run = Run::open(&dir.path().join("rows.run")).expect("whole");
    let mut reader = run.read(0..BUCKETS);
    let (mut few, mut found) = (asked(&rows, 24, 16, 5), 0);
    few.retain(|group| group[15] == 0 && group[14] < 32);
    for group in &few {
        if reader.seek(bucket(group), group).expect("read") {
            let block = reader.next_block().expect("whole").expect("there");
            found += block.chunks_exact(24).filter(|row| row[..16] == group[..]).count();
        }
    }
    assert!((100..200).contains(&few.len()) && found > 50, "{found} of {}", few.len());
    assert!(reader.bytes() <= 4096 * few.len() as u64, "{} for {}", reader.bytes(), few.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Checks that the reader and the loader return the same rows as a plain sort, for any buckets, width, number of partitions and memory
    /// limit.
    #[test]
    fn what_comes_back_is_what_a_plain_sort_gives(
        width in 4..=40_usize,
        group in 1..=8_usize,
        count in 0..20_000_usize,
        kinds in prop_oneof![Just(1_u64), Just(5), Just(1000), Just(u64::MAX)],
        seed in any::<u64>(),
        (wrote, reads) in (1..40_usize, 1..9_usize),
        memory in prop_oneof![Just(0_usize), Just(5_000), Just(1 << 20)],
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let group = group.min(width);
        let rows = random(count, width, group, kinds, seed);
        let sorted = sorted(dir.path(), &rows, width, group, wrote);
        let saved = save_file(dir.path(), &sorted, width, group, memory).expect("saved");
        let run = Run::load_file(dir.path(), &saved).expect("whole");
        let expected = expected(&rows, width, group);
        prop_assert!(read(&run, 0..BUCKETS).expect("whole") == expected);
        let (mut by_parts, mut groups) = (Vec::new(), 0);
        for part in 0..reads {
            let loaded = run.load(buckets_of(part, reads), memory).expect("whole");
            prop_assert_eq!(loaded.len() as u64, run.rows_of(buckets_of(part, reads)));
            groups += loaded.groups().count();
            by_parts.extend_from_slice(loaded.bytes());
        }
        prop_assert!(by_parts == expected);
        let mut keys: Vec<&[u8]> = rows.chunks_exact(width).map(|row| &row[..group]).collect();
        keys.sort();
        keys.dedup();
        prop_assert_eq!(groups, keys.len());
    }
    /// Checks that looking up groups in order returns the same rows as a plain sort, wherever pieces and buckets begin.
    #[test]
    fn what_is_sought_is_found(
        (width, group) in prop_oneof![(4..=40_usize, 1..=8_usize), (16..=40_usize, 9..=16_usize), (100..=512_usize, Just(8_usize))],
        count in 0..20_000_usize,
        kinds in prop_oneof![Just(5_u64), Just(1000), Just(u64::MAX)],
        (seed, part, parts, step) in (any::<u64>(), 0..3_usize, 1..4_usize, 1..300_usize),
        memory in prop_oneof![Just(0_usize), Just(5_000), Just(1 << 20)],
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let (group, count) = (group.min(width), count.min(4_000_000 / width));
        let rows = random(count, width, group, kinds, seed);
        put_down_so(dir.path(), &sorted(dir.path(), &rows, width, group, 5), (width, group), memory, true).expect("saved");
        let run = Run::open(&dir.path().join("rows.run")).expect("whole");
        let buckets = buckets_of(part % parts, parts);
        let (mut reader, mut found, mut block) = (run.read(buckets.clone()), Vec::new(), Vec::new());
        let asked: Vec<Vec<u8>> = asked(&rows, width, group, seed).into_iter().step_by(step).collect();
        let inside: Vec<&Vec<u8>> = asked.iter().filter(|group| buckets.contains(&bucket(group))).collect();
        for sought in &inside {
            let place = |row: &[u8]| (bucket(&row[..group]), row[..group].to_vec());
            let wanted = (bucket(sought), sought.to_vec());
            loop {
                let passed = block.chunks_exact(width).take_while(|row| place(row) < wanted).count() * width;
                block.drain(..passed);
                let equal = block.chunks_exact(width).take_while(|row| place(row) == wanted).count() * width;
                found.extend(block.drain(..equal));
                if !block.is_empty()
                    || !reader.may_have(wanted.0, sought).expect("whole")
                    || !reader.seek(wanted.0, sought).expect("read")
                {
                    break;
                }
                block = reader.next_block().expect("whole").expect("there").to_vec();
            }
        }
        let expected = expected(&rows, width, group);
        let asked: std::collections::HashSet<&[u8]> = inside.iter().map(|group| &group[..]).collect();
        let expected: Vec<&[u8]> = expected.chunks_exact(width).filter(|row| asked.contains(&row[..group])).collect();
        prop_assert!(found == expected.concat());
    }
}

/// Checks that the bytes on disk match the description in the module, on every machine.
#[test]
fn a_header_has_the_bytes_of_the_description() {
    let mut starts = vec![0; BUCKETS + 1];
    starts[BUCKETS] = 0x0102_0304;
    let header = Header { width: 24, group_width: 8, filtered: true, starts };
    let bytes = header.encode();
    let expected = [
        &b"dupsrun2"[..],
        &[24, 0, 0, 0, 8, 0, 0, 0, 4, 3, 2, 1, 0, 0, 0, 0],
        &BLOCK_ROWS.to_le_bytes(),
        &[0; 8 * BUCKETS],
        &[4, 3, 2, 1, 0, 0, 0, 0],
    ]
    .concat();
    assert!(bytes[..HEADER - 4] == expected && bytes[HEADER - 4..] == crc32fast::hash(&expected).to_le_bytes());
    assert_eq!(Header::decode(&bytes), Ok(header));
    let fence = Fence { prefix: *b"12345678", checksum: 0x0102_0304.into() };
    assert_eq!(fence.as_bytes(), b"12345678\x04\x03\x02\x01");
}
