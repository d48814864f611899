//! `--cobertura`: XML as <http://cobertura.sourceforge.net/xml/coverage-04.dtd> has it. A package is a crate or a module,
//! a class a type in a file, and a line the first one of a method.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::cargo_metaspy::export::lcov::lines;
use crate::cargo_metaspy::results::{Package, Ran, Results, Type, packages, rate};

/// The type of the document.
const DOCTYPE: &str = "coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\"";

type Xml = Writer<Vec<u8>>;

/// The document.
pub fn text(results: &Results) -> Result<String> {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.write_event(Event::DocType(BytesText::from_escaped(DOCTYPE)))?;
    let crates = packages(&results.methods);
    let classes = Class::all(crates.iter().flat_map(Package::all_types));
    let covered = Covered::of(&classes);
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut packages: BTreeMap<&str, Vec<Class<'_>>> = BTreeMap::new();
    for class in classes {
        packages.entry(class.module).or_default().push(class);
    }
    xml.create_element("coverage")
        .with_attributes(attributes(&[
            ("line-rate", covered.rate()),
            ("branch-rate", "0".into()),
            ("lines-covered", covered.hit.to_string()),
            ("lines-valid", covered.lines.to_string()),
            ("branches-covered", "0".into()),
            ("branches-valid", "0".into()),
            ("complexity", covered.complexity()),
            ("version", env!("CARGO_PKG_VERSION").into()),
            ("timestamp", since.as_millis().to_string()),
        ]))
        .write_inner_content(|xml| {
            // What file names are relative to.
            xml.create_element("sources").write_inner_content(|xml| {
                xml.create_element("source").write_text_content(BytesText::new(".")).map(drop)
            })?;
            xml.create_element("packages").write_inner_content(|xml| {
                packages.iter().try_for_each(|(path, classes)| package(xml, path, classes))
            })?;
            Ok(())
        })?;
    Ok(String::from_utf8(xml.into_inner())? + "\n")
}

/// A type in a file.
struct Class<'t> {
    module: &'t str,
    name: String,
    file: &'t str,
    methods: Vec<&'t Ran>,
}

/// How much of something ran.
#[derive(Clone, Copy, Default)]
struct Covered {
    lines: usize,
    hit: usize,
    methods: usize,
    ways: u32,
}

impl<'t> Class<'t> {
    fn all(types: impl IntoIterator<Item = &'t Type<'t>>) -> Vec<Class<'t>> {
        let mut classes: Vec<Class<'t>> = Vec::new();
        for ty in types {
            // Its methods stand in the order of files.
            for methods in ty.methods.chunk_by(|a, b| a.method.file == b.method.file) {
                let file = &methods[0].method.file;
                classes.push(Class { module: &ty.module, name: ty.path(), file, methods: methods.to_vec() });
            }
        }
        classes
    }
}

impl Covered {
    fn of<'c>(classes: impl IntoIterator<Item = &'c Class<'c>>) -> Covered {
        classes.into_iter().fold(Covered::default(), |all, class| {
            let lines = lines(class.methods.iter().copied());
            Covered {
                lines: all.lines + lines.len(),
                hit: all.hit + lines.values().filter(|count| **count > 0).count(),
                methods: all.methods + class.methods.len(),
                ways: all.ways + class.methods.iter().map(|ran| ran.method.complexity).sum::<u32>(),
            }
        })
    }

    fn rate(self) -> String {
        rate(self.hit, self.lines).to_string()
    }

    /// That of a method, on average.
    fn complexity(self) -> String {
        (f64::from(self.ways) / self.methods.max(1) as f64).to_string()
    }
}

fn package(xml: &mut Xml, path: &str, classes: &[Class<'_>]) -> io::Result<()> {
    let element = xml.create_element("package").with_attributes(rated(&[("name", path)], Covered::of(classes)));
    element.write_inner_content(|xml| {
        let element = xml.create_element("classes");
        element.write_inner_content(|xml| classes.iter().try_for_each(|of| class(xml, of))).map(drop)
    })?;
    Ok(())
}

fn class(xml: &mut Xml, class: &Class<'_>) -> io::Result<()> {
    let names = [("name", class.name.as_str()), ("filename", class.file)];
    let element = xml.create_element("class").with_attributes(rated(&names, Covered::of([class])));
    element.write_inner_content(|xml| {
        let element = xml.create_element("methods");
        element.write_inner_content(|xml| class.methods.iter().try_for_each(|ran| method(xml, ran)))?;
        write_lines(xml, &lines(class.methods.iter().copied()))
    })?;
    Ok(())
}

fn method(xml: &mut Xml, ran: &Ran) -> io::Result<()> {
    let path = &ran.method.path;
    let name = path.strip_prefix(&ran.method.module).and_then(|name| name.strip_prefix("::")).unwrap_or(path);
    let hit = usize::from(ran.has_run());
    let covered = Covered { lines: 1, hit, methods: 1, ways: ran.method.complexity };
    let element = xml.create_element("method").with_attributes(rated(&[("name", name), ("signature", "")], covered));
    element.write_inner_content(|xml| write_lines(xml, &lines([ran])))?;
    Ok(())
}

fn write_lines(xml: &mut Xml, lines: &BTreeMap<u32, u64>) -> io::Result<()> {
    let line = |xml: &mut Xml, (number, hits): (&u32, &u64)| {
        let said = attributes(&[("number", number.to_string()), ("hits", hits.to_string())]);
        xml.create_element("line").with_attributes(said).write_empty().map(drop)
    };
    let element = xml.create_element("lines");
    element.write_inner_content(|xml| lines.iter().try_for_each(|of| line(xml, of))).map(drop)
}

fn rated<'a>(names: &[(&'a str, &str)], covered: Covered) -> Vec<(&'a str, Cow<'a, str>)> {
    let rates = [("line-rate", covered.rate()), ("branch-rate", "0".into()), ("complexity", covered.complexity())];
    attributes(names).into_iter().chain(attributes(&rates)).collect()
}

/// XML has no way to write control characters; the writer escapes all else.
fn attributes<'a>(of: &[(&'a str, impl AsRef<str>)]) -> Vec<(&'a str, Cow<'a, str>)> {
    of.iter().map(|(name, value)| (*name, Cow::Owned(value.as_ref().replace(char::is_control, "?")))).collect()
}

#[cfg(test)]
mod tests;
