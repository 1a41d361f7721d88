//! Adds pictures, sound and files beside a text to the text, if the text names them: rows that differ only there are not copies.
//!
//! ```text
//! {"text": "<image> What is this?", "image_1": "a.png"}      <image> What is this?￼6c1f0e8fd7a4b3925e0d1c2b3a495867
//! ```

use crate::nested::messages::both;
use dupsift_core::unread::{self, Unread};

/// The first words of the names of columns that contain pictures, video or sound.
const MEDIA: [&str; 18] = [
    "image", "images", "img", "imgs", "picture", "pictures", "photo", "photos", "video", "videos", "audio", "audios",
    "jpg", "jpeg", "png", "webp", "mp4", "wav",
];
/// The words of columns that only describe a picture, as in `image_width`.
const ABOUT: [&str; 20] = [
    "alt",
    "caption",
    "captions",
    "category",
    "count",
    "date",
    "description",
    "duration",
    "format",
    "height",
    "id",
    "ids",
    "label",
    "license",
    "size",
    "sizes",
    "source",
    "title",
    "type",
    "width",
];
/// The beginnings of words that stand for a picture, a video or a sound in a text, after a bracket. Case does not matter.
const PLACEHOLDERS: [&str; 8] = ["image", "img", "picture", "video", "audio", "|image", "|vision_start", "|audio"];

/// Returns whether a column contains what placeholders in a text beside it stand for: its name begins with one of [`MEDIA`], with or without
/// a number.
pub fn is_attached(name: &str) -> bool {
    let word = |word: &str| word.trim_end_matches(|sign: char| sign.is_ascii_digit()).to_ascii_lowercase();
    let mut words = name.split(|sign: char| !sign.is_ascii_alphanumeric()).map(word);
    words.next().is_some_and(|first| MEDIA.contains(&first.as_str()))
        && !words.any(|word| ABOUT.contains(&word.as_str()))
}

/// Adds a hash of the [attached](is_attached) columns to a text that has a placeholder for them. The hash is the sum of [`crate::nested::messages::of_field`]; `None` if the
/// columns are not read.
pub fn attach(text: &mut String, attached: Option<u128>) {
    let (words, unread) = unread::split(text);
    if !has_placeholder(words.as_bytes()) {
        return;
    }
    let unread = match (unread, attached) {
        (_, Some(0)) => return,
        (Some(Unread::Unknown), _) | (_, None) => Unread::Unknown,
        (None, Some(digest)) => Unread::Digest(digest),
        (Some(Unread::Digest(known)), Some(digest)) => Unread::Digest(both(known, digest)),
    };
    text.truncate(words.len());
    unread::mark(text, unread);
}

/// Returns whether a text has a placeholder for a picture, a video or a sound: `<image>`, `[IMG]`, `{image}` or `![](img)`.
pub fn has_placeholder(text: &[u8]) -> bool {
    let is_target = |at: &usize| *at > 0 && text[at - 1] == b']';
    let brackets = memchr::memchr3_iter(b'<', b'[', b'{', text);
    brackets.chain(memchr::memchr_iter(b'(', text).filter(is_target)).any(|at| {
        let begins =
            |one: &str| text[at + 1..].get(..one.len()).is_some_and(|word| word.eq_ignore_ascii_case(one.as_bytes()));
        PLACEHOLDERS.iter().any(|one| begins(one))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_beside_a_text_count_if_the_text_names_them() {
        let with = |text: &str, attached| {
            let mut text = text.to_owned();
            attach(&mut text, Some(attached));
            text
        };
        for text in [
            "<image>\nWhat is it?",
            "See <IMG> and [IMG]",
            "[a] <|vision_start|>",
            "a\n<video>",
            "<image 1>",
            "[IMAGE]",
            "{image}",
            "{{ {IMG_2}",
            "![](img)",
            "![a](images/1)",
        ] {
            assert_ne!(with(text, 1), with(text, 2));
            assert_eq!((unread::split(&with(text, 1)).0, with(text, 0).as_str()), (text, text));
        }
        for text in [
            "What is it?",
            "a < b",
            "<imag",
            "",
            "[",
            "<i>mage</i>",
            "(img)",
            "![](https://x.y/image.png)",
            "[1](",
            "{",
        ] {
            assert_eq!(with(text, 1), text);
        }
        let (mut known, mut unknown) = ("<image>".to_owned(), "<image>".to_owned());
        unread::mark(&mut known, Unread::Digest(5));
        unread::mark(&mut unknown, Unread::Unknown);
        assert_ne!(with(&known, 1), with(&known, 2));
        assert_eq!(unread::split(&with(&known, 1)).0, "<image>");
        assert_eq!(with(&unknown, 1), unknown);
        attach(&mut known, None);
        assert_eq!(known, unknown);
    }

    #[test]
    fn columns_with_pictures() {
        for name in [
            "image",
            "images",
            "image_1",
            "image_12",
            "image1",
            "img",
            "jpg",
            "png",
            "picture",
            "image_bytes",
            "images_url",
            "Image",
            "image.path",
            "video_paths",
            "audio-file",
            "image_1_path",
        ] {
            assert!(is_attached(name), "{name}");
        }
        for name in ["imagery", "text", "", "image_width", "image_1_id", "my_image", "pngs_x", "images_count"] {
            assert!(!is_attached(name), "{name}");
        }
    }
}
