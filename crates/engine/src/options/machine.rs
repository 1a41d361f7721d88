//! Determines the resource limits imposed by the machine or by the cgroup of this process.

use bytesize::ByteSize;
use dupsift_core::guard::guarded;

/// The maximum number of threads that dupsift starts.
pub(crate) const MAX_THREADS: usize = 1_024;

/// Returns the number of cores that this process may use.
pub fn cores_allowed() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).clamp(1, MAX_THREADS)
}

/// Returns half of the available memory, or 1 GiB if the amount is unknown.
pub(crate) fn half_of_memory_allowed() -> u64 {
    memory_allowed().map_or(ByteSize::gib(1).0, |bytes| (bytes / 2).max(1))
}

/// Returns the memory of the machine or the limit of this process's cgroup, whichever is less, in bytes.
pub fn memory_allowed() -> Option<u64> {
    // The library lists folders in /proc, and panics if one of them cannot be closed.
    guarded(told_by_system).ok().flatten()
}

fn told_by_system() -> Option<u64> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    let machine = Some(system.total_memory()).filter(|&bytes| bytes > 0);
    // The limit may be set on the process's own cgroup (in a service) or on the root cgroup that is visible in a container.
    let own = sysinfo::get_current_pid().ok().and_then(|pid| {
        let nothing = sysinfo::ProcessRefreshKind::nothing();
        system.refresh_processes_specifics(sysinfo::ProcessesToUpdate::Some(&[pid]), false, nothing);
        system.process(pid)?.cgroup_limits()
    });
    let groups = [own, system.cgroup_limits()].into_iter().flatten().map(|limits| limits.total_memory);
    groups.filter(|&bytes| bytes > 0).chain(machine).min()
}
