//! The library that contains this code, if it is not the program itself.
//!
//! A library that records stays loaded. Handlers that are bound to the library would end with it,
//! but an event may end in a recording that was closed, and its thread may end after the library
//! was closed.

/// Keeps the library loaded for the rest of the process, even if it is closed. Signal handlers,
/// exit handlers, destructors of threads and metaspy's own threads run its code later.
#[cfg(all(unix, not(target_vendor = "apple"), not(target_feature = "crt-static")))]
pub fn stay_loaded() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let here: fn() = stay_loaded;
        // SAFETY: zero is a valid state of the structure, which is owned here and filled with a
        // name that stays as long as the library. Nothing is loaded, and no code of the library
        // runs.
        unsafe {
            let mut library: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(here as *const libc::c_void, &mut library) != 0
                && !library.dli_fname.is_null()
            {
                // In the program itself this has no effect.
                libc::dlopen(
                    library.dli_fname,
                    libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
                );
            }
        }
    });
}

/// Does nothing, because libraries are not unloaded, or there are none.
#[cfg(not(all(unix, not(target_vendor = "apple"), not(target_feature = "crt-static"))))]
pub fn stay_loaded() {}
