//! Reads arbitrary bytes as a web archive, uncompressed and compressed with gzip or Zstandard. Checks that nothing panics, and that every
//! pass returns all counted rows, whether a file is read in one piece or in many.
#![no_main]

use std::io::Write as _;

use dupsift_input::{Columns, Source, Want, find, open};
use libfuzzer_sys::fuzz_target;

fn rows(source: &Source, want: &Want, target: usize) -> Vec<(u64, Result<Option<Vec<u8>>, String>)> {
    let mut rows = Vec::new();
    for split in source.splits(target) {
        let read = source.read(&split, want, &mut |documents| {
            for row in 0..documents.len() {
                let page = documents.page(row).map(|page| page.map(<[u8]>::to_vec)).map_err(ToString::to_string);
                rows.push((documents.doc(row), page));
            }
            Ok(())
        });
        read.expect("a file that did not change");
    }
    rows
}

fuzz_target!(|data: &[u8]| {
    let folder = std::env::temp_dir().join(format!("dupsift-fuzz-warc-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(data).expect("memory");
    let gz = gz.finish().expect("memory");
    for (name, bytes) in [("a.warc", data), ("b.warc.gz", data), ("c.warc.gz", &gz), ("d.warc.zst", data)] {
        std::fs::write(folder.join(name), bytes).expect("written");
    }
    let columns = Columns { text: "text".into(), html: true, id: "id".into(), ..Columns::default() };
    let found = find(&[folder.to_string_lossy().into_owned()]).expect("found");
    let (source, _) = open(found, &columns, 1, None).expect("opened");
    let all = rows(&source, &Want::default(), usize::MAX);
    assert_eq!(all.len() as u64, source.documents());
    assert!(all.iter().enumerate().all(|(at, row)| row.0 == at as u64));
    assert_eq!(rows(&source, &Want { batch_bytes: 1, ..Want::default() }, 1), all);
});
