//! The woven sites that the linker collected.

use metaspy_probe::Woven;

/// All of them, where the linker can say where a section begins and ends.
pub fn all() -> &'static [Woven] {
    bounds::section()
}

#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_vendor = "apple"))]
mod bounds {
    use super::Woven;

    // The linker knows the bounds of a section only if there is one.
    #[used]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "metaspy_woven"))]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__metaspy_woven"))]
    static NONE: [Woven; 0] = [];

    unsafe extern "C" {
        #[cfg_attr(not(target_vendor = "apple"), link_name = "__start_metaspy_woven")]
        #[cfg_attr(target_vendor = "apple", link_name = "\u{1}section$start$__DATA$__metaspy_woven")]
        static START: [u8; 0];
        #[cfg_attr(not(target_vendor = "apple"), link_name = "__stop_metaspy_woven")]
        #[cfg_attr(target_vendor = "apple", link_name = "\u{1}section$end$__DATA$__metaspy_woven")]
        static STOP: [u8; 0];
    }

    pub fn section() -> &'static [Woven] {
        let (start, stop) = ((&raw const START).cast::<Woven>(), (&raw const STOP).cast::<Woven>());
        let length = (stop.addr() - start.addr()) / size_of::<Woven>();
        // SAFETY: the linker puts statics of this type between the two, and nothing else stands in that section. They
        // are atomics and texts, which anybody may read.
        unsafe { std::slice::from_raw_parts(start, length) }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd", target_vendor = "apple")))]
mod bounds {
    use super::Woven;

    pub fn section() -> &'static [Woven] {
        &[]
    }
}
