//! Runs the core's start before `main`, on systems whose loader supports it.

/// The loader calls the functions in this section. On systems that sort them by number, this one is
/// behind those of the standard library, which keep the program's arguments, and before those of
/// the program, so that their calls are counted.
#[used]
#[cfg_attr(
    any(target_os = "linux", target_os = "android", target_os = "freebsd"),
    unsafe(link_section = ".init_array.00100")
)]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func,mod_init_funcs"))]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
static START: extern "C" fn() = start;

extern "C" fn start() {
    // A panic must not leave a function called from C.
    let _ = std::panic::catch_unwind(crate::environment::start);
}
