//! `exact` (A0): finds exact copies by a digest of the whole text.
//!
//! Source: Zelenkov, Segalovich 2007, the "MD5" baseline. Cost: O(bytes), one row per document. Limitations: a copy is missed if even one
//! character or the template around the text differs; markup must be removed first. The digest has 128 bits, so chance collisions are
//! negligible in a corpus of any size. A text without a visible character has no signature.
//!
//! ```text
//! form=raw        "Кот."  != "кот"      the bytes of the text column
//! form=canonical  "Кот."  == "кот"      its words joined by one space
//! form=url        "https://www.a.org/?utm_source=x" == "http://a.org/"
//! ```

mod address;

use crate::algorithm::contract::{
    Algorithm, Corpus, Facts, Key, KeySigner, Kind, ParamSpec, Params, SignatureScheme, Signer,
};
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::Digest;
use dupsift_core::row::Reason;
use dupsift_core::unread::Unread;
use dupsift_text::Analysis;

/// Implements the `exact` algorithm.
pub(crate) struct Exact;

const FACTS: Facts = Facts {
    name: "exact",
    aliases: &["A0", "md5"],
    source: "Zelenkov, Segalovich 2007, baseline MD5",
    summary: "Two documents are duplicates if their texts are equal, byte by byte or word by word.",
    when_not_to_use: "as the only algorithm if copies differ in a header, date or footer, because a copy is missed if a single character differs",
    inputs: "text",
    params: &[
        ParamSpec {
            name: "form",
            kind: Kind::Choice(&["raw", "canonical", "url"]),
            default: "raw",
            help: "raw: the bytes of the text; canonical: its words joined by single spaces, ignoring case and punctuation; url: the text as a URL, ignoring scheme, www., default port, fragment (except routes, which begin with #! or #/), tracking parameters, parameters with an empty value, and parameter order. Used alone, form=url removes documents with equal URLs; combined with other algorithms, it does so only if the removal rule is pair",
        },
        ParamSpec {
            name: "digest",
            kind: Kind::Choice(&["xxh3_128", "md5"]),
            default: "xxh3_128",
            help: "128-bit digest; the paper uses md5",
        },
    ],
    shorthands: &[],
    presets: &[],
    revision: 2,
};

impl Algorithm for Exact {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn signer<'c>(&self, params: &Params, _: &Corpus<'c>) -> Result<Box<dyn Signer + 'c>> {
        let digest = Digest::by_name(params.word("digest"))
            .ok_or_else(|| Error::Internal(format!("exact: no digest {:?}", params.word("digest"))))?;
        let form = match params.word("form") {
            "canonical" => Form::Canonical,
            "url" => Form::Url,
            _ => Form::Raw,
        };
        Ok(Box::new(ExactSigner { digest, form }))
    }
}

/// Defines the input of the digest.
enum Form {
    Raw,
    Canonical,
    Url,
}

struct ExactSigner {
    digest: Digest,
    form: Form,
}

impl KeySigner for ExactSigner {
    fn key(&self, document: &Analysis<'_>) -> Result<Key, Reason> {
        match self.form {
            Form::Canonical if document.words().is_empty() => Err("no words"),
            Form::Canonical => Ok(self.digest.of(document.canonical().as_bytes()).into()),
            Form::Url if document.unread().is_some() => Err("unread parts"),
            Form::Url => {
                let key = address::key(document.raw()).ok_or("no web address")?;
                Ok(self.digest.of(key.as_bytes()).into())
            }
            Form::Raw if document.unread() == Some(Unread::Unknown) => Err("unread parts"),
            Form::Raw if document.has_no_copies() => Err("empty text"),
            // The run also needs this hash for every document, so the hash is computed only once.
            Form::Raw => Ok(match self.digest {
                Digest::Xxh128 => document.raw_hash(),
                digest => digest.of(document.marked().as_bytes()),
            }
            .into()),
        }
    }

    fn key_scheme(&self) -> SignatureScheme {
        SignatureScheme::one_key(128)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::examples::{D1, D2, key};

    #[test]
    fn worked_examples() {
        // The key is the MD5 of the words joined with spaces.
        assert_eq!(key(&Exact, "form=canonical,digest=md5", D1), Ok(0x8dae8012f694618f23ec90a37d8db238));
        assert_ne!(key(&Exact, "", D1), key(&Exact, "", D2));
        assert_ne!(key(&Exact, "", "Кот."), key(&Exact, "", "кот"));
        assert_eq!(key(&Exact, "form=canonical", "Кот."), key(&Exact, "form=canonical", "кот"));
    }

    #[test]
    fn nothing_is_no_copy_of_nothing() {
        assert_eq!(key(&Exact, "", " \n\t"), Err("empty text"));
        assert_eq!(key(&Exact, "form=canonical", "?!"), Err("no words"));
        assert!(key(&Exact, "", "?!").is_ok());
        assert_eq!(key(&Exact, "form=url", "Кот."), Err("no web address"));
    }

    #[test]
    fn addresses_of_one_page_are_equal() {
        let of = |address| key(&Exact, "form=url", address);
        assert_eq!(of("https://www.a.org/x?b=2&a=1&utm_source=s#top"), of("http://a.org:80/x?a=1&b=2"));
        assert_ne!(of("http://a.org/x?a=1"), of("http://a.org/x?a=2"));
        assert_eq!(of("http://a.org/x?a=1&b="), of("http://a.org/x?a=1"));
        assert_ne!(of("http://a.org/#/x"), of("http://a.org/#/y"));
    }
}
