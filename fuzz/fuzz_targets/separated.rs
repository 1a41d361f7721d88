//! Reads arbitrary bytes as CSV and TSV tables, with and without a valid header before the bytes, uncompressed and compressed with gzip or
//! Zstandard. Checks that nothing panics, and that every pass returns all counted rows, whether a file is read in one piece or in many.
#![no_main]

use std::io::Write as _;

use dupsift_core::encoding::Encoding;
use dupsift::error::Error;
use dupsift_input::{Coding, Columns, Source, Taking, TextFiles, Want, find_all, open};
use libfuzzer_sys::fuzz_target;

const ENCODINGS: [&str; 6] = ["utf-8", "auto", "gbk", "utf-16le", "iso-2022-jp", "windows-1251"];

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
    let folder = std::env::temp_dir().join(format!("dupsift-fuzz-separated-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let headed = [b"id,text,title\n", data].concat();
    let tabbed = [b"id\ttext\ttitle\r\n", data].concat();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(&headed).expect("memory");
    let gz = gz.finish().expect("memory");
    let files: [(&str, &[u8]); 7] = [
        ("a.csv", data),
        ("b.csv", &headed),
        ("c.tsv", data),
        ("d.tsv", &tabbed),
        ("e.csv.gz", &gz),
        ("f.csv.gz", data),
        ("g.tsv.zst", data),
    ];
    for (name, bytes) in files {
        std::fs::write(folder.join(name), bytes).expect("written");
    }
    let encoding = Encoding::parse(ENCODINGS[usize::from(first) % ENCODINGS.len()]).expect("a name");
    let coding = Coding { encoding, window_bytes: 8 << 20, ..Coding::default() };
    let found = find_all(
        &[folder.to_string_lossy().into_owned()],
        Taking { text_files: TextFiles::default(), coding, follow_links: false },
    );
    let columns = Columns { text: "text".into(), id: "id".into(), others: vec!["title".into()], ..Columns::default() };
    let source = match open(found.expect("found"), &columns, 1, None) {
        Ok((source, _)) => source,
        // In some encodings, none of the headers contains the text column.
        Err(Error::Usage { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let want = Want { id: true, others: vec!["title".into()], ..Want::default() };
    let all = rows(&source, &want, usize::MAX);
    assert_eq!(all.len() as u64, source.documents());
    assert!(all.iter().enumerate().all(|(at, row)| row.0 == at as u64));
    for target in [1, 7, 64] {
        assert_eq!(rows(&source, &Want { batch_bytes: 1, ..want.clone() }, target), all);
    }
});
