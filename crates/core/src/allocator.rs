//! What the allocator keeps for later and what it gives back to the system.
//!
//! The promise of `--memory` is about what the process has of the system, not about what it uses of that. The GNU
//! allocator gives a block that it has mapped by itself back as soon as it is freed. It maps blocks from 128 KiB on, and
//! raises that bound as it goes: so a page of a megabyte is cleared by the kernel anew each time, which was a tenth of all
//! work. Blocks below a high bound come out of its heaps, and what is free at the end of a heap is given back above a bound
//! of its own. Bounds that are set stay as they are.
//!
//! Each thread has a heap with a lock of its own, but a small block that it frees goes to the next who asks on this thread, whichever
//! heap it is of; and a block that grows does so in the heap where it is. So a list that begins small and grows, document after document,
//! may come to lie in the heap of another thread for good, and both wait for one lock: a stage then took up to twice the CPU. A list of the
//! size of a document is made with all its room at once, which is then in the heap of its thread.

/// Blocks of so many bytes are mapped one by one: the most that this allocator takes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED: libc::c_int = 32 << 20;

/// A heap grows by so many bytes more than it has to: each time is a call to the system. What is not used takes no memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const GROWN: libc::c_int = 2 << 20;

/// Free bytes at the end of all heaps together that are not given back, about.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT: usize = 64 << 20;

/// Sets the bounds, for a program that has not started any thread yet. Does nothing where the allocator is another one.
pub fn set_up() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        set(libc::M_MMAP_THRESHOLD, MAPPED);
        set(libc::M_TOP_PAD, GROWN);
        for_threads(1);
    }
}

/// Divides what may be kept by so many threads, each of which has a heap.
pub fn for_threads(threads: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    set(libc::M_TRIM_THRESHOLD, (KEPT / threads.max(1)).max(1 << 20) as libc::c_int);
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = threads;
}

/// Gives back what is free in all heaps between what is used. What is free at the end of a thread's heap is left to the bound.
pub fn release() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    trim();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn trim() {
    // SAFETY: malloc_trim takes a plain number and the locks of the allocator.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn set(parameter: libc::c_int, value: libc::c_int) {
    // A bound that is refused stays what it was: that costs memory or time, but nothing is wrong.
    // SAFETY: mallopt takes two plain numbers and the lock of the allocator.
    unsafe {
        libc::mallopt(parameter, value);
    }
}
