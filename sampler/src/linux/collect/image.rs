//! Code file as an unwinder needs it: its segments and its unwinding tables.

use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use framehop::ExplicitModuleSectionInfo;
use metaspy_reader::files;
use object::read::ReadCache;
use object::{Object, ObjectSection, ObjectSegment, ReadRef, SegmentFlags, elf};

/// Segments and unwinding tables of a code file.
pub struct Image {
    segments: Vec<Segment>,
    sections: Sections,
}

#[derive(Clone, Copy)]
struct Segment {
    offset: u64,
    size: u64,
    address: u64,
}

/// Unwinding tables, which clones share.
#[derive(Clone, Default)]
struct Sections {
    text: Option<Range<u64>>,
    got: Option<Range<u64>>,
    eh_frame: Option<(Range<u64>, Bytes)>,
    eh_frame_hdr: Option<(Range<u64>, Bytes)>,
    debug_frame: Option<Bytes>,
}

/// Reference-counted bytes of a section.
#[derive(Clone, Default)]
pub struct Bytes(Arc<[u8]>);

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl Image {
    /// Reads a file. Returns `None` if it has no code for this machine.
    pub fn read(path: &Path) -> Option<Image> {
        let cache = ReadCache::new(files::open(path).ok()?);
        Image::parse(&object::File::parse(&cache).ok()?)
    }

    /// Reads the vDSO, the kernel's code in every process. The copy in this process is the same as
    /// all others.
    pub(crate) fn vdso() -> Option<Image> {
        let bytes = crate::vdso::bytes()?;
        Image::parse(&object::File::parse(&*bytes).ok()?)
    }

    fn parse<'a, R: ReadRef<'a>>(file: &object::File<'a, R>) -> Option<Image> {
        let segment = |segment: object::Segment<'a, '_, R>| {
            let (offset, size) = segment.file_range();
            Segment { offset, size, address: segment.address() }
        };
        // A page of the file may contain both code and data.
        let is_code = |segment: &object::Segment<'a, '_, R>| match segment.flags() {
            SegmentFlags::Elf { p_flags, .. } => p_flags.0 & elf::PF_X.0 != 0,
            _ => false,
        };
        let segments: Vec<Segment> = file.segments().filter(is_code).map(segment).collect();
        let range = |name: &str| {
            let section = file.section_by_name(name)?;
            Some(section.address()..section.address().checked_add(section.size())?)
        };
        let bytes = |name: &str| {
            let data = file.section_by_name(name)?.uncompressed_data().ok()?;
            (!data.is_empty()).then(|| Bytes(Arc::from(&*data)))
        };
        let sections = Sections {
            text: range(".text"),
            got: range(".got"),
            eh_frame: range(".eh_frame").zip(bytes(".eh_frame")),
            eh_frame_hdr: range(".eh_frame_hdr").zip(bytes(".eh_frame_hdr")),
            debug_frame: bytes(".debug_frame"),
        };
        (!segments.is_empty()).then_some(Image { segments, sections })
    }

    /// Computes the distance from addresses in the file to addresses in a process that maps the
    /// part at `offset` to `start`.
    pub(crate) fn bias(&self, start: u64, offset: u64) -> Option<u64> {
        // Mappings begin at page boundaries, but segments begin anywhere in a page.
        let segment = self.segments.iter().rev().find(|segment| {
            let first = segment.offset & !0xFFF;
            (first..segment.offset.saturating_add(segment.size).max(first + 1)).contains(&offset)
        })?;
        Some(start.wrapping_sub(offset).wrapping_add(segment.offset).wrapping_sub(segment.address))
    }

    /// Returns the tables in the form that the unwinder takes.
    pub fn unwinding(&self) -> ExplicitModuleSectionInfo<Bytes> {
        let sections = self.sections.clone();
        let (eh_frame_svma, eh_frame) = sections.eh_frame.unzip();
        let (eh_frame_hdr_svma, eh_frame_hdr) = sections.eh_frame_hdr.unzip();
        ExplicitModuleSectionInfo {
            text_svma: sections.text,
            got_svma: sections.got,
            eh_frame_svma,
            eh_frame,
            eh_frame_hdr_svma,
            eh_frame_hdr,
            debug_frame: sections.debug_frame,
            ..ExplicitModuleSectionInfo::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_a_process_is_found_in_its_file() {
        let segments = vec![
            Segment { offset: 0, size: 0x900, address: 0 },
            Segment { offset: 0x950, size: 0x800, address: 0x1950 },
        ];
        let image = Image { segments, sections: Sections::default() };
        // The second segment is mapped from the page of its offset on.
        assert_eq!(
            image.bias(0x7000_1000, 0),
            Some(0x7000_1000 - 0x1000),
            "the later segment wins its page"
        );
        assert_eq!(image.bias(0x7000_2000, 0x1000), Some(0x7000_0000));
        assert_eq!(image.bias(0x7000_2000, 0x9_0000), None);
    }

    #[test]
    fn this_program_has_tables_and_the_kernel_maps_code() {
        let own = Image::read(&std::env::current_exe().expect("a program has a path"))
            .expect("it has code");
        assert!(own.sections.eh_frame.is_some() && own.sections.text.is_some());
        assert!(Image::vdso().is_some());
        assert!(Image::read(Path::new("/proc/self/maps")).is_none());
    }
}
