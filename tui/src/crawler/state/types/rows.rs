//! Rows of the screen of types, in four parts.

use std::cmp::Reverse;

use metaspy_probe::SiteId;
use metaspy_report::text::{counted, duration, grouped, percent};
use metaspy_report::types::{MethodTypes, Shape, Target, Types, ValueTypes};

use super::TypeRow;

/// Builds all rows. `site` finds a method by its path and its first line.
pub fn rows(types: &Types, site: impl Fn(&str, u32) -> Option<SiteId>) -> Vec<TypeRow> {
    let by_path = |path: &str| {
        let method = types.methods.iter().find(|method| method.path == path)?;
        site(path, method.line)
    };
    let mut rows = Vec::new();
    arrived(types, &site, &mut rows);
    calls(&types.call_sites(), &by_path, &mut rows);
    let unseen = types.unseen();
    if !unseen.is_empty() {
        rows.push(title("never arrived at a hook, although others of their kind did"));
    }
    for one in unseen {
        let what = if one.is_enum { "variants" } else { "implementations" };
        let finding = format!("{} of {} {what}", one.never.len(), one.all);
        rows.push(TypeRow { depth: 1, name: one.of, finding, ..TypeRow::default() });
        rows.extend(one.never.into_iter().map(|name| TypeRow {
            depth: 2,
            name,
            ..TypeRow::default()
        }));
    }
    let wide = types.wide();
    if !wide.is_empty() {
        rows.push(title("declared wider than what arrives"));
    }
    for one in wide {
        let finding = match &one.common {
            Some(common) => format!("{} types, all are {common}", one.arrived.len()),
            None => format!("only {}", one.arrived.join(", ")),
        };
        let name = format!("{}: {}: {}", one.path, one.parameter, one.declared);
        rows.push(TypeRow {
            depth: 1,
            name,
            count: Some(one.count),
            finding,
            site: by_path(&one.path),
        });
    }
    rows
}

fn title(text: &str) -> TypeRow {
    TypeRow { name: text.to_owned(), ..TypeRow::default() }
}

/// Adds the methods with their values and types, in descending order of the number of values.
fn arrived(types: &Types, site: &impl Fn(&str, u32) -> Option<SiteId>, rows: &mut Vec<TypeRow>) {
    let most =
        |method: &MethodTypes| method.values.iter().map(ValueTypes::count).max().unwrap_or(0);
    let mut methods: Vec<&MethodTypes> = types.methods.iter().collect();
    methods
        .sort_by(|a, b| Reverse(most(a)).cmp(&Reverse(most(b))).then_with(|| a.path.cmp(&b.path)));
    rows.push(title("types that arrived, where they are several or left open"));
    for method in methods.into_iter().filter(|method| method.values.iter().any(ValueTypes::is_news))
    {
        let site = site(&method.path, method.line);
        rows.push(TypeRow { depth: 1, name: method.path.clone(), site, ..TypeRow::default() });
        for value in method.values.iter().filter(|value| value.is_news()) {
            let open = value.open.as_ref().map_or(String::new(), |open| format!(": {open}"));
            let finding = match value.arrived.len() {
                1 => String::new(),
                several => counted(several as u64, "type"),
            };
            let name = format!("{}{open}", value.name);
            rows.push(TypeRow { depth: 2, name, count: Some(value.count()), finding, site });
            rows.extend(value.arrived.iter().map(|one| TypeRow {
                depth: 3,
                name: one.text(),
                count: Some(one.count),
                finding: percent(one.count, value.count()),
                site,
            }));
        }
    }
}

/// Adds the calls with several targets, and the number of calls with a single target.
fn calls(shapes: &[Shape], site: &impl Fn(&str) -> Option<SiteId>, rows: &mut Vec<TypeRow>) {
    if shapes.is_empty() {
        return;
    }
    let of =
        |class: &str| grouped(shapes.iter().filter(|shape| shape.class() == class).count() as u64);
    let classes =
        ["monomorphic", "polymorphic", "megamorphic"].map(|class| format!("{} {class}", of(class)));
    let text = format!("calls with a receiver, by number of targets: {}", classes.join(", "));
    rows.push(title(&text));
    for shape in shapes.iter().filter(|shape| shape.targets.len() > 1) {
        let caller = shape.caller.as_deref().unwrap_or("code without hooks");
        rows.push(TypeRow {
            depth: 1,
            name: format!("{caller} calls {}", shape.name),
            count: Some(shape.count()),
            finding: format!(
                "{}: {}",
                shape.class(),
                counted(shape.targets.len() as u64, "target")
            ),
            site: shape.caller.as_deref().and_then(site),
        });
        rows.extend(shape.targets.iter().map(|one| target(one, shape.count(), site)));
    }
}

fn target(one: &Target, all: u64, site: &impl Fn(&str) -> Option<SiteId>) -> TypeRow {
    let time = match one.total_ns.checked_div(one.count) {
        None | Some(0) => String::new(),
        Some(ns) => format!(", {} a call", duration(ns).trim_start()),
    };
    TypeRow {
        depth: 2,
        name: format!("{} on {}", one.path, one.receiver),
        count: Some(one.count),
        finding: format!("{}{time}", percent(one.count, all)),
        site: site(&one.path),
    }
}

#[cfg(test)]
mod tests {
    use metaspy_reader::TypeKey;
    use metaspy_report::types::{Arrived, CallSite};

    use super::*;

    fn receivers() -> Vec<ValueTypes> {
        let arrived =
            |name: &str, count| Arrived { name: name.into(), count, ..Arrived::default() };
        vec![ValueTypes {
            position: TypeKey::RECEIVER,
            name: "self".into(),
            open: Some("dyn Animal".into()),
            arrived: vec![arrived("zoo::Dog", 3), arrived("zoo::Cat", 1)],
        }]
    }

    #[test]
    fn a_method_has_its_values_types_and_calls() {
        let callers = vec![CallSite { caller: Some("zoo::main".into()), values: receivers() }];
        let speak = MethodTypes {
            path: "zoo::Animal::speak".into(),
            file: "zoo.rs".into(),
            line: 7,
            values: receivers(),
            callers,
        };
        let mut types = Types::default();
        types.methods = vec![speak];
        let site =
            |path: &str, line| (path == "zoo::Animal::speak" && line == 7).then_some(SiteId(4));
        let text = |row: &TypeRow| {
            let count = row.count.map_or(String::new(), |count| format!(" {count}"));
            format!("{}{}{count} [{}]", "  ".repeat(row.depth), row.name, row.finding)
        };
        let all = rows(&types, site);
        assert_eq!(
            all.iter().map(text).collect::<Vec<_>>(),
            [
                "types that arrived, where they are several or left open []",
                "  zoo::Animal::speak []",
                "    self: dyn Animal 4 [2 types]",
                "      zoo::Dog 3 [75.0 %]",
                "      zoo::Cat 1 [25.0 %]",
                "calls with a receiver, by number of targets: 0 monomorphic, 1 polymorphic, 0 megamorphic []",
                "  zoo::main calls speak 4 [polymorphic: 2 targets]",
                "    zoo::Animal::speak on zoo::Dog 3 [75.0 %]",
                "    zoo::Animal::speak on zoo::Cat 1 [25.0 %]",
            ]
        );
        assert_eq!(all[1].site, Some(SiteId(4)));
        assert_eq!(all[6].site, None);
    }
}
