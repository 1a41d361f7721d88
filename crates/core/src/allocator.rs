//! Configures how much freed memory the allocator keeps and how much it returns to the system.
//!
//! `--memory` limits the memory that the process holds, including freed memory that the allocator has not returned. The GNU allocator
//! returns a separately mapped block as soon as it is freed. It maps blocks of 128 KiB or more separately and raises this threshold as it
//! runs. As a result, the kernel clears the memory of a one-megabyte page again for every page, which took a tenth of the CPU time. With a
//! high threshold, nearly all blocks come from the heaps; a second threshold determines how much free memory at the end of a heap is kept.
//! Thresholds that are set explicitly do not change.
//!
//! Each thread has a heap with its own lock. But a small block that a thread frees is reused by the next allocation on that thread,
//! whichever heap it belongs to, and a block that grows stays in its heap. So a list that starts small and grows from document to
//! document can end up in the heap of another thread for good, and both threads wait for one lock: a stage then took up to twice the CPU
//! time. A list as long as a document is therefore allocated at full size, which places it in the heap of its own thread.

/// Blocks of at least this size are mapped separately. This is the largest value that the allocator accepts.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED: libc::c_int = 32 << 20;

/// Extra bytes by which a heap grows, to save system calls. Unused bytes take no physical memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const GROWN: libc::c_int = 2 << 20;

/// Approximate limit on the free bytes at the ends of all heaps that are not returned to the system.
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

/// Divides the free bytes that may be kept among this many threads; each thread has its own heap.
pub fn for_threads(threads: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    set(libc::M_TRIM_THRESHOLD, (KEPT / threads.max(1)).max(1 << 20) as libc::c_int);
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = threads;
}

/// Returns free memory between used blocks of all heaps to the system. Free memory at the end of a heap is subject to the threshold.
pub fn release() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    trim();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn trim() {
    // SAFETY: malloc_trim takes a plain number and acquires the allocator's locks itself.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn set(parameter: libc::c_int, value: libc::c_int) {
    // If the allocator rejects a threshold, the previous one remains: that costs memory or time but is otherwise harmless. SAFETY: mallopt
    // takes two plain numbers and acquires the allocator's lock itself.
    unsafe {
        libc::mallopt(parameter, value);
    }
}
