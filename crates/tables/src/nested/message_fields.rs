//! Knows what the fields of messages contain: text, calls of tools, labels, or something that cannot be read. The names are those that chat
//! programs, APIs and data sets use.

/// The fields that contain the text of a message or of a part of a message. The first one that is not empty is used.
pub(crate) const CONTENT: [&str; 4] = ["content", "text", "value", "parts"];
/// Further fields with text, which precede the content.
const THOUGHTS: [&str; 5] = ["reasoning_content", "reasoning", "thinking", "tool_plan", "summary"];
/// Further fields with text, which follow the content.
const REPLIES: [&str; 1] = ["refusal"];
/// The fields that contain calls of tools.
pub(crate) const CALLS: [&str; 3] = ["function", "function_call", "tool_calls"];
/// The fields that contain the results and the arguments of a call: text, or values of any kind, which are written as JSON.
const RESULTS: [&str; 2] = ["output", "result"];
const ARGUMENTS: [&str; 5] = ["arguments", "input", "parameters", "args", "kwargs"];

/// The fields that label a message or a part: who wrote it, when, where it stands, and how it was made or is used. In lowercase and without
/// underscores.
const LABELS: [&str; 99] = [
    "author",
    "authorid",
    "cachecontrol",
    "cachedtokens",
    "cacheenabled",
    "callid",
    "channel",
    "completiontokens",
    "conversationid",
    "cost",
    "country",
    "created",
    "createdat",
    "createddate",
    "createtime",
    "date",
    "datetime",
    "deleted",
    "detail",
    "duration",
    "durationms",
    "elapsed",
    "endturn",
    "eventid",
    "finishreason",
    "from",
    "generationid",
    "hashedip",
    "header",
    "id",
    "index",
    "inputtokens",
    "itemid",
    "label",
    "labels",
    "lang",
    "language",
    "latency",
    "latencyms",
    "logprobs",
    "loss",
    "lossmask",
    "messageid",
    "meta",
    "metadata",
    "model",
    "modelname",
    "numtokens",
    "outputtokens",
    "parentid",
    "parentmessageid",
    "promptid",
    "prompttokens",
    "provider",
    "rank",
    "rating",
    "reasoningtokens",
    "recipient",
    "redacted",
    "requestid",
    "responseid",
    "responsemetadata",
    "reviewcount",
    "role",
    "runid",
    "score",
    "sender",
    "servicetier",
    "sessionid",
    "signature",
    "spanid",
    "speaker",
    "state",
    "status",
    "stopreason",
    "stopsequence",
    "synthetic",
    "systemfingerprint",
    "threadid",
    "time",
    "timestamp",
    "tokencount",
    "tokenusage",
    "toolcallid",
    "tooluseid",
    "totaltokens",
    "toxic",
    "traceid",
    "train",
    "ts",
    "turn",
    "turnidentifier",
    "updatedat",
    "usage",
    "usagemetadata",
    "userid",
    "username",
    "uuid",
    "weight",
];

/// The kinds of parts that contain only text.
pub(crate) const KINDS_OF_TEXT: [&str; 13] = [
    "text",
    "input_text",
    "output_text",
    "summary_text",
    "reasoning_text",
    "thinking",
    "reasoning",
    "refusal",
    "function",
    "function_call",
    "tool_use",
    "tool_call",
    "tool_result",
];

/// The kinds of messages and parts that are calls of tools.
pub(crate) const KINDS_OF_CALLS: [&str; 3] = ["function_call", "tool_use", "tool_call"];

/// The kinds of content in a field of a message or of a part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Text, with its slot.
    Text(usize),
    /// Text that is written as JSON if it is not a string, with its slot.
    Json(usize),
    /// The name of a called tool, or else of the author.
    Name,
    /// The kind of the message or part.
    Kind,
    /// Something that says nothing about the content.
    Label,
    /// Anything else. Only a digest of it is used.
    Unread,
}

impl Field {
    /// Returns what the field with this name contains.
    pub fn of(name: &str) -> Field {
        match (slot(name), name) {
            (Some(at), _) if at >= FIRST_RESULT => Field::Json(at),
            (Some(at), _) => Field::Text(at),
            (None, "name") => Field::Name,
            (None, "type") => Field::Kind,
            // Nearly every message has one of these.
            (None, "role" | "from" | "id") => Field::Label,
            (None, _) if LABELS.iter().any(|label| is_spelled(name, label)) => Field::Label,
            (None, _) => Field::Unread,
        }
    }
}

/// Returns whether a field contains the text of a message.
pub(crate) fn is_content(name: &str) -> bool {
    CONTENT.contains(&name)
}

/// Returns whether a name is this label in snake case, camel case or any other case.
fn is_spelled(name: &str, label: &str) -> bool {
    let letters = name.bytes().filter(|byte| *byte != b'_').map(|byte| byte.to_ascii_lowercase());
    name.len() >= label.len() && letters.eq(label.bytes())
}

/// The number of slots for text in a message; see [`slot`].
pub(crate) const SLOTS: usize = FIRST_ARGUMENT + ARGUMENTS.len();

/// Returns the position of a field with text. Texts are joined in this order, regardless of the order of the fields.
fn slot(name: &str) -> Option<usize> {
    let fields = THOUGHTS.iter().chain(&CONTENT).chain(&REPLIES).chain(&CALLS).chain(&RESULTS).chain(&ARGUMENTS);
    fields.into_iter().position(|field| *field == name)
}

/// The positions of [`CONTENT`], [`RESULTS`] and [`ARGUMENTS`] among the slots.
pub(crate) const CONTENTS: std::ops::Range<usize> = THOUGHTS.len()..THOUGHTS.len() + CONTENT.len();
const FIRST_RESULT: usize = CONTENTS.end + REPLIES.len() + CALLS.len();
pub(crate) const FIRST_ARGUMENT: usize = FIRST_RESULT + RESULTS.len();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_in_any_spelling() {
        for name in LABELS {
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase()) && slot(name).is_none(), "{name}");
            assert_eq!(Field::of(name), Field::Label);
        }
        assert!(LABELS.is_sorted());
        for name in ["createdAt", "created_at", "total_tokens", "Usage", "tool_call_id"] {
            assert_eq!(Field::of(name), Field::Label, "{name}");
        }
        for name in ["tokens", "images", "createdats", "citations"] {
            assert_eq!(Field::of(name), Field::Unread, "{name}");
        }
    }
}
