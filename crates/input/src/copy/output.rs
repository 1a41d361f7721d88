//! Writes a copy to a new file, compressed like the original.

use crate::compressed::packing::Packing;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs;
use flate2::write::GzEncoder;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of bytes written at a time.
const BUFFER_BYTES: usize = 256 << 10;

/// Holds the error that ended a copy early. The error is stored here because the code between the writer and the caller can report only
/// errors in the file being read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<Mutex<Option<Error>>>);

impl Stop {
    /// Records an error that does not concern the input file.
    pub(crate) fn note(&self, error: Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Returns the recorded error, if there is one.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }
}

/// The file to which a copy is written. I/O errors in this file are not reported as errors in the file being read.
pub(crate) struct Output {
    file: File,
    stop: Stop,
    path: Arc<Path>,
}

impl Output {
    /// Creates a new file.
    pub(crate) fn create(path: &Path, stop: &Stop) -> Result<Output> {
        let file = safe_fs::create(path).map_err(Error::io("create", path))?;
        Ok(Output { file, stop: stop.clone(), path: path.into() })
    }

    fn noted<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let kind = error.kind();
            self.stop.note(Error::io("write", &self.path)(error));
            kind.into()
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.file.write(bytes);
        self.noted(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.file.flush();
        self.noted(done)
    }
}

/// A file that is compressed as it is written.
pub(crate) enum Packed {
    Plain(BufWriter<Output>),
    Gzip(Box<GzEncoder<BufWriter<Output>>>),
    Zstd(zstd::Encoder<'static, BufWriter<Output>>),
}

impl Packed {
    /// Begins the file.
    pub(crate) fn new(out: Output, packing: Packing) -> io::Result<Packed> {
        let out = BufWriter::with_capacity(BUFFER_BYTES, out);
        Ok(match packing {
            Packing::Plain => Packed::Plain(out),
            Packing::Gzip => Packed::Gzip(Box::new(GzEncoder::new(out, flate2::Compression::default()))),
            Packing::Zstd => Packed::Zstd(zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL)?),
        })
    }

    /// Writes bytes.
    pub(crate) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Packed::Plain(out) => out.write_all(bytes),
            Packed::Gzip(out) => out.write_all(bytes),
            Packed::Zstd(out) => out.write_all(bytes),
        }
    }

    /// Finishes the file.
    pub(crate) fn end(self) -> io::Result<()> {
        let mut out = match self {
            Packed::Plain(out) => out,
            Packed::Gzip(out) => out.finish()?,
            Packed::Zstd(out) => out.finish()?,
        };
        out.flush()
    }
}
