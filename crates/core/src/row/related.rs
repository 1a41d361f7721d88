//! Defines the relations between two similar documents: versions of the same text, a text that is contained in a larger text, or pages with
//! the same template.

/// The relation between two similar documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RelationKind {
    /// The same text, but reworded, corrected, or in a different page layout.
    Version,
    /// One text contains nearly all of the other text and adds text of its own.
    Contained,
    /// The same template with different facts, or two unrelated texts: not duplicates.
    Template,
}

/// The reason for a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The texts are equal.
    Same,
    /// The numbers differ.
    Numbers,
    /// A single word distinguishes the two texts.
    Word,
    /// One text is contained in the other.
    Contained,
    /// No other document is nearly as similar.
    Alone,
    /// The titles are equal, and no other document is more similar.
    Title,
    /// Another document is about as similar to one of the two documents as they are to each other.
    Near,
    /// No other document is similar, but the two documents are not similar enough to be versions of the same text.
    Far,
    /// The containing text has too small a share of the contained text, and many other documents are about as similar to the contained
    /// text.
    Crowd,
}

impl RelationKind {
    /// All values, in the order of their codes in temporary files.
    pub const ALL: [RelationKind; 3] = [RelationKind::Version, RelationKind::Contained, RelationKind::Template];

    /// Returns the name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            RelationKind::Version => "version",
            RelationKind::Contained => "contained",
            RelationKind::Template => "template",
        }
    }
}

impl Why {
    /// All values, in the order of their codes in temporary files.
    pub const ALL: [Why; 9] =
        [Why::Same, Why::Numbers, Why::Word, Why::Contained, Why::Alone, Why::Title, Why::Near, Why::Far, Why::Crowd];

    /// Returns the name used in tables.
    pub fn name(self) -> &'static str {
        match self {
            Why::Same => "same text",
            Why::Numbers => "numbers differ",
            Why::Word => "one word differs",
            Why::Contained => "contained",
            Why::Alone => "unique",
            Why::Title => "same title",
            Why::Near => "others as near",
            Why::Far => "not near enough",
            Why::Crowd => "many as near",
        }
    }
}

/// The classification of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Related {
    /// The relation between the two documents.
    pub relation: RelationKind,
    /// The reason for the relation.
    pub why: Why,
    /// The similarity of the next best partner of either document, excluding documents that are near both.
    pub next_best: f32,
    /// Whether the title of one document refers to something that the other document is not about. In this case, neither document is
    /// removed in favor of the other.
    pub other_title: bool,
}

/// The bit in the first byte that stores `other_title`.
const OTHER_TITLE: u8 = 0x80;

impl Related {
    /// Returns the similarity of the next best partner, or `None` for equal texts, for which this similarity is not computed.
    pub fn next_best(self) -> Option<f32> {
        (self.why != Why::Same).then_some(self.next_best)
    }

    /// The number of bytes that a classification takes in temporary files.
    pub const WIDTH: usize = 6;

    /// Appends the encoded classification; a pair without a relation is encoded as zeros.
    pub fn encode(related: Option<Related>, out: &mut Vec<u8>) {
        let Some(related) = related else { return out.extend([0; Related::WIDTH]) };
        let other_title = if related.other_title { OTHER_TITLE } else { 0 };
        out.extend([(related.relation as u8 + 1) | other_title, related.why as u8]);
        out.extend(related.next_best.to_be_bytes());
    }

    /// Decodes a classification, or returns `None` for a pair without a relation.
    pub fn decode(bytes: &[u8]) -> Option<Related> {
        let [relation, why, next @ ..] = bytes else { return None };
        let (other_title, relation) = (relation & OTHER_TITLE != 0, relation & !OTHER_TITLE);
        let relation = *RelationKind::ALL.get(usize::from(relation).checked_sub(1)?)?;
        Some(Related {
            relation,
            why: *Why::ALL.get(usize::from(*why))?,
            next_best: f32::from_be_bytes(next.try_into().ok()?),
            other_title,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_survive_the_trip() {
        for relation in RelationKind::ALL {
            for (why, other_title) in Why::ALL.into_iter().flat_map(|why| [(why, false), (why, true)]) {
                let related = Some(Related { relation, why, next_best: 0.625, other_title });
                let mut bytes = Vec::new();
                Related::encode(related, &mut bytes);
                assert_eq!((bytes.len(), Related::decode(&bytes)), (Related::WIDTH, related));
            }
        }
        let mut bytes = Vec::new();
        Related::encode(None, &mut bytes);
        assert_eq!((bytes.len(), Related::decode(&bytes)), (Related::WIDTH, None));
    }
}
