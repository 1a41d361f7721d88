//! Damages the saved state of a run: reads arbitrary bytes as a ledger, with and without a correct checksum, and reads changed checkpoint
//! files as every kind of checkpoint file. Checks that nothing panics, that no file name points outside the folder, and that memory is
//! bounded by the file sizes.
#![no_main]

mod edits;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use dupsift_publish::{Ledger, LedgerEntry, LedgerFile};
use dupsift_spill::shuffle::run::{Run, RunWriter};
use dupsift_spill::shuffle::saved_file::{LoadedFile, SavedFile, save_file};
use dupsift_spill::shuffle::{AtomicBits, AtomicCells, FrozenHeap, Mapped, Ranks};
use libfuzzer_sys::fuzz_target;

use edits::edited;

const KEY: &str = "0123456789abcdef0123456789abcdef";

/// Holds a folder of temporary files, its checkpoint files with their bytes, and its ledger.
struct Made {
    dir: PathBuf,
    files: Vec<(SavedFile, Vec<u8>)>,
    ledger: Ledger,
}

fn made() -> &'static Made {
    static MADE: OnceLock<Made> = OnceLock::new();
    MADE.get_or_init(|| {
        let dir = std::env::temp_dir().join(format!("dupsift-fuzz-ledger-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).expect("a folder");
        let name = |at: usize, ending: &str| format!("{KEY}-{at}{ending}");
        let numbers: Vec<u8> = (0..4000).map(|n| (n % 251) as u8).collect();
        let bits = AtomicBits::new(&dir, "bits", 1000).expect("bits");
        (0..1000).step_by(7).for_each(|bit| _ = bits.set(bit));
        let ranks = Ranks::new(&dir, "ranks", &bits).expect("ranks");
        let run = RunWriter::create(&dir, &name(4, ".run"), 16, 8, &[], false).expect("a run");
        let files = vec![
            save_file(&dir, &name(0, ".saved"), &numbers).expect("written"),
            save_file(&dir, &name(1, ".saved"), b"").expect("written"),
            bits.save_file(&dir, &name(2, ".saved")).expect("written"),
            ranks.save_file(&dir, &name(3, ".saved")).expect("written"),
            run.finish().expect("written"),
        ];
        let listed = |file: &SavedFile| LedgerFile { name: file.name.clone(), bytes: file.bytes, crc: file.crc };
        let entry =
            LedgerEntry { name: "rows".into(), files: files.iter().map(listed).collect(), ..LedgerEntry::default() };
        let ledger = Ledger { build: "x".into(), checkpoints: [(KEY.to_owned(), entry)].into(), ..Ledger::default() };
        let files = files.into_iter().map(|file| {
            let bytes = std::fs::read(dir.join(&file.name)).expect("there");
            (file, bytes)
        });
        Made { files: files.collect(), dir, ledger }
    })
}

/// Opens and reads a file as every kind of checkpoint file.
fn load(dir: &Path, file: &SavedFile) {
    if let Ok(product) = LoadedFile::load_file(dir, file) {
        let _ = product.iter().fold(0u8, |all, byte| all ^ byte);
    }
    let _ = Mapped::<u64>::load_file(dir, file);
    let _ = AtomicCells::<u32>::load_file(dir, file);
    let _ = FrozenHeap::load_file(dir, file);
    for bits in [0, 1, 1000, usize::MAX] {
        let _ = AtomicBits::load_file(dir, file, bits);
        // Only bits that exist have a rank.
        let _ = Ranks::load_file(dir, file, bits).map(|ranks| bits.checked_sub(1).map(|last| ranks.rank(last)));
    }
    if let Ok(run) = Run::load_file(dir, file) {
        let _ = run.load(0..usize::MAX, 1 << 20);
    }
}

fn signed(text: &[u8]) -> Vec<u8> {
    let crc = crc32fast::hash(text);
    [format!("{{\"crc\":{crc},\"ledger\":").as_bytes(), text, b"}"].concat()
}

fuzz_target!(|data: &[u8]| {
    let Some((&which, edits)) = data.split_first() else { return };
    let Made { dir, files, ledger } = made();
    let which = usize::from(which) % (files.len() + 3);
    if let Some((file, bytes)) = files.get(which) {
        let other = edited(bytes, edits);
        let path = dir.join(&file.name);
        std::fs::write(&path, &other).expect("written");
        load(dir, file);
        // The file is read again with the length and the checksum of the changed file.
        let says =
            other.len().checked_sub(16).map(|at| u64::from_le_bytes(other[at..at + 8].try_into().expect("8 bytes")));
        let end = says.and_then(|says| other.get(usize::try_from(says).ok()?..));
        let crc = end.map_or(file.crc, crc32fast::hash);
        load(dir, &SavedFile { bytes: other.len() as u64, crc, ..file.clone() });
        std::fs::write(&path, bytes).expect("written");
        return;
    }
    let text = match which - files.len() {
        0 => edits.to_vec(),
        1 => signed(edits),
        _ => signed(&edited(&serde_json::to_vec(ledger).expect("a text"), edits)),
    };
    std::fs::write(dir.join("ledger.json"), text).expect("written");
    let Ok(Some(found)) = Ledger::read(dir) else { return };
    for file in found.checkpoints.values().flat_map(|checkpoint| &checkpoint.files) {
        assert!(found.lists(&file.name) && file.name.starts_with(|letter: char| letter.is_ascii_hexdigit()));
        assert!(!file.name.contains(['/', '\0']) && file.name.len() < 64, "{:?}", file.name);
        load(dir, &SavedFile { name: file.name.clone(), bytes: file.bytes, crc: file.crc });
    }
});
