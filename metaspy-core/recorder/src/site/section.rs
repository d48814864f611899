//! The section of the program in which the linker collects sites. [`metaspy_probe::register!`] puts
//! them there.
//!
//! Sites are statics of one layout, and observed and woven ones are side by side in one section, so
//! the arm word is one load for both. They do not register at their first call, because a site that
//! never ran must be listed and armed. The section's name carries the version of the layout. Sites
//! that are made at run time register when they are made, and meet the installed selectors.

use metaspy_probe::Site;

/// The sites that the linker collected, where the linker reports the bounds of a section.
pub fn linked() -> &'static [Site] {
    bounds::section()
}

/// The sites among them.
pub fn linked_sites() -> impl Iterator<Item = &'static Site> {
    linked().iter().filter(|site| !site.is_door())
}

/// The others: each copy of the probe has one, by which it carries causes.
pub fn doors() -> impl Iterator<Item = &'static Site> {
    linked().iter().filter(|site| site.is_door())
}

#[cfg(not(any(
    target_vendor = "apple",
    target_os = "windows",
    target_os = "uefi",
    target_family = "wasm"
)))]
mod bounds {
    //! The section between two symbols of the linker.

    use super::Site;

    // The linker defines the bounds of a section only if the section exists.
    #[used]
    #[unsafe(link_section = "metaspy_site_1")]
    static NONE: [Site; 0] = [];

    unsafe extern "C" {
        #[link_name = "__start_metaspy_site_1"]
        static START: [u8; 0];
        #[link_name = "__stop_metaspy_site_1"]
        static STOP: [u8; 0];
    }

    pub fn section() -> &'static [Site] {
        super::between((&raw const START).cast(), (&raw const STOP).cast())
    }
}

#[cfg(target_vendor = "apple")]
mod bounds {
    //! The section between two symbols of the linker.

    use super::Site;

    // As above.
    #[used]
    #[unsafe(link_section = "__DATA,__metaspy_site_1,regular,no_dead_strip")]
    static NONE: [Site; 0] = [];

    unsafe extern "C" {
        #[link_name = "\u{1}section$start$__DATA$__metaspy_site_1"]
        static START: [u8; 0];
        #[link_name = "\u{1}section$end$__DATA$__metaspy_site_1"]
        static STOP: [u8; 0];
    }

    pub fn section() -> &'static [Site] {
        super::between((&raw const START).cast(), (&raw const STOP).cast())
    }
}

#[cfg(any(target_os = "windows", target_os = "uefi"))]
mod bounds {
    //! No section: this linker has no symbols for its bounds.

    use super::Site;

    // The linker sorts the parts of a section by the text behind the dollar sign.
    #[used]
    #[unsafe(link_section = ".mspy1$a")]
    static START: [Site; 0] = [];
    #[used]
    #[unsafe(link_section = ".mspy1$c")]
    static STOP: [Site; 0] = [];

    pub fn section() -> &'static [Site] {
        super::between((&raw const START).cast(), (&raw const STOP).cast())
    }
}

#[cfg(target_family = "wasm")]
mod bounds {
    //! No section: this linker has no symbols for its bounds.

    use super::Site;

    pub fn section() -> &'static [Site] {
        &[]
    }
}

#[cfg(not(target_family = "wasm"))]
fn between(start: *const Site, stop: *const Site) -> &'static [Site] {
    let length = (stop.addr() - start.addr()) / size_of::<Site>();
    // SAFETY: the linker puts statics of this type between the two, and nothing else is in a
    // section of that name. They are atomics and texts, which any thread may read.
    unsafe { std::slice::from_raw_parts(start, length) }
}
