//! Loads a library, calls it on a thread that ends, and closes it, a few times.

use std::ffi::{CString, c_void};

fn main() {
    let path =
        std::env::args().nth(1).and_then(|path| CString::new(path).ok()).expect("the library");
    for _ in 0..3 {
        // SAFETY: the library is built beside this program.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null());
        // SAFETY: the library is open, and the name ends with a zero.
        let run = unsafe { libc::dlsym(library, c"run".as_ptr()) };
        assert!(!run.is_null());
        // SAFETY: the library has a function of this type by this name.
        let run = unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> u64>(run) };
        let calls = std::thread::spawn(move || run()).join().expect("it ends");
        // SAFETY: no code of the library is called from here on.
        let error = unsafe { libc::dlclose(library) };
        println!("{calls} calls, {error}");
    }
}
