//! Reads arbitrary bytes as JSON lines, as the items of a JSON array, and as files that contain one document each, in any encoding,
//! uncompressed and compressed with gzip or Zstandard. Checks that nothing panics, and that every pass returns all counted rows, whether a
//! file is read in one piece or in many.
#![no_main]

use std::io::Write as _;

use dupsift_core::encoding::Encoding;
use dupsift_input::{Coding, Columns, Source, Taking, TextFiles, Want, find_all, open};
use libfuzzer_sys::fuzz_target;

const ENCODINGS: [&str; 8] = ["utf-8", "auto", "gbk", "gb18030", "big5", "utf-16le", "iso-2022-jp", "windows-1251"];

type Row = (u64, Result<Option<Vec<u8>>, String>, Option<String>);

fn rows(source: &Source, want: &Want, target: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    for split in source.splits(target) {
        let read = source.read(&split, want, &mut |documents| {
            for row in 0..documents.len() {
                let text = documents.page(row).map(|text| text.map(<[u8]>::to_vec)).map_err(ToString::to_string);
                rows.push((documents.doc(row), text, documents.id(row).map(|id| id.to_string())));
            }
            Ok(())
        });
        read.expect("a file that did not change");
    }
    rows
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, data)) = data.split_first() else { return };
    let folder = std::env::temp_dir().join(format!("dupsift-fuzz-lines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(data).expect("memory");
    let gz = gz.finish().expect("memory");
    let behind = [gz.as_slice(), data].concat();
    let array = [b"[", data, b"]"].concat();
    let files: [(&str, &[u8]); 10] = [
        ("a.jsonl", data),
        ("b.jsonl.gz", data),
        ("c.json.gz", &gz),
        ("d.jsonl.gz", &behind),
        ("e.ndjson.zst", data),
        ("f.txt", data),
        ("g.txt.gz", &gz),
        ("h.html", data),
        ("i.txt.zst", data),
        ("j.json", &array),
    ];
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).expect("written");
    }
    let encoding = Encoding::parse(ENCODINGS[usize::from(first) % ENCODINGS.len()]).expect("a name");
    let coding = Coding { encoding, window_bytes: 8 << 20, ..Coding::default() };
    let found = find_all(
        &[folder.to_string_lossy().into_owned()],
        Taking { text_files: TextFiles::Whole, coding, follow_links: false },
    );
    let columns = Columns { text: "text".into(), id: "id".into(), others: vec!["title".into()], ..Columns::default() };
    let (source, _) = open(found.expect("found"), &columns, 1, None).expect("opened");
    let want = Want { id: true, others: vec!["title".into()], ..Want::default() };
    let all = rows(&source, &want, usize::MAX);
    assert_eq!(all.len() as u64, source.documents());
    assert!(all.iter().enumerate().all(|(at, row)| row.0 == at as u64));
    assert_eq!(rows(&source, &Want { batch_bytes: 1, ..want }, 1), all);
});
