//! Copies objects of object stores to local files, which are read like any other files.
//!
//! The list of objects is made once. The copies are in the temporary folder of the output, and each name is a hash of what identifies the
//! object. Therefore, if a run is killed, the next run uses the complete copies of objects that have not changed.

use crate::compressed::coding::Coding;
use crate::compressed::packing::Packing;
use crate::find::bad_input::BadInput;
use crate::find::found::{Downloads, Found, sort};
use crate::find::found_file::{FoundFile, Staged};
use crate::find::glob::{WILD, glob, glob_parts, is_below_match, spelled};
use crate::find::hive;
use crate::find::taking::Taking;
use crate::find::unread::{Other, Unread};
use crate::format::Format;
use crate::formats;
use bytesize::ByteSize;
use dupsift_core::error::{Error, Result};
use dupsift_core::hash::hash128;
use dupsift_core::number::{counted, counted_as};
use dupsift_core::safe_fs::private;
use dupsift_publish::{OBJECT, Ours, TemporaryFolder, WorkFolder};
use dupsift_remote::address::{self, Address};
use dupsift_remote::{Access, Object, Store, Traffic};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The folder for the copies.
pub enum CopyFolder {
    /// The temporary folder of an output. Copies stay in it until the output is complete.
    OfOutput(Box<WorkFolder>),
    /// A folder that is removed when the last file in it is no longer needed.
    Alone(Arc<TemporaryFolder>),
}

impl CopyFolder {
    fn path(&self) -> &Path {
        match self {
            CopyFolder::OfOutput(work) => work.path(),
            CopyFolder::Alone(folder) => folder.path(),
        }
    }
}

/// An object that is read.
struct Chosen {
    object: Object,
    /// The position of the store in [`Objects::stores`].
    store: usize,
    label: String,
    format: &'static dyn Format,
    packing: Packing,
    is_guess: bool,
}

/// The objects of a corpus, as they were listed.
#[derive(Default)]
pub struct Objects {
    /// The stores, each with the address of its root.
    stores: Vec<(String, Box<dyn Store>)>,
    chosen: BTreeMap<String, Chosen>,
    others: BTreeMap<String, Other>,
    /// The folders in the inputs that dupsift wrote.
    ours: BTreeMap<PathBuf, Ours>,
}

impl Objects {
    /// Lists the objects of the inputs that are addresses of stores. Returns `None` if no input is such an address.
    ///
    /// # Errors
    /// Returns [`Error::Missing`] if there is no object at an address, [`Error::Usage`] if none of its objects can be read, and an error if
    /// a list cannot be read completely.
    pub fn list(inputs: &[String], taking: Taking, access: &Access) -> Result<Option<Objects>> {
        let mut objects = Objects::default();
        for input in inputs {
            if let Some(address) = Address::of(input) {
                objects.add(input, &address, inputs.len() > 1, taking, access)?;
            }
        }
        Ok(Some(objects).filter(|objects| !objects.stores.is_empty()))
    }

    /// Returns objects that an earlier run read, as it listed them. Nothing is listed again, so an object that has changed cannot be copied.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if an address cannot be read, or if the environment is incomplete.
    pub fn recorded(
        recorded: impl IntoIterator<Item = (Object, String)>,
        taking: Taking,
        access: &Access,
    ) -> Result<Objects> {
        let mut objects = Objects::default();
        for (object, label) in recorded {
            address::refuse_unread(&object.address)?;
            let path = Path::new(&object.address);
            let (Some(address), Some((format, packing))) =
                (Address::of(&object.address), formats::of(path, taking.text_files))
            else {
                return Err(Error::BadFile { path: path.to_path_buf(), why: "has an unknown file extension".into() });
            };
            let store = objects.store(&address, access)?;
            let object = Object { key: address.key, ..object };
            let chosen = Chosen { object, store, label, format, packing, is_guess: false };
            objects.chosen.insert(chosen.object.address.clone(), chosen);
        }
        Ok(objects)
    }

    /// Returns the position of the store of an address.
    fn store(&mut self, address: &Address, access: &Access) -> Result<usize> {
        let root = address.with_key("").to_string();
        let known = self.stores.iter().position(|(known, _)| *known == root);
        if known.is_none() {
            self.stores.push((root, dupsift_remote::open(address, access)?));
        }
        Ok(known.unwrap_or(self.stores.len() - 1))
    }

    /// Adds the objects of one input.
    fn add(
        &mut self,
        input: &str,
        address: &Address,
        is_one_of_several: bool,
        taking: Taking,
        access: &Access,
    ) -> Result<()> {
        let at = self.store(address, access)?;
        let listed = listed(&*self.stores[at].1, address)?;
        if listed.objects.is_empty() && listed.ours.is_empty() {
            let said =
                format!("{input:?} does not exist; expected an object, a folder or a glob that matches an object");
            return Err(Error::Missing { path: input.into(), said });
        }
        let before = self.chosen.len();
        let mut is_known = false;
        for (object, name) in listed.objects {
            let path = PathBuf::from(&object.address);
            let label = if is_one_of_several { object.address.clone() } else { name };
            match formats::of(&path, taking.text_files) {
                Some((format, packing)) => {
                    let is_guess = !listed.is_single && formats::is_guess(&path, format);
                    is_known |= self.chosen.contains_key(&object.address);
                    let chosen = Chosen { store: at, label, format, packing, is_guess, object };
                    self.chosen.entry(chosen.object.address.clone()).or_insert(chosen);
                }
                None => _ = self.others.insert(object.address.clone(), Other { path, label, why: None }),
            }
        }
        self.ours.extend(listed.ours.into_iter().map(|folder| (folder, Ours::Result)));
        if self.chosen.len() == before && !is_known {
            return Err(Error::usage(format!(
                "nothing to read in {input:?}; expected objects that end in {} (names that begin with . or _ and results of dupsift are skipped)",
                formats::endings()
            )));
        }
        Ok(())
    }

    /// Returns the total size of the objects.
    pub fn bytes(&self) -> u64 {
        self.chosen.values().map(|chosen| chosen.object.bytes).sum()
    }

    /// Returns the number of objects and their total size, for messages.
    pub fn size(&self) -> String {
        format!("{}, {}", counted(self.chosen.len() as u64, "object"), ByteSize(self.bytes()))
    }

    /// Copies the objects to a folder, unless they are there already. Objects that cannot be copied are returned as bad inputs. `arrived`
    /// receives the number of bytes whenever more of the objects is there.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if a copy cannot be written.
    pub fn stage(self, to: CopyFolder, taking: Taking, arrived: &dyn Fn(u64)) -> Result<Found> {
        let size = self.size();
        let Objects { stores, chosen, others, ours } = self;
        let chosen: Vec<Chosen> = chosen.into_values().collect();
        if let CopyFolder::OfOutput(work) = &to {
            let names: BTreeSet<String> = chosen.iter().filter(|chosen| is_pinned(&chosen.object)).map(name).collect();
            work.keep_objects(|name| names.contains(name))?;
            // From now on, complete copies stay until the run is done, so that they need not be fetched again.
            work.keep();
        }
        let folder = to.path();
        let is_there = |chosen: &&Chosen| {
            let there = folder.join(name(chosen)).symlink_metadata();
            there.is_ok_and(|there| there.is_file() && there.len() == chosen.object.bytes)
        };
        let (there, wanted): (Vec<&Chosen>, Vec<&Chosen>) = chosen.iter().partition(is_there);
        let reused =
            if there.is_empty() { String::new() } else { format!("; {} of them are already here", there.len()) };
        tracing::info!("the corpus has {size} in object stores{reused}");
        arrived(there.iter().map(|chosen| chosen.object.bytes).sum());
        let (started, failed) = (Instant::now(), RefCell::new(BTreeMap::new()));
        for (at, (_, store)) in stores.iter().enumerate() {
            let of_store: Vec<&Chosen> = wanted.iter().filter(|chosen| chosen.store == at).copied().collect();
            fetch(&**store, &of_store, folder, arrived, &failed)?;
        }
        let mut all = Traffic::default();
        for (_, store) in &stores {
            let Traffic { requests, retries, bytes } = store.traffic();
            all =
                Traffic { requests: all.requests + requests, retries: all.retries + retries, bytes: all.bytes + bytes };
        }
        let seconds = started.elapsed().as_secs_f64();
        tracing::info!(
            "{} downloaded in {seconds:.1} s ({}, {})",
            ByteSize(all.bytes),
            counted(all.requests, "request"),
            counted_as(all.retries, "retry|retries")
        );
        let Traffic { requests, retries, bytes } = all;
        let (objects, reused) = (chosen.len() as u64, there.len() as u64);
        let downloads = Downloads { objects, reused, bytes, requests, retries, seconds };
        let (mut failed, mut found) = (failed.into_inner(), Found { downloads: Some(downloads), ..Found::default() });
        let alone = match &to {
            CopyFolder::OfOutput(_) => None,
            CopyFolder::Alone(folder) => Some(folder.clone()),
        };
        for chosen in chosen {
            let copy = folder.join(name(&chosen));
            let Chosen { object, label, format, packing, is_guess, .. } = chosen;
            let path = PathBuf::from(&object.address);
            if let Some(why) = failed.remove(&object.address) {
                let (why, bytes) = (format!("cannot be downloaded: {why}"), object.bytes);
                found.bad.push(BadInput { path, label, why, bytes, takes_part: false });
                continue;
            }
            let packing = if format.facts().is_packed { packing.of_file(&copy) } else { packing };
            found.files.push(FoundFile {
                path,
                format,
                coding: Coding { packing, ..taking.coding },
                is_guess,
                bytes: object.bytes,
                partitions: hive::partitions(&label),
                staged: Some(Staged { copy, _folder: alone.clone(), etag: object.etag, version: object.version }),
                label,
            });
        }
        sort(&mut found.files);
        found.unread = Unread::of(others.into_values()).with_ours(ours, BTreeMap::new());
        if let CopyFolder::OfOutput(work) = to {
            found.work = Some(*work);
        }
        Ok(found)
    }
}

/// Copies objects of one store.
fn fetch(
    store: &dyn Store,
    wanted: &[&Chosen],
    folder: &Path,
    arrived: &dyn Fn(u64),
    failed: &RefCell<BTreeMap<String, String>>,
) -> Result<()> {
    let objects: Vec<Object> = wanted.iter().map(|chosen| chosen.object.clone()).collect();
    let half = |at: usize| folder.join(name(wanted[at]) + ".half");
    let create = |at: usize| {
        let path = half(at);
        let file = private::create(&path).map_err(Error::io("create", &path))?;
        file.set_permissions(Permissions::from_mode(0o600)).map_err(Error::io("create", &path))?;
        Ok(file)
    };
    store.fetch(&objects, &create, arrived, &|at, file, outcome| {
        drop(file);
        let path = half(at);
        match outcome {
            Ok(()) => private::rename(&path, OsStr::new(&name(wanted[at]))).map_err(Error::io("rename", &path)),
            Err(why) => {
                failed.borrow_mut().insert(objects[at].address.clone(), why);
                private::remove(&path).map_err(Error::io("remove", &path))
            }
        }
    })
}

/// Returns whether a later request for the object cannot return another one.
fn is_pinned(object: &Object) -> bool {
    object.etag.is_some() || object.version.is_some()
}

/// Returns the name of an object's copy.
fn name(chosen: &Chosen) -> String {
    let Object { address, bytes, etag, version, .. } = &chosen.object;
    format!("{:032x}{OBJECT}", hash128(format!("{address:?} {bytes} {etag:?} {version:?}").as_bytes()))
}

/// The objects at an address.
#[derive(Default)]
struct Listed {
    /// The objects, each with its key relative to the folder that was searched.
    objects: Vec<(Object, String)>,
    /// Whether the address is that of a single object.
    is_single: bool,
    /// The results of dupsift that are skipped.
    ours: BTreeSet<PathBuf>,
}

/// Lists the objects at an address, and leaves out those that are skipped in a local folder as well.
fn listed(store: &dyn Store, address: &Address) -> Result<Listed> {
    let key = address.key.as_str();
    let is_glob = key.contains(WILD);
    if !is_glob && let Some(object) = store.find(key)? {
        let name = key.rsplit('/').next().unwrap_or(key).to_owned();
        return Ok(Listed { objects: vec![(object, name)], is_single: true, ours: BTreeSet::new() });
    }
    let (above, pattern) = if is_glob { glob_parts(key) } else { (key, String::new()) };
    let above = if above == "." { "" } else { above.trim_end_matches('/') };
    let all: Vec<(Object, String)> = store
        .list(above)?
        .into_iter()
        .filter_map(|object| {
            let name = object.key.strip_prefix(above)?.trim_start_matches('/').to_owned();
            Some((object, name))
        })
        .collect();
    let ours = ours(&all, &pattern)?;
    let matcher = if is_glob { Some(glob(&pattern)?) } else { None };
    let mut folders = HashMap::new();
    let mut skipped = BTreeSet::new();
    let objects = all.into_iter().filter(|(_, name)| {
        let path = Path::new(name);
        let is_hidden = name.split('/').any(|part| part.is_empty() || part.starts_with(['.', '_']));
        let is_match = matcher.as_ref().is_none_or(|matcher| {
            let mut is_below = || path.parent().is_some_and(|folder| is_below_match(matcher, folder, &mut folders));
            matcher.is_match(path) || is_below()
        });
        let of_ours = path.ancestors().find(|above| ours.contains(*above));
        if let Some(folder) = of_ours.filter(|_| is_match && !is_hidden) {
            skipped.insert(Path::new(&address.with_key(above).to_string()).join(folder));
        }
        !is_hidden && is_match && of_ours.is_none()
    });
    Ok(Listed { objects: objects.collect(), is_single: false, ours: skipped })
}

/// Returns the folders that are results of dupsift, relative to the folder that was searched, unless the pattern spells them out.
fn ours(all: &[(Object, String)], pattern: &str) -> Result<BTreeSet<PathBuf>> {
    let names: BTreeSet<&str> = all.iter().map(|(_, name)| name.as_str()).collect();
    let spelled = if pattern.is_empty() { Vec::new() } else { spelled(pattern)? };
    let is_spelled = |folder: &str| {
        let below = names.iter().filter_map(|name| name.strip_prefix(folder)?.strip_prefix('/'));
        let entries: BTreeSet<&str> = below.filter_map(|below| below.split('/').next()).collect();
        let is_match = |path: &Path| spelled.iter().any(|part| part.is_match(path));
        is_match(Path::new(folder)) || entries.iter().any(|entry| is_match(&Path::new(folder).join(entry)))
    };
    let folders = names.iter().filter_map(|name| name.strip_suffix("/_SUCCESS"));
    let ours = folders.filter(|folder| names.contains(format!("{folder}/run.json").as_str()) && !is_spelled(folder));
    Ok(ours.map(PathBuf::from).collect())
}
