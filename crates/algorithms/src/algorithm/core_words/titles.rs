//! Finds the name of the site in a title: the part that many titles share.

use std::ops::Range;

use crate::algorithm::contract::FeatureKind;
use crate::algorithm::kit::title;
use crate::corpus::CorpusStats;
use dupsift_core::hash::{combine, hash64};
use dupsift_text::{Analysis, Field};

/// A part that occurs in at most this many titles is not the name of a site.
const FEW_TITLES: u64 = 3;
/// A part that occurs in at most 1/`SHARE_OF_TITLES` of all titles is not the name of a site.
const SHARE_OF_TITLES: u64 = 100;

/// Counts titles, and also the parts of each title that has several parts.
pub(crate) struct TitleParts;

impl TitleParts {
    fn title() -> u64 {
        hash64(b"title_parts")
    }

    fn part(text: &str) -> u64 {
        combine(TitleParts::title(), hash64(text.as_bytes()))
    }
}

impl FeatureKind for TitleParts {
    fn name(&self) -> String {
        "title_parts".into()
    }

    fn hashes(&self, document: &Analysis<'_>, out: &mut Vec<u64>) {
        let Some(title) = document.field(Field::Title) else { return };
        out.push(TitleParts::title());
        let parts = title::parts(title.text());
        if parts.len() > 1 {
            out.extend(parts.into_iter().map(|part| TitleParts::part(&title.text()[part])));
        }
    }
}

/// Returns the parts of a title that are not the name of a site. The result is empty if the title has a single part or if nothing remains.
pub(crate) fn own_parts(title: &Analysis<'_>, stats: &CorpusStats) -> Vec<Range<usize>> {
    let mut parts = title::parts(title.text());
    if parts.len() < 2 {
        return Vec::new();
    }
    let most = FEW_TITLES.max(stats.feature_df(TitleParts::title()) / SHARE_OF_TITLES);
    parts.retain(|part| stats.feature_df(TitleParts::part(&title.text()[part.clone()])) <= most);
    parts
}
