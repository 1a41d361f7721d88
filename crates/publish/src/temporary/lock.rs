//! Allows only one run at a time. The lock is a file that a running process keeps locked and that contains the process id and the host
//! name.
//!
//! The system releases a lock when its process ends for any reason, so a free lock means that the previous run is over. Some file systems
//! do not support locks. On such a file system, the file is still written, but every run assumes that it is the only one.
//!
//! Only the holder of the lock removes the file. A process may open the file before it is removed and lock it afterward; that process then
//! detects that the file was deleted, and starts over.

use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::place::work_files::LOCK;
use dupsift_core::safe_fs::private;

/// The number of attempts to take a lock that another process holds; that process may only be checking the lock.
const ATTEMPTS: usize = 20;
/// The time between retries.
const A_MOMENT: Duration = Duration::from_millis(10);
/// The maximum size of a lock file. A larger file with this name is not a lock file.
const MOST_BYTES: u64 = 1 << 16;

/// Identifies the process that holds the lock or held it last, as written in the lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Owner {
    process: u32,
    host: String,
    /// The folder of the owner's temporary files, if it differs from the locked folder.
    pub work: Option<PathBuf>,
}

impl Owner {
    /// Returns an owner that identifies this process.
    pub(crate) fn here(work: Option<&Path>) -> Owner {
        let host = sysinfo::System::host_name().unwrap_or_default();
        // A path that is not UTF-8 cannot be stored as text, so a later run finds the folder only if its `--work` option has the same
        // value.
        let work = work.filter(|work| work.to_str().is_some()).map(Path::to_path_buf);
        Owner { process: std::process::id(), host, work }
    }

    /// Returns whether the owner is another process running on this machine.
    pub(crate) fn lives_here(&self) -> bool {
        let here = Owner::here(None);
        self.host == here.host && self.process != here.process && is_alive(self.process)
    }

    fn read(mut file: &File) -> Owner {
        let mut text = String::new();
        let read = io::Seek::rewind(&mut file).and_then(|()| file.take(MOST_BYTES).read_to_string(&mut text));
        // A process that is killed while writing may leave an incomplete file.
        read.ok().and_then(|_| serde_json::from_str(&text).ok()).unwrap_or_default()
    }
}

/// Returns whether a process with this id exists, also if it belongs to another user.
fn is_alive(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_some_and(|process| test_kill_process(process) != Err(Errno::SRCH))
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.process, &*self.host) {
            (0, _) => f.write_str("its process is unknown"),
            (process, "") => write!(f, "process {process}"),
            (process, host) => write!(f, "process {process} on {host}"),
        }
    }
}

/// A lock held by this process; dropping the value releases it.
#[derive(Debug)]
pub(crate) struct Lock {
    folder: PathBuf,
    file: File,
    /// Whether the file system supports locks.
    pub known: bool,
    /// Whether the folder was created for this lock.
    pub made: bool,
    /// The previous content of the lock file.
    pub before: Owner,
}

/// The result of requesting a lock.
#[derive(Debug)]
pub(crate) enum Asked {
    Mine(Lock),
    /// A running process holds the lock.
    Theirs(Owner),
    /// Other users can access the folder; the string describes how.
    Refused(String),
}

impl Lock {
    /// Locks a folder, creating it if needed; its parent folder must exist.
    ///
    /// # Errors
    /// Returns the I/O error, for example if the lock file is a link or not a regular file.
    pub(crate) fn take(folder: &Path) -> io::Result<Asked> {
        let path = folder.join(LOCK);
        let mut last = Owner::default();
        let mut made = false;
        for _ in 0..ATTEMPTS {
            match private::make(folder) {
                Ok(()) => made = true,
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                Err(_) => {}
            }
            match private::refusal(folder) {
                Ok(None) => {}
                Ok(Some(why)) => return Ok(Asked::Refused(why)),
                // The folder belonged to another run and was deleted in the meantime; it is created again.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            }
            let file = match private::open_or_create(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            match locking(file.try_lock())? {
                Locking::Held => {
                    last = Owner::read(&file);
                    std::thread::sleep(A_MOMENT);
                }
                taken if is_at(&file, &path) => {
                    let (known, before) = (taken == Locking::Taken, Owner::read(&file));
                    return Ok(Asked::Mine(Lock { folder: folder.to_path_buf(), file, known, made, before }));
                }
                // The lock file was removed in the meantime.
                _ => {}
            }
        }
        Ok(Asked::Theirs(last))
    }

    /// Returns the process that currently holds the lock on a folder. If `probes` is set, briefly creates a subfolder to check whether the
    /// file system enforces permissions. If `probes` is not set, returns `None` for a folder on a file system that does not enforce
    /// permissions.
    pub(crate) fn holder(folder: &Path, probes: bool) -> Option<Owner> {
        if probes {
            private::refusal(folder).ok()?;
        }
        let file = private::open(&folder.join(LOCK)).ok()?;
        matches!(locking(file.try_lock_shared()), Ok(Locking::Held)).then(|| Owner::read(&file))
    }

    /// Records the owner in the lock file.
    ///
    /// # Errors
    /// Returns the I/O error.
    pub(crate) fn sign(&self, owner: &Owner) -> io::Result<()> {
        let text = serde_json::to_vec(owner)?;
        self.file.set_len(0)?;
        io::Seek::rewind(&mut &self.file)?;
        (&self.file).write_all(&text)
    }

    /// Returns the id of the user who owns the files that this process creates in the folder.
    pub(crate) fn user(&self) -> io::Result<u32> {
        Ok(self.file.metadata()?.uid())
    }

    /// Returns the locked folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// The result of an attempt to lock a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    /// This process holds the lock.
    Taken,
    /// Another process holds the lock.
    Held,
    /// The file system does not support locks.
    Unknown,
}

/// Interprets the result of a lock request. On a file system that does not support locks, no process holds a lock.
///
/// # Errors
/// Returns any error that does not indicate whether the lock is held.
pub fn locking(answer: std::result::Result<(), TryLockError>) -> io::Result<Locking> {
    match answer {
        Ok(()) => Ok(Locking::Taken),
        Err(TryLockError::WouldBlock) => Ok(Locking::Held),
        Err(TryLockError::Error(error)) => {
            let number = error.raw_os_error();
            let unknown = [libc::ENOLCK, libc::EINVAL, libc::ENOSYS, libc::EOPNOTSUPP, libc::ENOTSUP];
            if error.kind() == ErrorKind::Unsupported || number.is_some_and(|number| unknown.contains(&number)) {
                tracing::debug!("the file system does not support locks: {error}");
                return Ok(Locking::Unknown);
            }
            Err(error)
        }
    }
}

/// Returns whether the open file is still at the path. The previous holder may have removed the file, and a new file may have replaced it.
pub fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn mine(folder: &Path) -> Lock {
        match Lock::take(folder).expect("no failure") {
            Asked::Mine(lock) => lock,
            Asked::Theirs(owner) => panic!("{owner} holds it"),
            Asked::Refused(why) => panic!("{why}"),
        }
    }

    #[test]
    fn one_at_a_time_and_the_other_learns_who() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("work");
        assert_eq!(Lock::holder(&folder, true), None);
        let lock = mine(&folder);
        assert!(lock.made && lock.known && lock.before == Owner::default());
        let said = |asked: Asked| match asked {
            Asked::Theirs(owner) => owner.to_string(),
            Asked::Mine(_) => panic!("two hold it"),
            Asked::Refused(why) => panic!("{why}"),
        };
        assert_eq!(said(Lock::take(&folder).expect("asked")), "its process is unknown");
        lock.sign(&Owner::here(Some(Path::new("/longer/than/the/next")))).expect("written");
        lock.sign(&Owner::here(None)).expect("written");
        let owner = said(Lock::take(&folder).expect("asked"));
        assert!(owner.starts_with(&format!("process {}", std::process::id())), "{owner}");
        assert_eq!(Lock::holder(&folder, true), Some(Owner::here(None)));
        drop(lock);
        assert_eq!(Lock::holder(&folder, true), None);
        let again = mine(&folder);
        assert!(!again.made && again.before == Owner::here(None));
    }

    #[test]
    fn of_many_that_take_and_remove_one_holds_it_at_a_time() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = place.path().join("work");
        let (inside, most) = (std::sync::atomic::AtomicUsize::new(0), std::sync::atomic::AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        let Asked::Mine(lock) = Lock::take(&folder).expect("asked") else { continue };
                        most.fetch_max(
                            1 + inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst),
                            std::sync::atomic::Ordering::SeqCst,
                        );
                        std::thread::sleep(Duration::from_micros(50));
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        fs::remove_file(lock.folder().join(LOCK)).expect("removed");
                        let _ = fs::remove_dir(lock.folder());
                    }
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }

    #[test]
    fn a_process_lives_until_it_ends_whoever_owns_it() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("started");
        let owner = Owner { process: child.id(), ..Owner::here(None) };
        assert!(owner.lives_here());
        assert!(!Owner { host: "another machine".into(), ..owner.clone() }.lives_here());
        child.kill().and_then(|()| child.wait()).expect("ended");
        assert!(!owner.lives_here());
        // The first process belongs to the system, so an ordinary user may not signal it.
        assert!(is_alive(1) && !Owner::here(None).lives_here());
        for none in [0, i32::MAX as u32, u32::MAX] {
            assert!(!is_alive(none), "{none}");
        }
    }

    #[test]
    fn a_file_system_without_locks_holds_none() {
        for number in [libc::ENOSYS, libc::EOPNOTSUPP, libc::ENOLCK, libc::EINVAL] {
            let answer = Err(TryLockError::Error(io::Error::from_raw_os_error(number)));
            assert_eq!(locking(answer).expect("no failure"), Locking::Unknown, "{number}");
        }
        let broken = Err(TryLockError::Error(io::Error::from_raw_os_error(libc::EIO)));
        assert_eq!(locking(broken).expect_err("a failure").raw_os_error(), Some(libc::EIO));
        assert_eq!(locking(Err(TryLockError::WouldBlock)).expect("no failure"), Locking::Held);
    }

    #[test]
    fn links_and_files_of_the_users_are_not_written_to() {
        let place = tempfile::tempdir().expect("a folder");
        let at = |name: &str| place.path().join(name);
        fs::write(at("file"), b"user").expect("a file");
        fs::create_dir_all(at("mine")).expect("a folder");
        fs::create_dir_all(at("work")).expect("a folder");
        std::os::unix::fs::symlink(at("mine"), at("link")).expect("a link");
        std::os::unix::fs::symlink(at("file"), at("work/lock")).expect("a link");
        for name in ["file", "link", "work"] {
            assert!(matches!(Lock::take(&at(name)), Err(_) | Ok(Asked::Refused(_))), "{name}");
        }
        assert_eq!(Lock::holder(&at("work"), true), None);
        assert_eq!(
            (fs::read(at("file")).expect("there"), fs::read_dir(at("mine")).expect("there").count()),
            (b"user".to_vec(), 0)
        );
    }
}
