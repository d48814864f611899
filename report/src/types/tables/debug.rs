//! Tables in debug information: the compiler describes each as a variable,
//! `<a::Circle as a::Shape>::{vtable}`.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use gimli::{AttributeValue, DwarfSections, EndianSlice, Operation, RunTimeEndian};
use object::{Object, ObjectSection};

use super::implementing;

type Reader<'d> = EndianSlice<'d, RunTimeEndian>;

/// The types behind these addresses, as far as debug information has them.
pub(super) fn types<'d>(
    file: &impl Object<'d>,
    wanted: &BTreeSet<u64>,
) -> gimli::Result<HashMap<u64, String>> {
    let mut found = HashMap::new();
    let load = |id: gimli::SectionId| -> gimli::Result<Cow<'d, [u8]>> {
        let section = file.section_by_name(id.name());
        Ok(section.and_then(|section| section.uncompressed_data().ok()).unwrap_or_default())
    };
    let sections = DwarfSections::load(load)?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
    let mut units = dwarf.units();
    while let Some(header) = units.next()? {
        if found.len() == wanted.len() {
            break;
        }
        // A damaged unit hides no other.
        let Ok(unit) = dwarf.unit(header) else { continue };
        let _ = in_unit(&dwarf, &unit, wanted, &mut found);
    }
    Ok(found)
}

fn in_unit<'d>(
    dwarf: &gimli::Dwarf<Reader<'d>>,
    unit: &gimli::Unit<Reader<'d>>,
    wanted: &BTreeSet<u64>,
    found: &mut HashMap<u64, String>,
) -> gimli::Result<()> {
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != gimli::DW_TAG_variable {
            continue;
        }
        let Some(AttributeValue::Exprloc(place)) = entry.attr_value(gimli::DW_AT_location) else {
            continue;
        };
        let Some(address) = address(unit, place) else { continue };
        if !wanted.contains(&address) {
            continue;
        }
        let Some(name) = entry.attr_value(gimli::DW_AT_name) else { continue };
        let name = dwarf.attr_string(unit, name)?;
        let name = name.to_string_lossy();
        if name.ends_with("::{vtable}")
            && let Some(name) = implementing(&name)
        {
            found.insert(address, name);
        }
    }
    Ok(())
}

/// The address of a variable that stays at one place.
fn address(unit: &gimli::Unit<Reader<'_>>, place: gimli::Expression<Reader<'_>>) -> Option<u64> {
    match place.operations(unit.encoding()).next().ok()?? {
        Operation::Address { address } => Some(address),
        _ => None,
    }
}
