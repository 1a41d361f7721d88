//! Tests that a saved ledger counts as damaged if its checksum is correct but no run could have written its content. The run starts over,
//! and nothing outside the folder of temporary files is changed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;
use serde_json::value::RawValue;

use crate::kit::{Numbers, assert_same_bytes, names_in};
use crate::resume::{Place, whole};

const OPTIONS: [&str; 4] = ["--algorithms", "exact,minhash", "--limit", "300"];

/// Holds a folder of temporary files with saved parts that a killed run left behind. The tests restore it repeatedly.
struct Left {
    place: Place,
    saved: tempfile::TempDir,
}

impl Left {
    fn new() -> Left {
        let (place, saved) = (Place::new(), tempfile::tempdir().unwrap());
        place.killed_in("group exact", &OPTIONS);
        names_in(&place.work())
            .iter()
            .for_each(|name| _ = fs::copy(place.work().join(name), saved.path().join(name)).unwrap());
        Left { place, saved }
    }

    /// Restores the folder and changes it.
    fn changed(&self, change: impl FnOnce(&Path)) {
        let _ = fs::remove_dir_all(self.place.out());
        let _ = fs::remove_dir_all(self.place.work());
        rustix::fs::mkdir(self.place.work(), rustix::fs::Mode::RWXU).unwrap();
        for name in names_in(self.saved.path()) {
            fs::copy(self.saved.path().join(&name), self.place.work().join(&name)).unwrap();
        }
        change(&self.place.work());
    }

    /// Writes a changed ledger with the correct checksum.
    fn with_ledger(&self, change: impl FnOnce(&mut Value)) {
        self.changed(|work| {
            let signed: Value = serde_json::from_slice(&fs::read(work.join("ledger.json")).unwrap()).unwrap();
            let mut ledger = signed["ledger"].clone();
            change(&mut ledger);
            let text = ledger.to_string();
            let crc = crc32fast::hash(text.as_bytes());
            let raw = RawValue::from_string(text).unwrap();
            fs::write(work.join("ledger.json"), format!("{{\"crc\":{crc},\"ledger\":{}}}", raw.get())).unwrap();
        });
    }
}

/// Returns the first file of the first saved part.
fn first_file(ledger: &mut Value) -> &mut Value {
    let checkpoints = ledger["checkpoints"].as_object_mut().unwrap();
    let checkpoint =
        checkpoints.values_mut().find(|checkpoint| !checkpoint["files"].as_array().unwrap().is_empty()).unwrap();
    &mut checkpoint["files"][0]
}

#[test]
fn a_name_that_leads_out_of_the_work_folder_makes_the_ledger_damaged() {
    let (whole, left) = (whole(&OPTIONS), Left::new());
    // The unchanged ledger is used.
    left.with_ledger(|_| {});
    left.place.run(&OPTIONS).ends_with(0);
    assert!(!left.place.resumed().is_empty());
    let victim = left.place.folder.path().join("victim.txt");
    let absolute = victim.to_string_lossy().into_owned();
    let key = "0123456789abcdef0123456789abcdef";
    let other = format!("{key}-0.saved");
    for name in ["../victim.txt", &absolute, "", ".", "..", "a/../../victim.txt", "lock", "x\0.saved", &other] {
        left.with_ledger(|ledger| first_file(ledger)["name"] = name.into());
        fs::write(&victim, "mine").unwrap();
        let ran =
            left.place.run(&OPTIONS).ends_with(0).says(&["it lists the file", "the run starts from the beginning"]);
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{name:?}\n{}", ran.stderr);
        assert!(left.place.resumed().is_empty(), "{name:?}");
        assert_same_bytes(&whole.out(), &left.place.out(), name);
    }
    // Keys are also parts of file names.
    left.with_ledger(|ledger| {
        let checkpoints = ledger["checkpoints"].as_object_mut().unwrap();
        let mut checkpoint = checkpoints.values().next().unwrap().clone();
        checkpoint["files"] = serde_json::json!([{ "name": "../victim-0.saved", "bytes": 4, "crc": 0 }]);
        checkpoints.insert("../victim".into(), checkpoint);
    });
    left.place.run(&OPTIONS).ends_with(0).says(&["it lists the file", "the run starts from the beginning"]);
    // `--dry-run` reads the same ledger.
    left.with_ledger(|ledger| first_file(ledger)["name"] = "../victim.txt".into());
    let ran = left.place.run(&[&OPTIONS[..], &["--dry-run"]].concat()).ends_with(0);
    assert!(!ran.stdout.contains("taken up"), "{}", ran.stdout);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
}

/// Tests ledgers with the correct checksum but with impossible lengths or other impossible numbers.
#[test]
fn numbers_of_a_ledger_are_not_believed() {
    let (whole, left) = (whole(&OPTIONS), Left::new());
    for bytes in [0, 1, u64::from(u32::MAX), 1 << 62, u64::MAX] {
        left.with_ledger(|ledger| first_file(ledger)["bytes"] = bytes.into());
        left.place.run(&OPTIONS).ends_with(0).says(&[": it has ", "is recomputed"]);
        assert_same_bytes(&whole.out(), &left.place.out(), &format!("{bytes} bytes"));
    }
    // A ledger with a size of a terabyte is not read into memory.
    left.changed(|work| {
        let file = fs::File::options().write(true).open(work.join("ledger.json")).unwrap();
        file.set_len(1 << 40).unwrap();
    });
    left.place.run(&OPTIONS).ends_with(0).says(&["it has 1099511627776 bytes", "the run starts from the beginning"]);
    assert_same_bytes(&whole.out(), &left.place.out(), "a long ledger");
}

/// Checks flipped bits everywhere in the saved files, and files that were replaced with links.
#[test]
fn flipped_bytes_of_checkpoints_are_reported_and_recomputed() {
    let (whole, left) = (whole(&OPTIONS), Left::new());
    let mut numbers = Numbers(5);
    let files =
        names_in(left.saved.path()).into_iter().filter(|name| name.ends_with(".run") || name.ends_with(".saved"));
    let files: Vec<String> = files.collect();
    for round in 0..12 {
        let name = &files[round % files.len()];
        left.changed(|work| {
            let mut bytes = fs::read(work.join(name)).unwrap();
            let at = numbers.below(bytes.len());
            bytes[at] ^= 1 << numbers.below(8);
            fs::write(work.join(name), bytes).unwrap();
        });
        left.place.run(&OPTIONS).ends_with(0).says(&[name, "is recomputed"]);
        assert_same_bytes(&whole.out(), &left.place.out(), name);
    }
    let name = &files[0];
    let elsewhere = left.place.folder.path().join("elsewhere");
    left.changed(|work| {
        fs::rename(work.join(name), &elsewhere).unwrap();
        symlink(&elsewhere, work.join(name)).unwrap();
    });
    left.place.run(&OPTIONS).ends_with(0).says(&[name, "is recomputed"]);
    assert!(elsewhere.is_file());
    assert_same_bytes(&whole.out(), &left.place.out(), "a link");
}
