//! Arrow IPC: messages, which are a schema, dictionaries and batches. A file (`.feather` too) has a sign at either end and a footer that
//! says where they stand, and only that: what lies before it need not be in order. A stream is the messages one after the other.
//!
//! A batch is read as a whole, its other columns too, so it is what a reading holds in memory. A reading can begin at any batch of a
//! file, and of a stream where all dictionaries stand before the first one.

use super::format::Piece;
use super::rest::Lost;
use super::schema::Shown;
use crate::tables::lists::is_texts;
use arrow::array::RecordBatch;
use arrow::buffer::{Buffer, MutableBuffer};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow::ipc::convert::try_fb_to_schema;
use arrow::ipc::reader::{FileDecoder, read_footer_length};
use arrow::ipc::{Block, CompressionType, MessageHeader, MetadataVersion, root_as_footer, root_as_message};
use dupsift_core::guard;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

/// What a file begins and ends with; a stream does not.
const SIGN: &[u8] = b"ARROW1";
/// The first message begins before this byte.
const MOST_SIGN_BYTES: u64 = 72;
/// The sign at the end of a file, and the length of its footer before that.
const END_BYTES: usize = 10;
/// Stands before the length of a message.
const CONTINUES: [u8; 4] = [0xFF; 4];
/// The longest description of a message that is read; what is longer is damage.
const MAX_DESCRIPTION: u64 = 256 << 20;
/// Buffers that unpack to no more than this are not checked.
const SMALL_BUFFER: u64 = 128 << 10;
/// The longest beginning, with the dictionaries, that each reading goes over again.
const MAX_HEAD: u64 = 1 << 20;

/// What stands where in a file.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub schema: Option<Schema>,
    /// The messages behind the schema, in the order in which they are read.
    messages: Vec<Message>,
    /// A batch each, of a file by its number, of a stream by its first byte; all of them together where dictionaries come late.
    pub pieces: Vec<Piece>,
    /// What stands behind them, where a stream is cut off or damaged behind its first batch.
    pub lost: Option<Lost>,
}

/// Where a message stands.
#[derive(Clone, Copy, Debug)]
struct Message {
    is_dictionary: bool,
    /// The piece that it is, or belongs to, by [`Piece::start`]; of a dictionary before all batches nothing.
    piece: Option<u64>,
    at: u64,
    /// Bytes of its description, with the length before that, and of its body.
    description: u64,
    body: u64,
    /// Bytes of its body unpacked, where it is packed.
    unpacked: u64,
}

impl Message {
    fn of(header: &Header, at: u64, piece: Option<u64>) -> Message {
        let is_dictionary = header.kind == MessageHeader::DictionaryBatch;
        let (description, body, unpacked) = (header.body - at, header.bytes, header.unpacked);
        Message { is_dictionary, piece, at, description, body, unpacked }
    }
}

/// A message, without its body.
struct Header {
    kind: MessageHeader,
    schema: Option<Schema>,
    rows: u64,
    /// Where its body begins, and how long it is.
    body: u64,
    bytes: u64,
    /// Its bytes unpacked, where they are packed.
    unpacked: u64,
}

impl Header {
    /// The batch.
    fn piece(&self, start: u64) -> Piece {
        Piece { start, rows: self.rows, bytes: self.bytes.max(self.unpacked), held: self.held() }
    }

    /// Returns the bytes of its body, packed and unpacked.
    fn held(&self) -> u64 {
        self.bytes.saturating_add(self.unpacked)
    }
}

impl Layout {
    /// Goes over the messages of a file.
    ///
    /// # Errors
    /// Why it cannot be read.
    pub fn of(file: &File) -> Result<Layout, String> {
        let size = file.metadata().map_err(|error| error.to_string())?.len();
        let whole = |why: String| format!("not a whole Arrow file ({size} bytes): {why}");
        let begins = bytes_at(file, 0, SIGN.len().min(usize::try_from(size).unwrap_or(usize::MAX)))?;
        let guarded = |of: &dyn Fn() -> Result<Layout, String>| match guard::guarded(of) {
            Ok(layout) => layout,
            Err(said) => Err(format!("the decoder gave up on it ({said})")),
        };
        if begins != SIGN {
            return guarded(&|| Layout::of_stream(file, size, 0)).map_err(whole);
        }
        let by_footer = guarded(&|| Layout::of_file(file, size));
        by_footer.or_else(|why| guarded(&|| Layout::without_footer(file, size, &why)).map_err(|_| whole(why)))
    }

    /// Reads the messages of a file whose footer cannot be used; they have the form of a stream.
    fn without_footer(file: &File, size: u64, why: &str) -> Result<Layout, String> {
        // Some writers fill up the first 8 bytes, others the first 64.
        let begins = bytes_at(file, 0, MOST_SIGN_BYTES.min(size) as usize)?;
        let message = begins.chunks(8).skip(1).position(|bytes| bytes.iter().any(|byte| *byte != 0));
        let from = 8 + 8 * message.ok_or("there is no message")? as u64;
        let mut layout = Layout::of_stream(file, size, from)?;
        if layout.pieces.is_empty() {
            return Err("there is no batch".to_owned());
        }
        let read = layout.messages.iter().map(|message| message.at + message.description + message.body).max();
        let bytes = layout.lost.as_ref().map_or(size - read.unwrap_or(0).min(size), |lost| lost.bytes);
        let why = format!("the Arrow file is cut off or damaged: {why}; the batches that are whole take part");
        layout.lost = Some(Lost { why, bytes });
        Ok(layout)
    }

    /// By the footer.
    fn of_file(file: &File, size: u64) -> Result<Layout, String> {
        let end = size.checked_sub(END_BYTES as u64).ok_or("it has no footer")?;
        let tail: [u8; END_BYTES] = bytes_at(file, end, END_BYTES)?.try_into().map_err(|_| "it has no footer")?;
        let length = read_footer_length(tail).map_err(|error| error.to_string())? as u64;
        let start = end.checked_sub(length).ok_or("its footer is longer than it")?;
        let footer = bytes_at(file, start, (end - start) as usize)?;
        let footer = root_as_footer(&footer).map_err(|error| format!("its footer: {error}"))?;
        let schema = footer.schema().ok_or("there is no schema")?;
        let schema = try_fb_to_schema(schema).map_err(|error| error.to_string())?;
        let mut layout = Layout { schema: Some(schema), ..Layout::default() };
        let at = |block: &Block| {
            let lengths = u64::try_from(block.metaDataLength()).ok().zip(u64::try_from(block.bodyLength()).ok());
            let all = lengths.and_then(|(description, body)| description.checked_add(body));
            let offset = u64::try_from(block.offset()).ok();
            let fits = |(at, all): &(u64, u64)| at.checked_add(*all).is_some_and(|end| end <= size);
            offset.zip(all).filter(fits).map(|(at, _)| at).ok_or("its footer names what lies beyond its end")
        };
        let mut dictionaries = 0;
        for block in footer.dictionaries().iter().flatten() {
            let at = at(block)?;
            let header = header(file, at, size)?.filter(|header| header.kind == MessageHeader::DictionaryBatch);
            let header = header.ok_or("a dictionary is not there")?;
            layout.messages.push(Message::of(&header, at, None));
            dictionaries = header.held().saturating_add(dictionaries);
        }
        for (number, block) in footer.recordBatches().iter().flatten().enumerate() {
            let (at, number) = (at(block)?, number as u64);
            let header = header(file, at, size)?.filter(|header| header.kind == MessageHeader::RecordBatch);
            let header = header.ok_or("a batch is not there")?;
            layout.messages.push(Message::of(&header, at, Some(number)));
            layout.pieces.push(header.piece(number));
        }
        layout.pieces.iter_mut().for_each(|piece| piece.held = piece.held.saturating_add(dictionaries));
        Ok(layout)
    }

    /// By the messages in their order, from that byte on.
    fn of_stream(file: &File, size: u64, from: u64) -> Result<Layout, String> {
        let mut layout = Layout::default();
        let (mut at, mut late, mut dictionaries, mut head) = (from, false, 0, 0);
        loop {
            let header = match header(file, at, size) {
                Ok(Some(header)) => header,
                Ok(None) => break,
                Err(why) if !layout.pieces.is_empty() => {
                    let why = format!("the stream is cut off or damaged: {why}; the rows before that take part");
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
                other => return Err(format!("a message of a kind that has no place there ({other:?})")),
            }
            if layout.pieces.is_empty() {
                head = end;
            }
        }
        if layout.schema.is_none() {
            return Err("there is no schema".to_owned());
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

    /// The columns.
    pub fn shown(&self) -> Vec<Shown> {
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

/// The type in which a column is handed on; none of what is nested.
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

/// The message that begins there; none behind the last one.
fn header(file: &File, at: u64, size: u64) -> Result<Option<Header>, String> {
    // A stream may end without a sign.
    if at == size {
        return Ok(None);
    }
    let mut place = at;
    let mut next = || {
        place += 4;
        bytes_at(file, place - 4, 4)?.try_into().map_err(|_| "4 bytes are not there".to_owned())
    };
    let first: [u8; 4] = next()?;
    let length = u32::from_le_bytes(if first == CONTINUES { next()? } else { first });
    if length == 0 {
        return Ok(None);
    }
    let body = place + u64::from(length);
    if u64::from(length) > MAX_DESCRIPTION || body > size {
        return Err(format!("a message of {length} bytes at byte {at} does not fit"));
    }
    let description = bytes_at(file, place, length as usize)?;
    let message = root_as_message(&description).map_err(|error| format!("the message at byte {at}: {error}"))?;
    let bytes = u64::try_from(message.bodyLength()).ok().filter(|bytes| *bytes <= size - body);
    let bytes = bytes.ok_or_else(|| format!("the message at byte {at} goes beyond the end"))?;
    let mut header = Header { kind: message.header_type(), schema: None, rows: 0, body, bytes, unpacked: 0 };
    if let Some(schema) = message.header_as_schema() {
        header.schema = Some(try_fb_to_schema(schema).map_err(|error| error.to_string())?);
    }
    let dictionary = message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data());
    if let Some(batch) = message.header_as_record_batch().or(dictionary) {
        header.rows =
            u64::try_from(batch.length()).map_err(|_| format!("the batch at byte {at} has less than no rows"))?;
        if let Some(compression) = batch.compression() {
            // One byte of a block of Zstandard may stand for a whole block, of LZ4 for 255 bytes.
            let most = if compression.codec() == CompressionType::LZ4_FRAME { 256 } else { 1 << 15 };
            for buffer in batch.buffers().iter().flatten().filter(|buffer| buffer.length() >= 8) {
                let becomes = unpacked(file, body, bytes, buffer.offset())?;
                let length = buffer.length() as u64;
                if becomes > length.saturating_mul(most).saturating_add(SMALL_BUFFER) {
                    return Err(format!("a buffer of {length} bytes at byte {at} cannot unpack to {becomes} bytes"));
                }
                header.unpacked = header.unpacked.saturating_add(becomes);
            }
        }
    }
    Ok(Some(header))
}

/// What a packed buffer says that it becomes.
fn unpacked(file: &File, body: u64, bytes: u64, offset: i64) -> Result<u64, String> {
    let offset = u64::try_from(offset).ok().filter(|offset| offset.saturating_add(8) <= bytes);
    let at = body + offset.ok_or_else(|| "a buffer lies outside of its batch".to_owned())?;
    let length = bytes_at(file, at, 8)?.try_into().map(i64::from_le_bytes);
    // Minus one says that it is not packed after all.
    Ok(length.ok().and_then(|length| u64::try_from(length).ok()).unwrap_or(0))
}

/// Calls `each` with the batches of a part, of these columns, in order; strings come as bytes, for who reads them checks each value.
///
/// # Errors
/// What is wrong with the file, as `bad` makes an error of it; what `each` returns.
pub(super) fn batches<E>(
    file: File,
    layout: &Layout,
    (from, to): (u64, u64),
    columns: Vec<usize>,
    bad: &dyn Fn(String) -> E,
    each: &mut dyn FnMut(RecordBatch) -> Result<(), E>,
) -> Result<(), E> {
    let Some(schema) = &layout.schema else { return Ok(()) };
    // Each message says its own version.
    let mut decoder = FileDecoder::new(Arc::new(of_bytes(schema)), MetadataVersion::V1).with_projection(columns);
    for message in &layout.messages {
        if message.piece.is_some_and(|piece| !(from..to).contains(&piece)) {
            continue;
        }
        let bytes = whole(&file, message).map_err(bad)?;
        let lengths = i32::try_from(message.description).ok().zip(i64::try_from(message.body).ok());
        let (description, body) = lengths.ok_or_else(|| bad("a message is too long".to_owned()))?;
        let block = Block::new(0, description, body);
        // The decoder ends the process if there is no memory for what it unpacks.
        room_for(message.unpacked).map_err(bad)?;
        if message.is_dictionary {
            guarded(|| decoder.read_dictionary(&block, &bytes)).map_err(bad)?;
            continue;
        }
        let batch = guarded(|| decoder.read_record_batch(&block, &bytes)).map_err(bad)?;
        each(batch.ok_or_else(|| bad("a batch is not there any more".to_owned()))?)?;
    }
    Ok(())
}

/// Checks that there is memory for so many bytes.
fn room_for(bytes: u64) -> Result<(), String> {
    let there = usize::try_from(bytes).ok().is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if there { Ok(()) } else { Err(format!("there is no memory for a batch that unpacks to {bytes} bytes")) }
}

/// The bytes of a message.
fn whole(mut file: &File, message: &Message) -> Result<Buffer, String> {
    let length = usize::try_from(message.description + message.body).map_err(|error| error.to_string())?;
    let mut bytes = MutableBuffer::from_len_zeroed(length);
    let read = file.seek(SeekFrom::Start(message.at)).and_then(|_| file.read_exact(bytes.as_slice_mut()));
    read.map(|()| bytes.into()).map_err(|error| error.to_string())
}

/// The same columns with strings as bytes, which lie in a file in the same way: the decoder would check strings itself, and give up on a
/// batch for one value.
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
        DataType::List(item) if is_texts(data_type) => DataType::List(item_of_bytes(item)),
        DataType::LargeList(item) if is_texts(data_type) => DataType::LargeList(item_of_bytes(item)),
        other => other.clone(),
    }
}

fn item_of_bytes(item: &Field) -> Arc<Field> {
    let field = |field: &Field| field.clone().with_data_type(as_bytes(field.data_type()));
    match item.data_type() {
        DataType::Struct(fields) => {
            let fields = fields.iter().map(|inner| field(inner)).collect();
            Arc::new(item.clone().with_data_type(DataType::Struct(fields)))
        }
        _ => Arc::new(field(item)),
    }
}

/// Whether a column holds strings, also in a dictionary.
pub(super) fn is_string(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_string(values),
        _ => false,
    }
}

/// Runs a call into the decoder; an error, and a panic too, becomes the sentence of what went wrong.
fn guarded<T>(call: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, String> {
    match guard::guarded(call) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(format!("the Arrow file is damaged: {error}")),
        Err(said) => Err(format!("the decoder gave up on it ({said})")),
    }
}

#[cfg(test)]
#[path = "ipc_tests.rs"]
mod tests;
