//! Reads arbitrary bytes as label files: JSON lines, CSV, TSV, Parquet and Arrow, with and without a valid header, uncompressed and
//! compressed with gzip. Checks that nothing panics, that a second pass returns the same rows, and that a row is labeled as a duplicate
//! only if its file has no label column or its label says so.
#![no_main]

use std::io::Write as _;
use std::path::Path;

use dupsift::error::Error;
use dupsift_input::Quoting;
use dupsift_study::{Label, TruthFiles};
use libfuzzer_sys::fuzz_target;

/// The two ids and the label of each row, or the reason why the row cannot be used; and the first error.
type Rows = (Vec<Result<([String; 2], Label), String>>, Option<String>);

/// Returns the rows of a file, or `None` if its columns are not those of labels.
fn rows(path: &Path, quotes: Quoting) -> Option<Rows> {
    let files = match TruthFiles::find(&[path.display().to_string()], quotes) {
        Ok(files) => files,
        Err(Error::Usage { .. } | Error::BadFile { .. }) => return None,
        Err(error) => panic!("{error}"),
    };
    let mut rows = Vec::new();
    let read = files.read(|row, (_, in_file), values| {
        assert_eq!((row, in_file), (rows.len() as u64, rows.len() as u64));
        let values = values.map(|(ids, label)| (ids.map(str::to_owned), label)).map_err(|why| why.to_string());
        rows.push(values);
        Ok(true)
    });
    let error = match read {
        Ok(damaged) => damaged.into_iter().next().map(|(_, why)| why),
        Err(error @ (Error::Usage { .. } | Error::BadFile { .. })) => Some(error.to_string()),
        Err(error) => panic!("{error}"),
    };
    Some((rows, error))
}

fuzz_target!(|data: &[u8]| {
    let Some((&first, data)) = data.split_first() else { return };
    let folder = std::env::temp_dir().join(format!("dupsift-fuzz-labels-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let after = |head: &str| [head.as_bytes(), data].concat();
    let packed = |bytes: &[u8]| {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(bytes).expect("memory");
        gz.finish().expect("memory")
    };
    let line = "{\"id_a\": 1, \"id_b\": \"2\", \"duplicate\": true}\n";
    let files: [(&str, Vec<u8>); 11] = [
        ("a.jsonl", data.to_vec()),
        ("b.jsonl", after(line)),
        ("c.jsonl", after("{\"id\": 1, \"cluster\": 2}\n")),
        ("d.csv", data.to_vec()),
        ("e.csv", after("id_a,id_b,label\n")),
        ("f.tsv", after("label\tid_b\tid_a\r\n")),
        ("g.csv", after("id_a,id_b\n")),
        ("h.csv.gz", packed(&after("id_a,is_duplicate,id_b\n"))),
        ("i.jsonl.gz", packed(&after(line))),
        ("j.parquet", data.to_vec()),
        ("k.arrow", data.to_vec()),
    ];
    let quotes = if first & 1 == 0 { Quoting::Double } else { Quoting::None };
    for (name, bytes) in files {
        let path = folder.join(name);
        std::fs::write(&path, &bytes).expect("written");
        let Some(found) = rows(&path, quotes) else { continue };
        assert_eq!(rows(&path, quotes).as_ref(), Some(&found), "{name}");
        let labels = || found.0.iter().flatten().map(|(_, label)| *label);
        match name {
            // Without a label column, and for clusters, every row is a duplicate.
            "g.csv" => assert!(labels().all(|label| label == Label::Duplicate)),
            "c.jsonl" if !data.windows(4).any(|bytes| bytes == b"id_a") => {
                assert!(labels().all(|label| label == Label::Duplicate));
            }
            // The first row is the valid one.
            "b.jsonl" | "i.jsonl.gz" => {
                let expected = (["1".to_owned(), "2".to_owned()], Label::Duplicate);
                assert!(found.0.first().is_none_or(|row| *row == Ok(expected)), "{name}");
            }
            _ => {}
        }
    }
});
