//! Encodes the data about documents that processes exchange. Numbers are little-endian, and strings are preceded by their lengths.

use dupsift_core::error::{Error, Result};

/// Appends the length of a string, then the string.
pub fn put(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

/// Reads values in the order in which they were appended.
pub struct Bytes<'b>(pub &'b [u8]);

impl<'b> Bytes<'b> {
    /// Reads `count` bytes.
    ///
    /// # Errors
    /// Returns an error if fewer bytes remain.
    pub fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        let short = || Error::Internal("a block of saved data is truncated".into());
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(short)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a 32-bit number.
    ///
    /// # Errors
    /// See [`Bytes::take`].
    pub fn short(&mut self) -> Result<u32> {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(bytes))
    }

    /// Reads a 64-bit number.
    ///
    /// # Errors
    /// See [`Bytes::take`].
    pub fn long(&mut self) -> Result<u64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads the length of a string, then the string.
    ///
    /// # Errors
    /// See [`Bytes::take`].
    pub fn string(&mut self) -> Result<&'b [u8]> {
        let length = self.short()? as usize;
        self.take(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_read_and_a_cut_is_an_error() {
        let mut out = Vec::new();
        put(b"key", &mut out);
        out.extend(7u64.to_le_bytes());
        put(b"", &mut out);
        let mut bytes = Bytes(&out);
        assert_eq!(
            (bytes.string().unwrap(), bytes.long().unwrap(), bytes.string().unwrap()),
            (&b"key"[..], 7, &b""[..])
        );
        assert!(bytes.0.is_empty() && bytes.short().is_err());
        assert!(Bytes(&out[..5]).string().is_err());
    }
}
