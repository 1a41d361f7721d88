//! Edits files, for the fuzz targets that damage the program's files.

/// Changes single bytes or truncates the file, at positions given by `edits`.
pub fn edited(bytes: &[u8], edits: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for edit in edits.chunks(4) {
        let at = edit.iter().take(3).fold(0, |at, &byte| at << 8 | usize::from(byte));
        match (edit, bytes.len()) {
            (_, 0) => {}
            ([.., value], length) if edit.len() == 4 => bytes[at % length] = *value,
            (_, length) => bytes.truncate(at % length),
        }
    }
    bytes
}
