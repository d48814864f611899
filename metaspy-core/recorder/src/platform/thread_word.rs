//! A word of each thread, read by two instructions that keep all registers. Hooks find their lane
//! by such a word.
//!
//! To the compiler, the address of a thread-local is the result of a call in every package that may
//! become a library, so a function that reads one first saves its registers. On x86-64 Linux with
//! glibc the word is instead at a fixed distance from the thread pointer, as the *initial-exec*
//! model has it (Drepper, "ELF Handling For Thread-Local Storage", section 4.3). It takes 8 bytes
//! of the room that glibc keeps for libraries that are loaded later.

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri)))]
mod word {
    //! By assembly.

    use core::arch::{asm, global_asm};

    // Hidden: each program or library with a copy of this package has its own.
    global_asm!(
        ".pushsection .tbss.metaspy_thread_word,\"awT\",@nobits",
        ".globl metaspy_thread_word",
        ".hidden metaspy_thread_word",
        ".type metaspy_thread_word, @object",
        ".size metaspy_thread_word, 8",
        ".p2align 3",
        "metaspy_thread_word:",
        ".zero 8",
        ".popsection",
    );

    #[inline(always)]
    pub fn get<T>() -> *const T {
        let word;
        // SAFETY: the linker resolves the symbol to the distance of a word that every thread has.
        unsafe {
            asm!(
                "mov {0}, qword ptr [rip + metaspy_thread_word@GOTTPOFF]",
                "mov {0}, qword ptr fs:[{0}]",
                out(reg) word,
                options(readonly, nostack, preserves_flags),
            );
        }
        word
    }

    #[inline]
    pub fn set<T>(word: *const T) {
        // SAFETY: as above; only this thread reaches its word.
        unsafe {
            asm!(
                "mov {1}, qword ptr [rip + metaspy_thread_word@GOTTPOFF]",
                "mov qword ptr fs:[{1}], {0}",
                in(reg) word,
                out(reg) _,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu", not(miri))))]
mod word {
    //! By a thread-local.

    use std::cell::Cell;
    use std::ptr::null;

    thread_local! {
        static WORD: Cell<*const ()> = const { Cell::new(null()) };
    }

    #[inline(always)]
    pub fn get<T>() -> *const T {
        WORD.with(Cell::get).cast()
    }

    #[inline]
    pub fn set<T>(word: *const T) {
        WORD.with(|own| own.set(word.cast()));
    }
}

/// The word of this thread; null until it is set.
pub use word::get;
/// Sets the word of this thread.
pub use word::set;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_word() {
        let numbers = [1_u64, 2];
        let own = |number: &'static u64| {
            assert!(get::<u64>().is_null());
            set(number);
            std::thread::yield_now();
            get::<u64>().addr() == std::ptr::from_ref(number).addr()
        };
        let numbers: &'static [u64; 2] = Box::leak(Box::new(numbers));
        let threads = numbers.each_ref().map(|number| std::thread::spawn(move || own(number)));
        assert!(threads.into_iter().all(|thread| thread.join().expect("it returns")));
    }
}
