//! Configures how much freed memory the allocator keeps and how much it returns to the system.
//!
//! `--memory` limits the memory that the process holds, including freed memory that the allocator has not returned. The GNU allocator
//! returns a separately mapped block as soon as it is freed. The allocator maps blocks of 128 KiB or more separately and raises this
//! threshold while the program runs. With these defaults, the kernel clears memory for every one-megabyte page of a file, and clearing took
//! a tenth of the CPU time in measurements. With a high threshold, nearly all blocks come from the heaps. A second threshold determines how
//! much free memory is kept at the end of each heap. The allocator does not change thresholds that are set explicitly.
//!
//! Each thread has a heap with its own lock. However, a small block that a thread frees is reused by the next allocation on that thread,
//! even if the block belongs to a different heap, and a block that grows stays in its heap. As a result, a list that starts small and grows
//! from document to document can remain in the heap of another thread. Both threads then wait for the same lock, which doubled the CPU time
//! of a stage in the worst case. Therefore, a list that may become as long as a document is allocated at full size, which places it in the
//! heap of its own thread.

/// The minimum size, in bytes, of blocks that are mapped separately. This is the largest value that the allocator accepts.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED: libc::c_int = 32 << 20;

/// The number of extra bytes by which a heap grows, to reduce system calls. Unused bytes take no physical memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const GROWN: libc::c_int = 2 << 20;

/// The approximate total number of free bytes that are kept at the ends of all heaps instead of being returned to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: usize = 64 << 20;

/// Sets the thresholds. Call this before any thread starts. Does nothing with other allocators.
pub fn set_up() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        set(libc::M_MMAP_THRESHOLD, MAPPED);
        set(libc::M_TOP_PAD, GROWN);
        for_threads(1);
    }
}

/// Sets how many free bytes may be kept at the end of each heap: the total, divided by this number of threads. Each thread has its own
/// heap.
pub fn for_threads(threads: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    set(libc::M_TRIM_THRESHOLD, (KEPT / threads.max(1)).max(1 << 20) as libc::c_int);
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = threads;
}

/// Returns the free memory between the used blocks of all heaps to the system. Free memory at the end of a heap is subject to the
/// threshold.
pub fn release() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    trim();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn trim() {
    // SAFETY: the argument of malloc_trim is a plain number, and the function acquires the allocator's locks itself.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn set(parameter: libc::c_int, value: libc::c_int) {
    // If the allocator rejects a threshold, the previous threshold remains in effect, which may cost memory or time but is otherwise
    // harmless. SAFETY: the arguments of mallopt are two plain numbers, and the function acquires the allocator's lock itself.
    unsafe {
        libc::mallopt(parameter, value);
    }
}
