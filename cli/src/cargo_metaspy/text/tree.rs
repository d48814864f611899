//! `--tree`: packages, their types, and their methods, those that never ran as well.
//!
//! ```text
//!          calls  receivers  tests  package, type, method
//!                                   taffy  (1 of 2 ran)
//!                                     Scene: Layout  (1 of 2 ran)
//!             12          3      1      measure
//!              0          0      0      draw
//! ```

use crate::cargo_metaspy::results::{Looked, Package, Ran, Ratio, Told, Type};
use crate::cargo_metaspy::text::flat::{columns, head};

/// All of them.
pub fn lines(packages: &[Package<'_>], looked: Looked) -> Vec<String> {
    let mut tree = Tree { looked, lines: vec![head(looked) + "  package, type, method"] };
    packages.iter().for_each(|of| tree.package(of, 0));
    tree.lines
}

/// On how many objects a function ran.
pub fn receivers(told: &Told) -> String {
    match told.receivers {
        None => "n/a".to_owned(),
        Some(count) if told.has_more_receivers => format!("≥{count}"),
        Some(count) => count.to_string(),
    }
}

struct Tree {
    looked: Looked,
    lines: Vec<String>,
}

impl Tree {
    fn package(&mut self, package: &Package<'_>, depth: usize) {
        self.branch(depth, &package.path, package.ratio());
        package.types.iter().for_each(|ty| self.ty(ty, depth + 1));
        package.packages.iter().for_each(|within| self.package(within, depth + 1));
    }

    fn ty(&mut self, ty: &Type<'_>, depth: usize) {
        let mut depth = depth;
        if !ty.name.is_empty() {
            let traits = if ty.traits.is_empty() { String::new() } else { format!(": {}", ty.traits.join(" + ")) };
            let kind = if ty.is_trait { "trait " } else { "" };
            self.branch(depth, &format!("{kind}{}{traits}", ty.name), ty.ratio());
            depth += 1;
        }
        for ran in &ty.methods {
            let known = columns(ran, self.looked);
            self.lines.push(format!("{known}  {}{}", "  ".repeat(depth), within(ran, ty)));
        }
    }

    fn branch(&mut self, depth: usize, name: &str, Ratio { methods, covered, .. }: Ratio) {
        let width = head(self.looked).chars().count();
        let ran = if methods == 0 { "tests only".to_owned() } else { format!("{covered} of {methods} ran") };
        self.lines.push(format!("{:width$}  {}{name}  ({ran})", "", "  ".repeat(depth)));
    }
}

/// A method's name within its type.
fn within<'r>(ran: &'r Ran, ty: &Type<'_>) -> &'r str {
    let path = ran.method.path.as_str();
    path.strip_prefix(&ty.path()).and_then(|name| name.strip_prefix("::")).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo_metaspy::results::packages;
    use crate::cargo_metaspy::results::tests::ran;

    #[test]
    fn methods_stand_below_their_types_and_these_below_their_modules() {
        let mut all =
            vec![ran("a", "", "main", 1), ran("a::b", "Scene", "draw", 0), ran("a::b", "Scene", "measure", 1_200)];
        all[2].method.of_trait = Some("Layout".into());
        (all[2].told.receivers, all[2].told.has_more_receivers) = (Some(100), true);
        all[2].told.tests.insert("t".into());
        let looked = Looked { coverage: true, calls: false };
        let text = lines(&packages(&all), looked).join("\n");
        assert_eq!(
            text,
            "         calls  receivers  tests  package, type, method\n                                  a  (2 of 3 ran)\n             1        n/a      0    main\n                                    a::b  (1 of 2 ran)\n                                      Scene: Layout  (1 of 2 ran)\n             0        n/a      0        draw\n         1,200       ≥100      1        measure"
        );
    }
}
