//! Reads the headers of Zstandard frames, including skippable frames, dictionaries and window sizes.

use crate::compressed::input::Input;
use std::io::{self, Read as _};

/// The magic number of a frame.
pub(super) const ZST: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
/// The first of the sixteen magic numbers for skippable frames.
const SKIPPABLE: u32 = 0x184D_2A50;
/// The magic number of the skippable frame that begins a `.warc.zst` file and contains the dictionary for all frames.
const DICTIONARY: u32 = 0x184D_2A5D;
/// The maximum size of a dictionary in bytes: 64 MiB.
const MAX_DICTIONARY: u64 = 64 << 20;

/// Returns the binary logarithm of the size of the largest Zstandard window that fits in this many bytes.
pub(super) fn window_log(bytes: u64) -> u32 {
    bytes.max(1).ilog2().clamp(10, 31)
}

/// Returns the error for a window that a decoder refused; `None` for any other error.
pub(super) fn too_large(error: &io::Error, bytes: u64) -> Option<io::Error> {
    let refused = error.to_string().contains("too much memory");
    refused.then(|| {
        let bound = bytesize::ByteSize(1 << window_log(bytes)).display().iec().to_string();
        io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "its Zstandard window is larger than {bound}, the bound by memory and threads; raise `memory`, lower \
                 `threads`, or compress it with a smaller window (zstd without --long and --ultra)"
            ),
        )
    })
}

/// Returns the length of a skippable frame including its header; `None` for any other frame.
pub(super) fn skippable(bytes: &[u8]) -> Option<u64> {
    let &[a, b, c, d, e, f, g, h, ..] = bytes else { return None };
    let skipped = u32::from_le_bytes([a, b, c, d]) & !0xF == SKIPPABLE;
    skipped.then(|| 8 + u64::from(u32::from_le_bytes([e, f, g, h])))
}

/// Returns the dictionary at the beginning of the file, decompressed if necessary; empty if the file has no
/// dictionary.
pub(super) fn dictionary(input: &mut Input) -> io::Result<Vec<u8>> {
    let head = input.peek::<8>()?;
    let &[a, b, c, d, e, f, g, h] = head.as_slice() else { return Ok(Vec::new()) };
    if u32::from_le_bytes([a, b, c, d]) != DICTIONARY {
        return Ok(Vec::new());
    }
    let length = u64::from(u32::from_le_bytes([e, f, g, h]));
    let refused = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    if length > MAX_DICTIONARY {
        return Err(refused(format!("a dictionary of {length} bytes; at most {MAX_DICTIONARY} can be used")));
    }
    input.skip(8)?;
    let stored = input.take(length)?;
    if (stored.len() as u64) < length {
        return Err(refused("the file ends within the dictionary".to_owned()));
    }
    if !stored.starts_with(ZST) {
        return Ok(stored);
    }
    let mut dictionary = Vec::new();
    zstd::Decoder::new(stored.as_slice())?.take(MAX_DICTIONARY + 1).read_to_end(&mut dictionary)?;
    if dictionary.len() as u64 > MAX_DICTIONARY {
        return Err(refused(format!("a dictionary of more than {MAX_DICTIONARY} bytes")));
    }
    Ok(dictionary)
}
