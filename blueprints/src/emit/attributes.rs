//! Style sheet of an SVG as attributes of its elements. Editors and converters of SVG know all
//! attributes, but only a part of CSS.

use std::collections::HashMap;

/// Rule of the style sheet.
struct Rule<'s> {
    /// Class of an element around it; empty for any.
    around: &'s str,
    /// Name of the element; empty for any.
    tag: &'s str,
    classes: Vec<&'s str>,
    declarations: &'s str,
}

impl<'s> Rule<'s> {
    /// Reads the rules, in their order. Selectors are `tag.class`, perhaps with `.class ` before
    /// them.
    fn all(style: &'s str) -> Vec<Rule<'s>> {
        let blocks = style.split('}').filter_map(|block| block.trim().split_once('{'));
        let rule = |selector: &'s str, declarations: &'s str| {
            let (around, own) = selector.split_once(' ').unwrap_or(("", selector));
            let mut parts = own.split('.');
            let tag = parts.next().unwrap_or_default();
            Rule {
                around: around.trim_start_matches('.'),
                tag,
                classes: parts.collect(),
                declarations,
            }
        };
        blocks
            .flat_map(|(selectors, declarations)| {
                selectors.split(',').map(move |it| rule(it, declarations))
            })
            .collect()
    }

    fn fits(&self, around: &[&str], tag: &str, classes: &[&str]) -> bool {
        (self.tag.is_empty() || self.tag == tag)
            && self.classes.iter().all(|class| classes.contains(class))
            && (self.around.is_empty() || around.contains(&self.around))
    }
}

/// Gives each element of an SVG the declarations of the rules that fit it. Later rules replace
/// earlier ones.
pub fn with_attributes(svg: &str, style: &str) -> String {
    let rules = Rule::all(style);
    let mut known: HashMap<(usize, &str, &str), String> = HashMap::new();
    let mut around: Vec<&str> = Vec::new();
    let mut out = String::with_capacity(svg.len() * 3 / 2);
    for (at, part) in svg.split('<').enumerate() {
        if at > 0 {
            out.push('<');
        }
        let Some((element, _)) = part.split_once('>').filter(|_| at > 0) else {
            out += part;
            continue;
        };
        if element.starts_with('/') {
            around.truncate(around.len() - usize::from(element == "/g"));
            out += part;
            continue;
        }
        let tag = element.split([' ', '/']).next().unwrap_or_default();
        let class = element
            .split_once("class=\"")
            .and_then(|(_, rest)| rest.split_once('"'))
            .map_or("", |(class, _)| class);
        let attributes = known.entry((around.len(), tag, class)).or_insert_with(|| {
            let classes: Vec<&str> = class.split(' ').collect();
            let mut found: Vec<(&str, &str)> = Vec::new();
            let fitting = rules.iter().filter(|rule| rule.fits(&around, tag, &classes));
            for (key, value) in fitting
                .flat_map(|rule| rule.declarations.split(';'))
                .filter_map(|it| it.split_once(':'))
            {
                // The root has the font of all letters.
                found.retain(|&(known, _)| known != key);
                found.extend((key != "font").then_some((key, value)));
            }
            found.iter().map(|(key, value)| format!(" {key}=\"{value}\"")).collect()
        });
        out += tag;
        out += attributes;
        out += &part[tag.len()..];
        if tag == "g" && !element.ends_with('/') {
            around.push(class);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_rules_replace_earlier_ones_and_depend_on_what_is_around() {
        let style = "text{font:9px mono;fill:#111}\n.legend text,.note{font-family:sans-serif}.b{stroke:red;fill:none}.g1{fill:#eee}";
        let svg = "<svg><g class=\"legend\"><rect class=\"b g1\" x=\"1\"/><text>a &lt; b</text></g><text class=\"note\">c</text></svg>";
        let expected = "<svg><g class=\"legend\"><rect stroke=\"red\" fill=\"#eee\" class=\"b g1\" x=\"1\"/>\
             <text fill=\"#111\" font-family=\"sans-serif\">a &lt; b</text></g>\
             <text fill=\"#111\" font-family=\"sans-serif\" class=\"note\">c</text></svg>";
        assert_eq!(with_attributes(svg, style), expected);
    }
}
