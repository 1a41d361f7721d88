//! Walks through a folder and its subfolders.

use crate::find::catalogs;
use crate::find::catalogs::{Aside, Catalog};
use crate::find::unread::Why;
use dupsift_core::error::{Error, Result};
use dupsift_core::safe_fs::listing::{self, Entry, is_absent};
use dupsift_publish::{Ours, Owners};
use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A file that a walk found, or a link to a folder that it does not enter.
pub(super) struct Visited<'v> {
    pub path: &'v Path,
    /// The path, with links in the folder's path resolved.
    pub real: &'v Path,
    pub link: Link,
    /// The reason why the file is not data, if the folder's catalog shows it.
    pub why: Option<Why>,
}

/// The result of following a link.
pub(super) enum Link {
    /// The entry is not a link, or it leads to a file inside of the inputs or to nothing.
    Inside,
    /// The link leads to this file outside of the inputs.
    ToFileOutside(PathBuf),
    /// The link leads to this folder outside of the inputs, which is not entered.
    ToFolderOutside(PathBuf),
    /// The system cannot tell where the link leads.
    Unknown(io::Error),
}

/// Specifies which links to folders a walk follows.
#[derive(Clone, Copy)]
pub(super) struct Follows<'f> {
    /// The inputs, with links resolved.
    pub places: &'f [PathBuf],
    /// Whether links that lead out of the inputs are followed.
    pub all: bool,
}

/// Walks through a folder and its subfolders, and finds every file that is not hidden. The walk follows links to folders inside of the
/// inputs unless they form a loop, and skips folders written by dupsift. The cost of visiting a folder does not depend on its depth, apart
/// from the length of its path.
pub(super) struct Walk<'w> {
    /// The start folder, with links resolved.
    named: PathBuf,
    follows: Follows<'w>,
    /// A function that returns whether an input explicitly includes a folder that dupsift wrote. The arguments are the folder and the names
    /// in it.
    asks: &'w dyn Fn(&Path, &[OsString]) -> bool,
    /// A function that receives each file, and each link to a folder that is not entered.
    each: &'w mut dyn FnMut(Visited<'_>),
    /// The device and inode of each folder that is being listed.
    above: HashSet<(u64, u64)>,
    owners: Owners,
    found: Walked,
}

/// A folder being listed.
struct Listing {
    folder: PathBuf,
    /// The folder, with links resolved.
    real: PathBuf,
    identity: (u64, u64),
    catalog: Catalog,
    /// The entries not yet visited.
    entries: std::vec::IntoIter<Entry>,
}

/// The folders written by dupsift that a walk found.
#[derive(Default)]
pub(super) struct Walked {
    /// The kind of output in the start folder, if dupsift wrote the folder.
    pub start: Option<Ours>,
    pub skipped: BTreeMap<PathBuf, Ours>,
}

impl<'w> Walk<'w> {
    /// Walks through a folder.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be listed, or if it is part of a table in a format that is not read.
    pub(crate) fn of(
        folder: &Path,
        follows: Follows<'w>,
        asks: &'w dyn Fn(&Path, &[OsString]) -> bool,
        each: &'w mut dyn FnMut(Visited<'_>),
    ) -> Result<Walked> {
        let named = folder.canonicalize().map_err(Error::reading("list the folder", folder))?;
        catalogs::refuse_inside_table(&named)?;
        let (above, owners, found) = (HashSet::new(), Owners::default(), Walked::default());
        let real = named.clone();
        let mut walk = Walk { named, follows, asks, each, above, owners, found };
        walk.list(folder.to_path_buf(), real)?;
        Ok(walk.found)
    }

    /// Lists a folder and all its subfolders. `real` is the path of the folder with links resolved. The walk is not recursive, because the
    /// longest possible path would overflow a thread's stack.
    fn list(&mut self, folder: PathBuf, real: PathBuf) -> Result<()> {
        let mut listing: Vec<Listing> = self.enter(folder, real)?.into_iter().collect();
        while let Some(at) = listing.last_mut() {
            let Some(entry) = at.entries.next() else {
                self.above.remove(&at.identity);
                listing.pop();
                continue;
            };
            let name = entry.name.as_encoded_bytes();
            if name.starts_with(b".") || name.starts_with(b"_") {
                continue;
            }
            let path = child(&at.folder, &entry.name);
            let inside = at.real.join(&entry.name);
            let why = at.catalog.aside(&entry.name.to_string_lossy()).map(Why::Aside);
            if entry.is_dir() {
                listing.extend(self.enter(path, inside)?);
            } else if entry.may_be_link() {
                listing.extend(self.follow(path, &inside, why)?);
            } else {
                (self.each)(Visited { path: &path, real: &inside, link: Link::Inside, why });
            }
        }
        Ok(())
    }

    /// Follows a link, or an entry of a file system that does not say which entries are links. Returns the folder to which it leads, if the
    /// walk enters the folder. `inside` is the path of the link, with links in the folder's path resolved.
    fn follow(&mut self, path: PathBuf, inside: &Path, why: Option<Why>) -> Result<Option<Listing>> {
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(error) => {
                let leads_nowhere = is_absent(&error) || error.raw_os_error() == Some(libc::ELOOP);
                let link = if leads_nowhere { Link::Inside } else { Link::Unknown(error) };
                (self.each)(Visited { path: &path, real: inside, link, why });
                return Ok(None);
            }
        };
        if self.leads_into_ours(&path, &target)? {
            return Ok(None);
        }
        let is_outside = !self.follows.places.iter().any(|place| target.starts_with(place));
        let is_folder = listing::look(&target).map(|there| there.is_some_and(|there| there.is_dir()));
        let link = match (is_folder, is_outside) {
            (Ok(true), true) if !self.follows.all => Link::ToFolderOutside(target),
            (Ok(true), _) => return self.enter(path, target),
            (Ok(false), true) => Link::ToFileOutside(target),
            (Ok(false), false) => Link::Inside,
            (Err(error), _) => Link::Unknown(error),
        };
        (self.each)(Visited { path: &path, real: inside, link, why });
        Ok(None)
    }

    /// Reads the names in a folder. Returns `None` if the folder is already being listed, or if dupsift wrote it and no input explicitly
    /// includes it.
    fn enter(&mut self, folder: PathBuf, real: PathBuf) -> Result<Option<Listing>> {
        let failed = || Error::reading("list the folder", &folder);
        let metadata = std::fs::metadata(&folder).map_err(failed())?;
        let identity = (metadata.dev(), metadata.ino());
        if self.above.contains(&identity) {
            return Ok(None);
        }
        let entries = listing::entries(&folder).map_err(failed())?;
        let names: Vec<OsString> = entries.iter().map(|entry| entry.name.clone()).collect();
        match Ours::of(&folder, &names)? {
            kind if self.above.is_empty() => self.found.start = kind,
            // If the start folder is inside this folder, this folder counts as an input.
            Some(kind) if !self.named.starts_with(&real) && !(self.asks)(&folder, &names) => {
                self.found.skipped.insert(folder, kind);
                return Ok(None);
            }
            _ => {}
        }
        catalogs::refuse_table(&folder, &names)?;
        let catalog = Catalog::of(&folder, &names, |state| self.is_followed(state));
        for name in catalog.missing(&names) {
            let (path, real) = (child(&folder, name.as_ref()), real.join(&name));
            (self.each)(Visited {
                path: &path,
                real: &real,
                link: Link::Inside,
                why: Some(Why::Aside(Aside::Missing)),
            });
        }
        self.above.insert(identity);
        Ok(Some(Listing { folder, real, identity, catalog, entries: entries.into_iter() }))
    }

    /// Returns whether a file that is not in a data format may be opened.
    fn is_followed(&self, path: &Path) -> bool {
        let is_inside = |target: PathBuf| self.follows.places.iter().any(|place| target.starts_with(place));
        self.follows.all || path.canonicalize().is_ok_and(is_inside)
    }

    /// Returns whether a link leads into a folder that dupsift wrote and that is not an input. If so, the link is recorded as skipped.
    fn leads_into_ours(&mut self, link: &Path, target: &Path) -> Result<bool> {
        // A link to the folder itself is handled in the same way as the folder.
        let inside = target.parent().map(Path::to_path_buf).unwrap_or_default();
        let Some((_, kind)) = self.owners.of(&inside, &self.named)? else { return Ok(false) };
        self.found.skipped.insert(link.to_path_buf(), kind);
        Ok(true)
    }
}

/// Returns the path of an entry in a folder. Paths do not begin with ".", which would only make labels longer.
fn child(folder: &Path, name: &OsStr) -> PathBuf {
    if folder == Path::new(".") { PathBuf::from(name) } else { folder.join(name) }
}
