//! Cobertura's XML, as <http://cobertura.sourceforge.net/xml/coverage-04.dtd> defines it. A package
//! is a crate or a module, a class is a type in a file, and a line is the first line of a method.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::time::{SystemTime, UNIX_EPOCH};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::lcov::lines;
use super::{Exporter, Written, printable};
use crate::coverage::Run;
use crate::program::{Element, Method, Of, Program, rate};

/// The type of the document.
const DOCTYPE: &str = "coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\"";

type Xml<'o> = Writer<&'o mut dyn io::Write>;

/// The format of `--cobertura`.
#[derive(Debug)]
pub struct Cobertura;

impl Exporter<Run> for Cobertura {
    fn export(&self, run: &Run, out: &mut dyn io::Write) -> io::Result<Written> {
        let mut xml = Writer::new_with_indent(out, b' ', 2);
        xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        xml.write_event(Event::DocType(BytesText::from_escaped(DOCTYPE)))?;
        let classes = Class::all(&run.program);
        let covered = Covered::of(&classes);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let mut packages: BTreeMap<&str, Vec<Class<'_>>> = BTreeMap::new();
        for class in classes {
            packages.entry(class.package).or_default().push(class);
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
                // File names are relative to this directory.
                xml.create_element("sources").write_inner_content(|xml| {
                    xml.create_element("source").write_text_content(BytesText::new(".")).map(drop)
                })?;
                xml.create_element("packages").write_inner_content(|xml| {
                    packages.iter().try_for_each(|(path, classes)| package(xml, path, classes))
                })?;
                Ok(())
            })?;
        writeln!(xml.into_inner())?;
        Ok(Written::default())
    }
}

/// A type in a file.
struct Class<'p> {
    package: &'p str,
    name: &'p str,
    file: &'p str,
    methods: Vec<(&'p Element, &'p Method)>,
}

/// How much of something ran.
#[derive(Clone, Copy, Default)]
struct Covered {
    lines: usize,
    hit: usize,
    methods: usize,
    complexity: u64,
}

impl<'p> Class<'p> {
    fn all(program: &'p Program) -> Vec<Class<'p>> {
        let mut classes: Vec<Class<'p>> = Vec::new();
        for (at, ty) in program.elements.iter().enumerate() {
            if !matches!(ty.of, Of::Type { .. } | Of::Functions) {
                continue;
            }
            let package = ty.under.map_or("", |under| program.elements[under].path_text());
            let mut files: BTreeMap<&str, Vec<(&Element, &Method)>> = BTreeMap::new();
            for (element, method) in
                program.methods_of(at).filter(|(_, method)| method.is_counted())
            {
                files.entry(&method.site.file).or_default().push((element, method));
            }
            let of = |(file, methods)| Class { package, name: ty.path_text(), file, methods };
            classes.extend(files.into_iter().map(of));
        }
        classes
    }

    fn lines(&self) -> BTreeMap<u32, u64> {
        lines(
            self.methods
                .iter()
                .map(|(element, method)| (method.site.lines.0, element.measure.count)),
        )
    }
}

impl Covered {
    fn of<'p: 'c, 'c>(classes: impl IntoIterator<Item = &'c Class<'p>>) -> Covered {
        classes.into_iter().fold(Covered::default(), |all, class| {
            let lines = class.lines();
            let complexity = class.methods.iter().filter_map(|(_, method)| method.complexity());
            Covered {
                lines: all.lines + lines.len(),
                hit: all.hit + lines.values().filter(|count| **count > 0).count(),
                methods: all.methods + class.methods.len(),
                complexity: all.complexity + complexity.map(u64::from).sum::<u64>(),
            }
        })
    }

    fn rate(self) -> String {
        rate(self.hit as u64, self.lines as u64).to_string()
    }

    /// The average of the methods.
    fn complexity(self) -> String {
        (self.complexity as f64 / self.methods.max(1) as f64).to_string()
    }
}

fn package(xml: &mut Xml<'_>, path: &str, classes: &[Class<'_>]) -> io::Result<()> {
    let element = xml
        .create_element("package")
        .with_attributes(rated(&[("name", path)], Covered::of(classes)));
    element.write_inner_content(|xml| {
        let element = xml.create_element("classes");
        element
            .write_inner_content(|xml| classes.iter().try_for_each(|of| class(xml, of)))
            .map(drop)
    })?;
    Ok(())
}

fn class(xml: &mut Xml<'_>, class: &Class<'_>) -> io::Result<()> {
    let names = [("name", class.name), ("filename", class.file)];
    let element = xml.create_element("class").with_attributes(rated(&names, Covered::of([class])));
    element.write_inner_content(|xml| {
        let element = xml.create_element("methods");
        element
            .write_inner_content(|xml| class.methods.iter().try_for_each(|of| method(xml, *of)))?;
        write_lines(xml, &class.lines())
    })?;
    Ok(())
}

fn method(xml: &mut Xml<'_>, (element, method): (&Element, &Method)) -> io::Result<()> {
    let path = &method.site.path;
    let name = method.site.module_and_name().map_or(path.as_str(), |(_, name)| name);
    let executions = element.measure.count;
    let complexity = method.complexity().unwrap_or(0).into();
    let covered = Covered { lines: 1, hit: usize::from(executions > 0), methods: 1, complexity };
    let element = xml
        .create_element("method")
        .with_attributes(rated(&[("name", name), ("signature", "")], covered));
    let lines = lines([(method.site.lines.0, executions)]);
    element.write_inner_content(|xml| write_lines(xml, &lines))?;
    Ok(())
}

fn write_lines(xml: &mut Xml<'_>, lines: &BTreeMap<u32, u64>) -> io::Result<()> {
    let line = |xml: &mut Xml<'_>, (number, hits): (&u32, &u64)| {
        let values = attributes(&[("number", number.to_string()), ("hits", hits.to_string())]);
        xml.create_element("line").with_attributes(values).write_empty().map(drop)
    };
    let element = xml.create_element("lines");
    element.write_inner_content(|xml| lines.iter().try_for_each(|of| line(xml, of))).map(drop)
}

fn rated<'a>(names: &[(&'a str, &str)], covered: Covered) -> Vec<(&'a str, Cow<'a, str>)> {
    let rates = [
        ("line-rate", covered.rate()),
        ("branch-rate", "0".into()),
        ("complexity", covered.complexity()),
    ];
    attributes(names).into_iter().chain(attributes(&rates)).collect()
}

fn attributes<'a>(of: &[(&'a str, impl AsRef<str>)]) -> Vec<(&'a str, Cow<'a, str>)> {
    of.iter().map(|(name, value)| (*name, Cow::Owned(printable(value.as_ref())))).collect()
}

#[cfg(test)]
mod tests;
