//! Tests the complete shuffle against the standard library's sort, with memory limits from zero to more than enough.

use std::os::unix::fs::FileExt as _;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use dupsift_core::error::{Error, Result};

const KIB: usize = 1 << 10;

fn spec(width: usize, group_width: usize, order: Order, partitions: usize) -> Spec {
    Spec { name: "rows of a test".into(), width, group_width, order, range_width: 4, partitions }
}

/// Returns records of pseudo-random bytes whose leading four bytes are a number below `below`.
fn random_records(count: usize, width: usize, below: u32, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    let mut bytes = Vec::with_capacity(count * width);
    for _ in 0..count {
        bytes.extend_from_slice(&(next() % below).to_be_bytes());
        bytes.extend((4..width).map(|_| (next() % 3) as u8));
    }
    bytes
}

fn shuffled(spec: Spec, dir: &Path, memory: &Memory, records: &[u8], threads: usize) -> Result<Sorted> {
    let width = spec.width;
    let shuffle = Shuffle::new(spec, dir, memory)?;
    let share = (records.len() / width).div_ceil(threads).max(1) * width;
    std::thread::scope(|scope| {
        let shuffle = &shuffle;
        let writing: Vec<_> = records
            .chunks(share)
            .map(|share| {
                scope.spawn(move || {
                    let mut writer = shuffle.writer();
                    share.chunks_exact(width).try_for_each(|record| writer.push(record))?;
                    writer.flush()
                })
            })
            .collect();
        writing.into_iter().try_for_each(|thread| thread.join().expect("no panic"))
    })?;
    shuffle.finish()
}

/// Loads all partitions, and checks that each is sorted and that no group is split. Returns the concatenated bytes.
fn load_all(sorted: &Sorted, group_width: usize, allowance: usize) -> Result<Vec<u8>> {
    let mut all = Vec::new();
    let mut groups: Vec<Vec<u8>> = Vec::new();
    for partition in 0..sorted.partitions() {
        let records = sorted.load(partition, allowance)?;
        assert!(records.bytes().chunks_exact(records.width()).is_sorted());
        assert_eq!(records.len() as u64, sorted.rows_of(partition));
        groups.extend(records.groups().map(|group| records.record(group.start)[..group_width].to_vec()));
        all.extend_from_slice(records.bytes());
    }
    let found = groups.len();
    groups.sort();
    groups.dedup();
    assert_eq!(found, groups.len(), "a group in two partitions");
    Ok(all)
}

fn sorted_by_std(bytes: &[u8], width: usize) -> Vec<u8> {
    let mut records: Vec<&[u8]> = bytes.chunks_exact(width).collect();
    records.sort();
    records.concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Checks that the result is the same as that of a single sort, for any width, memory limit, allowance, number of threads, and number
    /// of partitions.
    #[test]
    fn the_outcome_is_that_of_one_sort(
        width in 4..=64_usize,
        count in 0..8000_usize,
        below in prop_oneof![Just(1_u32), Just(7), Just(1000), Just(1 << 30)],
        seed in any::<u64>(),
        partitions in prop_oneof![Just(1_usize), 2..40_usize],
        memory in prop_oneof![Just(0_usize), Just(40 * KIB), Just(400 * KIB), Just(64 << 20)],
        allowance in prop_oneof![Just(0_usize), Just(30 * KIB), Just(100 * KIB), Just(64 << 20)],
        threads in 1..4_usize,
        range in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().expect("a folder");
        let order = if range { Order::Range { below: below.into() } } else { Order::Hash };
        let records = random_records(count, width, below, seed);
        let ledger = Memory::new(memory);
        let sorted = shuffled(spec(width, 4, order, partitions), dir.path(), &ledger, &records, threads).expect("sorted");
        prop_assert_eq!(sorted.rows(), count as u64);
        prop_assert!(ledger.used() <= memory, "{} of {}", ledger.used(), memory);
        if memory == 0 || memory == 64 << 20 {
            prop_assert_eq!(sorted.spilled_bytes() > 0, memory == 0 && count > 0);
        }
        let once = load_all(&sorted, 4, allowance).expect("loaded");
        let expected = sorted_by_std(&records, width);
        prop_assert!(load_all(&sorted, 4, 64 << 20).expect("loaded") == once, "another allowance, other bytes");
        if range {
            prop_assert!(once == expected, "partitions of a range are sorted as a whole");
        } else {
            prop_assert!(sorted_by_std(&once, width) == expected, "records were lost or made up");
        }
        prop_assert_eq!(std::fs::read_dir(dir.path()).expect("a folder").count(), 0);
        drop(sorted);
        prop_assert_eq!(ledger.used(), 0);
    }
}

/// Returns whether the records are in a temporary file instead of the process's memory.
fn is_mapped(records: &Records) -> bool {
    matches!(records.held, records::Storage::File(_))
}

/// Sorts 19,200 different records in 57 runs of 341 records (8 KiB), which are merged two at a time in many rounds.
#[test]
fn many_rounds_of_merging_lose_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let records = random_records(19_200, 24, 1 << 30, 5);
    let sorted = shuffled(spec(24, 8, Order::Hash, 1), dir.path(), &Memory::new(0), &records, 2).expect("sorted");
    let spilled = sorted.spilled_bytes();
    let loaded = sorted.load(0, 0).expect("loaded");
    assert!(is_mapped(&loaded) && loaded.bytes() == sorted_by_std(&records, 24));
    assert!(sorted.spilled_bytes() > spilled + 4 * records.len() as u64, "there were rounds");
    assert!(!is_mapped(&sorted.load(0, 2 * records.len()).expect("loaded")), "what just fits stays in memory");
    assert!(is_mapped(&sorted.load(0, 2 * records.len() - 1).expect("loaded")));
}

/// Tests a hot key: nine tenths of all rows have this key, and these rows exceed both the budget and the allowance.
#[test]
fn a_hot_key_needs_nothing_special() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut records = random_records(50_000, 40, 1 << 20, 9);
    for (at, record) in records.chunks_exact_mut(40).enumerate() {
        if at % 10 != 0 {
            record[..8].copy_from_slice(&[3; 8]);
        }
    }
    let memory = Memory::new(600 * KIB);
    let sorted = shuffled(spec(40, 8, Order::Hash, 16), dir.path(), &memory, &records, 4).expect("sorted");
    let all = load_all(&sorted, 8, 200 * KIB).expect("loaded");
    assert!(sorted_by_std(&all, 40) == sorted_by_std(&records, 40));
    let hot = (0..16).map(|partition| {
        let records = sorted.load(partition, 200 * KIB).expect("loaded");
        records.groups().map(|group| group.len()).max().unwrap_or(0)
    });
    assert_eq!(hot.max(), Some(45_000));
}

/// Writes two shuffles with the same name to the same folder at the same time, with a shared budget. The finished shuffle spills to make
/// room for the other shuffle.
#[test]
fn shuffles_share_one_budget() {
    let dir = tempfile::tempdir().expect("a folder");
    let memory = Memory::new(1 << 20);
    let records = random_records(30_000, 24, 1 << 30, 1);
    let first = shuffled(spec(24, 4, Order::Hash, 4), dir.path(), &memory, &records, 2).expect("sorted");
    assert_eq!(first.spilled_bytes(), 0, "all of it fits");
    let others: Vec<Sorted> = std::thread::scope(|scope| {
        let writing: Vec<_> = (2..5)
            .map(|seed| {
                let (memory, dir) = (&memory, dir.path());
                scope.spawn(move || {
                    let records = random_records(30_000, 24, 1 << 30, seed);
                    shuffled(spec(24, 4, Order::Hash, 4), dir, memory, &records, 2).expect("sorted")
                })
            })
            .collect();
        writing.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(first.spilled_bytes() > 0 && memory.used() <= memory.limit());
    for (seed, sorted) in std::iter::once(&first).chain(&others).enumerate() {
        let expected = sorted_by_std(&random_records(30_000, 24, 1 << 30, seed as u64 + 1), 24);
        assert!(sorted_by_std(&load_all(sorted, 4, 0).expect("loaded"), 24) == expected, "shuffle {seed}");
    }
    drop((first, others));
    assert_eq!(memory.used(), 0);
}

#[test]
fn an_empty_shuffle_has_empty_partitions() {
    let dir = tempfile::tempdir().expect("a folder");
    let sorted = shuffled(spec(16, 8, Order::Hash, 3), dir.path(), &Memory::new(0), &[], 1).expect("sorted");
    assert_eq!((sorted.partitions(), sorted.rows(), sorted.spilled_bytes()), (3, 0, 0));
    let records = sorted.load(2, 0).expect("loaded");
    assert!(records.is_empty() && records.groups().next().is_none());
}

#[test]
fn a_removed_partition_is_gone_and_the_others_stay() {
    let dir = tempfile::tempdir().expect("a folder");
    for memory in [0, 1 << 20] {
        let memory = Memory::new(memory);
        let records = random_records(9000, 16, 100, 3);
        let order = Order::Range { below: 100 };
        let sorted = shuffled(spec(16, 4, order, 2), dir.path(), &memory, &records, 1).expect("sorted");
        let kept = sorted.load(0, 0).expect("loaded");
        let used = memory.used();
        sorted.remove(0).expect("removed");
        sorted.remove(0).expect("removing twice is no error");
        assert!(memory.used() < used || memory.limit() == 0);
        assert!(sorted.load(0, 0).expect_err("gone").to_string().contains("partition 0 was removed"));
        assert!(sorted.load(2, 0).is_err() && sorted.remove(2).is_err());
        let rest = sorted.load(1, 0).expect("loaded");
        assert!([kept.bytes(), rest.bytes()].concat() == sorted_by_std(&records, 16));
        sorted.remove(1).expect("removed");
        assert_eq!((memory.used(), sorted.rows()), (0, 9000));
    }
}

#[test]
fn misuse_is_an_error_and_loses_nothing_silently() {
    let dir = tempfile::tempdir().expect("a folder");
    let memory = Memory::new(1 << 20);
    let shuffle = Shuffle::new(spec(8, 4, Order::Range { below: 5 }, 2), dir.path(), &memory).expect("made");
    let mut writer = shuffle.writer();
    let message = writer.push(&[0; 9]).expect_err("too wide").to_string();
    assert!(message.starts_with("records of the shuffle \"rows of a test\" must have 8 bytes, got 9;"), "{message}");
    let message = writer.push(&[0, 0, 0, 5, 1, 1, 1, 1]).expect_err("too large").to_string();
    let expected = "a record of the shuffle \"rows of a test\" has number 5, but all numbers must be below 5;";
    assert!(message.starts_with(expected), "{message}");
    writer.push(&[0, 0, 0, 4, 1, 1, 1, 1]).expect("in range");
    drop(writer);
    assert!(shuffle.finish().expect_err("one was lost").to_string().starts_with("1 records"));
    assert_eq!(memory.used(), 0);
}

/// Checks that both ways of loading detect a flipped byte anywhere in a block and a truncated file.
#[test]
fn damage_on_disk_is_found() {
    let dir = tempfile::tempdir().expect("a folder");
    let records = random_records(2000, 16, 1 << 30, 8);
    let sorted = shuffled(spec(16, 4, Order::Hash, 1), dir.path(), &Memory::new(0), &records, 1).expect("sorted");
    let file = sorted.store().file.file().expect("all of it is on disk");
    let is_damaged = || {
        [0, 1 << 20].into_iter().all(|allowance| match sorted.load(0, allowance) {
            Err(Error::Damaged { path, .. }) => path.starts_with(dir.path()),
            _ => false,
        })
    };
    let length = file.metadata().expect("open").len();
    assert!(!is_damaged());
    for at in (0..length).step_by(97).chain([length - 1]) {
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).expect("read");
        file.write_all_at(&[byte[0] ^ 0x10], at).expect("written");
        assert!(is_damaged(), "byte {at}");
        file.write_all_at(&byte, at).expect("written");
    }
    assert!(!is_damaged());
    file.set_len(length - 1).expect("cut");
    assert!(is_damaged());
}

/// Checks that pushing and merging fail with an error message if nothing can be written to disk.
#[test]
fn a_folder_that_takes_no_files_is_an_error() {
    let dir = tempfile::tempdir().expect("a folder");
    let gone = dir.path().join("gone");
    let records = random_records(2000, 16, 1 << 30, 8);
    let message = shuffled(spec(16, 4, Order::Hash, 1), &gone, &Memory::new(0), &records, 1).expect_err("no folder");
    assert!(message.to_string().starts_with("cannot create the temporary file"), "{message}");
    let sorted = shuffled(spec(16, 4, Order::Hash, 1), &gone, &Memory::new(1 << 20), &records, 1).expect("in memory");
    assert!(sorted.load(0, 1 << 20).is_ok());
    assert!(matches!(sorted.load(0, 0), Err(Error::Io { .. })));
}

/// Adds rows in several rounds, with enough memory for all, some, or none of the rows, so that blocks are spilled both between and during
/// rounds. Checks that each row is passed on exactly once, in the round in which it was added, and that all rows are kept.
#[test]
fn fresh_rows_are_those_since_the_last_time() {
    let dir = tempfile::tempdir().unwrap();
    for memory_bytes in [0, 40 * KIB, 300 * KIB, 100 << 20] {
        for width in [9, 24] {
            let memory = Memory::new(memory_bytes);
            let shuffle = Shuffle::new(spec(width, 4, Order::Hash, 5), dir.path(), &memory).unwrap();
            let other = Shuffle::new(spec(width, 4, Order::Hash, 3), dir.path(), &memory).unwrap();
            let mut all = Vec::new();
            for round in 0..7 {
                let rows = random_records([3000, 1, 0, 20_000, 500, 9000, 20][round], width, 1 << 20, round as u64);
                let (mut writer, mut beside) = (shuffle.writer(), other.writer());
                for row in rows.chunks_exact(width) {
                    writer.push(row).unwrap();
                    beside.push(row).unwrap();
                }
                writer.flush().unwrap();
                let mut fresh = Vec::new();
                let mut take = |rows: &[u8]| {
                    assert!(!rows.is_empty() && rows.len().is_multiple_of(width));
                    fresh.extend_from_slice(rows);
                    Ok(())
                };
                shuffle.fresh(&mut take).unwrap();
                assert!(sorted_by_std(&fresh, width) == sorted_by_std(&rows, width), "{memory_bytes} {round}");
                // The rows of the other shuffle cause rows of this shuffle to be spilled.
                beside.flush().unwrap();
                all.extend(rows);
            }
            let loaded = load_all(&shuffle.finish().unwrap(), 4, 1 << 20).unwrap();
            assert!(sorted_by_std(&loaded, width) == sorted_by_std(&all, width));
        }
    }
}
