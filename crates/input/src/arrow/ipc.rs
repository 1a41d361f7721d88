//! Reads the Arrow IPC format, which consists of messages: a schema, dictionaries and batches. A file (including `.feather`) has a magic
//! number at both ends, and a footer that lists the positions of the messages. The messages may be in any order. A stream is a sequence of
//! messages.
//!
//! A batch is read completely, including columns that are not needed, so each read holds an entire batch in memory. Reading a file can
//! begin at any batch. Reading a stream can begin at any batch only if all dictionaries precede the first batch.

use crate::compressed::rest::Lost;
use crate::format::known::Shown;
use crate::format::open::Piece;
use arrow::array::RecordBatch;
use arrow::buffer::{Buffer, MutableBuffer};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow::ipc::convert::try_fb_to_schema;
use arrow::ipc::reader::{FileDecoder, read_footer_length};
use arrow::ipc::{Block, CompressionType, Endianness, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use dupsift_core::guard;
use dupsift_tables::nested::lists::is_texts;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

/// The magic number at both ends of a file; a stream has no magic number.
const SIGN: &[u8] = b"ARROW1";
/// The first message of a file begins before this position, in bytes.
const MOST_SIGN_BYTES: u64 = 72;
/// The number of bytes after the footer: the length of the footer and the magic number.
const END_BYTES: usize = 10;
/// The marker that precedes the length of a message.
const CONTINUES: [u8; 4] = [0xFF; 4];
/// The message for values with the most significant byte first, which no current machine writes.
const BIG_ENDIAN: &str = "its values are big-endian, which is not supported; write it again on a little-endian machine";
/// The maximum size of a message description in bytes. A longer description is treated as damage.
const MAX_DESCRIPTION: u64 = 256 << 20;
/// A buffer whose unpacked size is at most this many bytes is always accepted.
const SMALL_BUFFER: u64 = 128 << 10;
/// The maximum number of bytes before the first batch of a stream that is split into pieces. Each read parses these bytes, including any
/// dictionaries, again.
const MAX_HEAD: u64 = 1 << 20;

/// The positions of the messages in a file.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub schema: Option<Schema>,
    /// The messages after the schema, in the order in which they are read.
    messages: Vec<Message>,
    /// One piece per batch, identified by the number of the batch in a file or by its position in a stream. There is a single piece if a
    /// dictionary follows the first batch of a stream, or if more than `MAX_HEAD` bytes precede that batch.
    pub pieces: Vec<Piece>,
    /// The damage after the last piece, if a stream is truncated or damaged after its first batch.
    pub lost: Option<Lost>,
}

/// The position of a message.
#[derive(Clone, Copy, Debug)]
struct Message {
    is_dictionary: bool,
    /// The [`Piece::start`] of the piece that contains the message; `None` for a dictionary.
    piece: Option<u64>,
    at: u64,
    /// The number of bytes in the description, including the preceding length field, and the number of bytes in the body.
    description: u64,
    body: u64,
    /// The unpacked size of the body in bytes, if the body is compressed.
    unpacked: u64,
}

impl Message {
    fn of(header: &Header, at: u64, piece: Option<u64>) -> Message {
        let is_dictionary = header.kind == MessageHeader::DictionaryBatch;
        let (description, body, unpacked) = (header.body - at, header.bytes, header.unpacked);
        Message { is_dictionary, piece, at, description, body, unpacked }
    }
}

/// A message without its body.
struct Header {
    kind: MessageHeader,
    schema: Option<Schema>,
    rows: u64,
    /// The position where the body begins, and its length in bytes.
    body: u64,
    bytes: u64,
    /// The unpacked size of the body in bytes, if the body is compressed.
    unpacked: u64,
}

impl Header {
    /// Returns the batch as a piece.
    fn piece(&self, start: u64) -> Piece {
        Piece { start, rows: self.rows, bytes: self.bytes.max(self.unpacked), held: self.held() }
    }

    /// Returns the sum of the packed and unpacked sizes of the message body, in bytes.
    fn held(&self) -> u64 {
        self.bytes.saturating_add(self.unpacked)
    }
}

impl Layout {
    /// Reads the positions of the messages in a file.
    ///
    /// # Errors
    /// Returns the reason why the file cannot be read.
    pub(crate) fn of(file: &File) -> Result<Layout, String> {
        let size = file.metadata().map_err(|error| error.to_string())?.len();
        let whole = |why: String| match why == BIG_ENDIAN {
            true => why,
            false => format!("not a complete Arrow file ({size} bytes): {why}"),
        };
        let begins = bytes_at(file, 0, SIGN.len().min(usize::try_from(size).unwrap_or(usize::MAX)))?;
        let guarded = |of: &dyn Fn() -> Result<Layout, String>| match guard::guarded(of) {
            Ok(layout) => layout,
            Err(said) => Err(format!("the decoder failed ({said})")),
        };
        if begins != SIGN {
            return guarded(&|| Layout::of_stream(file, size, 0)).map_err(whole);
        }
        let by_footer = guarded(&|| Layout::of_file(file, size));
        by_footer.or_else(|why| guarded(&|| Layout::without_footer(file, size, &why)).map_err(|_| whole(why)))
    }

    /// Reads the messages of a file as a stream because the footer is unusable.
    fn without_footer(file: &File, size: u64, why: &str) -> Result<Layout, String> {
        // Some writers pad to 8 bytes, others to 64 bytes.
        let begins = bytes_at(file, 0, MOST_SIGN_BYTES.min(size) as usize)?;
        let message = begins.chunks(8).skip(1).position(|bytes| bytes.iter().any(|byte| *byte != 0));
        let from = 8 + 8 * message.ok_or("there is no message")? as u64;
        let mut layout = Layout::of_stream(file, size, from)?;
        if layout.pieces.is_empty() {
            return Err("there is no batch".to_owned());
        }
        let read = layout.messages.iter().map(|message| message.at + message.description + message.body).max();
        let bytes = layout.lost.as_ref().map_or(size - read.unwrap_or(0).min(size), |lost| lost.bytes);
        let why = format!("the Arrow file is truncated or damaged: {why}; the complete batches are used");
        layout.lost = Some(Lost { why, bytes });
        Ok(layout)
    }

    /// Reads the layout from the footer.
    fn of_file(file: &File, size: u64) -> Result<Layout, String> {
        let end = size.checked_sub(END_BYTES as u64).ok_or("it has no footer")?;
        let tail: [u8; END_BYTES] = bytes_at(file, end, END_BYTES)?.try_into().map_err(|_| "it has no footer")?;
        let length = read_footer_length(tail).map_err(|error| error.to_string())? as u64;
        let start = end.checked_sub(length).ok_or("its footer is longer than the file")?;
        let footer = bytes_at(file, start, (end - start) as usize)?;
        let footer = root_as_footer(&footer).map_err(|error| format!("its footer: {error}"))?;
        let schema = footer.schema().ok_or("it has no schema")?;
        let schema = schema_of(schema)?;
        let mut layout = Layout { schema: Some(schema), ..Layout::default() };
        let at = |block: &Block| {
            let lengths = u64::try_from(block.metaDataLength()).ok().zip(u64::try_from(block.bodyLength()).ok());
            let all = lengths.and_then(|(description, body)| description.checked_add(body));
            let offset = u64::try_from(block.offset()).ok();
            let fits = |(at, all): &(u64, u64)| at.checked_add(*all).is_some_and(|end| end <= size);
            offset
                .zip(all)
                .filter(fits)
                .map(|(at, _)| at)
                .ok_or("its footer refers to bytes beyond the end of the file")
        };
        let mut dictionaries = 0;
        for block in footer.dictionaries().iter().flatten() {
            let at = at(block)?;
            let header = header(file, at, size)?.filter(|header| header.kind == MessageHeader::DictionaryBatch);
            let header = header.ok_or("a dictionary is missing")?;
            layout.messages.push(Message::of(&header, at, None));
            dictionaries = header.held().saturating_add(dictionaries);
        }
        for (number, block) in footer.recordBatches().iter().flatten().enumerate() {
            let (at, number) = (at(block)?, number as u64);
            let header = header(file, at, size)?.filter(|header| header.kind == MessageHeader::RecordBatch);
            let header = header.ok_or("a batch is missing")?;
            layout.messages.push(Message::of(&header, at, Some(number)));
            layout.pieces.push(header.piece(number));
        }
        layout.pieces.iter_mut().for_each(|piece| piece.held = piece.held.saturating_add(dictionaries));
        Ok(layout)
    }

    /// Reads the layout from consecutive messages that start at byte `from`.
    fn of_stream(file: &File, size: u64, from: u64) -> Result<Layout, String> {
        let mut layout = Layout::default();
        let (mut at, mut late, mut dictionaries, mut head) = (from, false, 0, 0);
        loop {
            let header = match header(file, at, size) {
                Ok(Some(header)) => header,
                Ok(None) => break,
                Err(why) if !layout.pieces.is_empty() => {
                    let why = format!("the stream is truncated or damaged: {why}; the rows before it are used");
                    layout.lost = Some(Lost { why, bytes: size - at });
                    break;
                }
                Err(why) => return Err(why),
            };
            let (from, end) = (at, header.body + header.bytes);
            at = end;
            match header.kind {
                MessageHeader::Schema if layout.schema.is_none() => layout.schema = header.schema,
                MessageHeader::DictionaryBatch => {
                    late |= !layout.pieces.is_empty();
                    layout.messages.push(Message::of(&header, from, None));
                    dictionaries = header.held().saturating_add(dictionaries);
                }
                MessageHeader::RecordBatch => {
                    layout.messages.push(Message::of(&header, from, Some(from)));
                    layout.pieces.push(header.piece(from));
                }
                other => return Err(format!("unexpected message type {other:?}")),
            }
            if layout.pieces.is_empty() {
                head = end;
            }
        }
        if layout.schema.is_none() {
            return Err("it has no schema".to_owned());
        }
        layout.pieces.iter_mut().for_each(|piece| piece.held = piece.held.saturating_add(dictionaries));
        if late || head > MAX_HEAD {
            layout.messages.iter_mut().for_each(|message| message.piece = message.piece.map(|_| 0));
            let sum = |of: fn(&Piece) -> u64| layout.pieces.iter().map(of).fold(0, u64::saturating_add);
            let held = layout.pieces.iter().map(|piece| piece.held).max().unwrap_or(0);
            layout.pieces =
                vec![Piece { start: 0, rows: sum(|piece| piece.rows), bytes: sum(|piece| piece.bytes), held }];
        }
        Ok(layout)
    }

    /// Returns the columns of the file.
    pub(crate) fn shown(&self) -> Vec<Shown> {
        let fields = self.schema.iter().flat_map(|schema| schema.fields().iter());
        let shown = fields.map(|field| Shown {
            name: field.name().clone(),
            data_type: plain(field.data_type()),
            says: field.data_type().to_string(),
            is_texts: is_texts(field.data_type()),
        });
        shown.collect()
    }
}

/// Returns the type to which a column is converted; `None` for nested columns.
fn plain(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Utf8 | DataType::LargeUtf8 => DataType::Utf8View,
        DataType::Binary | DataType::LargeBinary => DataType::BinaryView,
        DataType::RunEndEncoded(..) | DataType::Union(..) => return None,
        nested if nested.is_nested() => return None,
        other => other.clone(),
    })
}

fn bytes_at(mut file: &File, at: u64, length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = vec![0; length];
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
    read.map(|()| bytes).map_err(|error| error.to_string())
}

/// Returns the message that begins at byte `at`, or `None` after the last message.
fn header(file: &File, at: u64, size: u64) -> Result<Option<Header>, String> {
    // A stream may end without an end marker.
    if at == size {
        return Ok(None);
    }
    let mut place = at;
    let mut next = || {
        place += 4;
        bytes_at(file, place - 4, 4)?.try_into().map_err(|_| "4 bytes are missing".to_owned())
    };
    let first: [u8; 4] = next()?;
    let length = u32::from_le_bytes(if first == CONTINUES { next()? } else { first });
    if length == 0 {
        return Ok(None);
    }
    let body = place + u64::from(length);
    if u64::from(length) > MAX_DESCRIPTION || body > size {
        return Err(format!("a message of {length} bytes at byte {at} extends past the end of the file"));
    }
    let description = bytes_at(file, place, length as usize)?;
    let message = root_as_message(&description).map_err(|error| format!("the message at byte {at}: {error}"))?;
    let bytes = u64::try_from(message.bodyLength()).ok().filter(|bytes| *bytes <= size - body);
    let bytes = bytes.ok_or_else(|| format!("the message at byte {at} extends past the end of the file"))?;
    let mut header = Header { kind: message.header_type(), schema: None, rows: 0, body, bytes, unpacked: 0 };
    if let Some(schema) = message.header_as_schema() {
        header.schema = Some(schema_of(schema)?);
    }
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    if let Some(batch) = message.header_as_record_batch().or(dictionary) {
        header.rows = u64::try_from(batch.length())
            .map_err(|_| format!("the batch at byte {at} has a negative number of rows"))?;
        if let Some(compression) = batch.compression() {
            // One byte of a Zstandard block may expand to an entire block, and one byte of LZ4 may expand to 255 bytes.
            let most = if compression.codec() == CompressionType::LZ4_FRAME { 256 } else { 1 << 15 };
            for buffer in batch.buffers().iter().flatten().filter(|buffer| buffer.length() >= 8) {
                let becomes = unpacked(file, body, bytes, buffer.offset())?;
                let length = buffer.length() as u64;
                if becomes > length.saturating_mul(most).saturating_add(SMALL_BUFFER) {
                    return Err(format!(
                        "a buffer of {length} bytes at byte {at} cannot decompress to {becomes} bytes"
                    ));
                }
                header.unpacked = header.unpacked.saturating_add(becomes);
            }
        }
    }
    Ok(Some(header))
}

fn schema_of(schema: arrow::ipc::Schema<'_>) -> Result<Schema, String> {
    if schema.endianness() != Endianness::Little {
        return Err(BIG_ENDIAN.to_owned());
    }
    try_fb_to_schema(schema).map_err(|error| error.to_string())
}

/// Returns the unpacked size that is stored in a compressed buffer.
fn unpacked(file: &File, body: u64, bytes: u64, offset: i64) -> Result<u64, String> {
    let offset = u64::try_from(offset).ok().filter(|offset| offset.saturating_add(8) <= bytes);
    let at = body + offset.ok_or_else(|| "a buffer lies outside its batch".to_owned())?;
    let length = bytes_at(file, at, 8)?.try_into().map(i64::from_le_bytes);
    // A length of -1 means that the buffer is not compressed.
    Ok(length.ok().and_then(|length| u64::try_from(length).ok()).unwrap_or(0))
}

/// Calls `each` with the batches of a part in order. The batches contain only `columns`. Strings are passed as bytes because the caller
/// checks each value.
///
/// # Errors
/// Returns a problem with the file, converted by `bad`, or the error from `each`.
pub(super) fn batches<E>(
    file: File,
    layout: &Layout,
    (from, to): (u64, u64),
    columns: Vec<usize>,
    bad: &dyn Fn(String) -> E,
    each: &mut dyn FnMut(RecordBatch) -> Result<(), E>,
) -> Result<(), E> {
    let Some(schema) = &layout.schema else { return Ok(()) };
    // Each message contains its own version.
    let mut decoder = FileDecoder::new(Arc::new(of_bytes(schema)), MetadataVersion::V1).with_projection(columns);
    for message in &layout.messages {
        if message.piece.is_some_and(|piece| !(from..to).contains(&piece)) {
            continue;
        }
        let bytes = whole(&file, message).map_err(bad)?;
        let lengths = i32::try_from(message.description).ok().zip(i64::try_from(message.body).ok());
        let (description, body) = lengths.ok_or_else(|| bad("a message is too long".to_owned()))?;
        let block = Block::new(0, description, body);
        // The decoder aborts the process if memory for unpacking cannot be allocated.
        room_for(message.unpacked).map_err(bad)?;
        if message.is_dictionary {
            guarded(|| decoder.read_dictionary(&block, &bytes)).map_err(bad)?;
            continue;
        }
        let batch = guarded(|| decoder.read_record_batch(&block, &bytes)).map_err(bad)?;
        each(batch.ok_or_else(|| bad("a batch no longer exists".to_owned()))?)?;
    }
    Ok(())
}

/// Checks that `bytes` bytes of memory can be allocated.
fn room_for(bytes: u64) -> Result<(), String> {
    let there = usize::try_from(bytes).ok().is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if there { Ok(()) } else { Err(format!("not enough memory for a batch that decompresses to {bytes} bytes")) }
}

/// Returns the bytes of a message.
fn whole(mut file: &File, message: &Message) -> Result<Buffer, String> {
    let length = usize::try_from(message.description + message.body).map_err(|error| error.to_string())?;
    let mut bytes = MutableBuffer::from_len_zeroed(length);
    let read = file.seek(SeekFrom::Start(message.at)).and_then(|_| file.read_exact(bytes.as_slice_mut()));
    read.map(|()| bytes.into()).map_err(|error| error.to_string())
}

/// Returns the schema with strings replaced by bytes, which have the same layout. If it decoded strings, the decoder would check them and
/// reject an entire batch because of a single invalid value.
fn of_bytes(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_data_type(as_bytes(field.data_type())));
    Schema::new(fields.collect::<Vec<Field>>())
}

fn as_bytes(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8 => DataType::Binary,
        DataType::LargeUtf8 => DataType::LargeBinary,
        DataType::Utf8View => DataType::BinaryView,
        DataType::Dictionary(keys, values) => DataType::Dictionary(keys.clone(), Box::new(as_bytes(values))),
        DataType::List(item) => DataType::List(field_of_bytes(item)),
        DataType::LargeList(item) => DataType::LargeList(field_of_bytes(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(field_of_bytes(item), *length),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|field| field_of_bytes(field)).collect()),
        other => other.clone(),
    }
}

fn field_of_bytes(field: &Field) -> Arc<Field> {
    Arc::new(field.clone().with_data_type(as_bytes(field.data_type())))
}

/// Returns whether a column contains strings, including dictionaries of strings.
pub(super) fn is_string(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_string(values),
        _ => false,
    }
}

/// Calls the decoder, and converts errors and panics into a message.
fn guarded<T>(call: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, String> {
    match guard::guarded(call) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(format!("the Arrow file is damaged: {error}")),
        Err(said) => Err(format!("the decoder failed ({said})")),
    }
}

#[cfg(test)]
#[path = "ipc_tests.rs"]
mod tests;
