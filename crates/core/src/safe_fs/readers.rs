//! Limits who may read an output: only users who may read every file from which the output was made.

use std::collections::BTreeSet;
use std::fs::{File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

/// The permissions of the group, and of all others.
const GROUP: u32 = 0o070;
const OTHERS: u32 = 0o007;
/// The permissions of both to read.
const READ: u32 = 0o044;

/// The users who may read all files in a set. The default value is an empty set, which everybody may read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readers {
    /// The group of each file, and the permissions to read it.
    files: BTreeSet<(u32, u32)>,
}

impl Readers {
    /// Returns the users who may read all of these files. Follows links. A file that cannot be looked at is assumed to be private.
    pub fn of<'f>(files: impl IntoIterator<Item = &'f Path>) -> Readers {
        let mut readers = Readers::default();
        files.into_iter().for_each(|file| readers.add(file.metadata().ok().as_ref()));
        readers
    }

    /// Returns the users who may read an open file. Everybody may read what comes from a pipe or a device.
    pub fn of_open(file: &File) -> Readers {
        let mut readers = Readers::default();
        if let Some(there) = file.metadata().ok().filter(Metadata::is_file) {
            readers.add(Some(&there));
        }
        readers
    }

    fn add(&mut self, there: Option<&Metadata>) {
        self.files.insert(there.map_or((0, 0), |there| (there.gid(), there.mode() & READ)));
    }

    /// Restricts the set to users who are also in `others`.
    pub fn restrict(&mut self, others: Readers) {
        self.files.extend(others.files);
    }

    /// Removes permissions from a file so that only these users may read it. The owner keeps all permissions.
    ///
    /// # Errors
    /// Returns the operating system's error if the permissions cannot be removed.
    pub fn limit(&self, file: &File) -> io::Result<()> {
        let there = file.metadata()?;
        let (mode, allowed) = (there.mode() & 0o7777, self.allowed(there.gid()));
        if mode & allowed == mode {
            return Ok(());
        }
        file.set_permissions(Permissions::from_mode(mode & allowed))
    }

    /// Returns the permissions that a file of this group may have.
    pub(super) fn allowed(&self, group: u32) -> u32 {
        let mut allowed = 0o7777;
        for &(of_file, bits) in &self.files {
            let is_same = of_file == group;
            // Members of a different group may or may not be in the file's group.
            let has_group = bits & if is_same { GROUP } else { OTHERS } != 0;
            let has_others = bits & OTHERS != 0 && (is_same || bits & GROUP != 0);
            allowed &= if has_group { !0 } else { !GROUP };
            allowed &= if has_others { !0 } else { !OTHERS };
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn allowed(files: &[(u32, u32)], group: u32) -> u32 {
        Readers { files: files.iter().map(|&(of_file, mode)| (of_file, mode & READ)).collect() }.allowed(group) & 0o777
    }

    #[test]
    fn the_least_readable_file_decides() {
        for (files, expected) in [
            (&[][..], 0o777),
            (&[(5, 0o644)], 0o777),
            (&[(5, 0o640)], 0o770),
            (&[(5, 0o600)], 0o700),
            (&[(5, 0o644), (5, 0o640), (5, 0o666)], 0o770),
            (&[(5, 0o644), (5, 0o600)], 0o700),
            // Only permissions to read count.
            (&[(5, 0o622)], 0o700),
            (&[(5, 0o604)], 0o707),
        ] {
            assert_eq!(allowed(files, 5), expected, "{files:?}");
        }
    }

    #[test]
    fn the_group_of_an_output_is_not_the_group_of_a_file() {
        assert_eq!(allowed(&[(5, 0o644)], 6), 0o777);
        // The members of group 6 need not be in group 5.
        assert_eq!(allowed(&[(5, 0o640)], 6), 0o700);
        assert_eq!(allowed(&[(5, 0o640), (6, 0o640)], 6), 0o700);
        // The members of group 5 may not read the file.
        assert_eq!(allowed(&[(5, 0o604)], 6), 0o770);
    }

    #[test]
    fn an_output_loses_only_permissions_that_an_input_lacks() {
        let folder = tempfile::tempdir().expect("a folder");
        let (input, output) = (folder.path().join("in"), folder.path().join("out"));
        for path in [&input, &output] {
            fs::write(path, "x").expect("written");
        }
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&input, &link).expect("a link");
        for (given, made, expected) in [
            (0o600, 0o664, 0o600),
            (0o640, 0o664, 0o660),
            (0o644, 0o664, 0o664),
            (0o444, 0o644, 0o644),
            (0o666, 0o600, 0o600),
        ] {
            fs::set_permissions(&input, Permissions::from_mode(given)).expect("set");
            fs::set_permissions(&output, Permissions::from_mode(made)).expect("set");
            Readers::of([&*link]).limit(&File::open(&output).expect("there")).expect("limited");
            assert_eq!(output.metadata().expect("there").mode() & 0o777, expected, "{given:o} {made:o}");
        }
        fs::set_permissions(&output, Permissions::from_mode(0o666)).expect("set");
        Readers::of([&*folder.path().join("gone")]).limit(&File::open(&output).expect("there")).expect("limited");
        assert_eq!(output.metadata().expect("there").mode() & 0o777, 0o600);
    }
}
