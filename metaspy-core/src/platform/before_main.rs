//! Runs the core's start before `main`, on systems whose loader supports it.

/// The loader calls the functions in this section.
#[used]
#[cfg_attr(
    any(target_os = "linux", target_os = "android", target_os = "freebsd"),
    unsafe(link_section = ".init_array")
)]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func,mod_init_funcs"))]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
static START: extern "C" fn() = start;

extern "C" fn start() {
    // A panic must not leave a function called from C.
    let _ = std::panic::catch_unwind(crate::environment::start);
}
