//! Colours of each token, in light and in dark. Colours with a meaning can be told apart with the
//! common colour blindnesses (Okabe and Ito, *Color universal design*), and no meaning depends on
//! colour alone.

/// Tokens, each with its colour on a light and on a dark page.
pub(crate) const COLOURS: [(&str, &str, &str); 36] = [
    ("g0", "#ffffff", "#22252b"),
    ("g1", "#e4e4e4", "#343840"),
    ("g2", "#c9c9c9", "#474b54"),
    ("g3", "#aeaeae", "#5b5f69"),
    ("g4", "#939393", "#70747e"),
    ("g5", "#787878", "#868a94"),
    ("g6", "#5d5d5d", "#9da1aa"),
    ("g7", "#424242", "#b6b9c1"),
    ("g8", "#272727", "#d2d4d9"),
    ("g9", "#0d0d0d", "#f2f3f5"),
    ("none", "#f7f5f0", "#1a1c20"),
    ("never", "#f7f5f0", "#1a1c20"),
    ("unit", "#b4b4b4", "#6b6f78"),
    ("constant", "#f0e442", "#f0e442"),
    ("varies", "#ffffff", "#f2f3f5"),
    ("unknown", "#f7f5f0", "#1a1c20"),
    ("faster", "#0072b2", "#1f8fd0"),
    ("faster-here", "#a6cee3", "#3d6d8a"),
    ("slower", "#d55e00", "#e8681a"),
    ("slower-here", "#f3c3a0", "#8f5a38"),
    ("new", "#f0e442", "#f0e442"),
    ("same", "#ffffff", "#f2f3f5"),
    ("failed", "#d55e00", "#e8681a"),
    ("page", "#f7f5f0", "#1a1c20"),
    ("ink", "#1b1b1b", "#e8e8ea"),
    ("pale", "#6f6b62", "#9a9ca3"),
    ("line", "#8f8a80", "#5a5d66"),
    ("module", "#efece4", "#202329"),
    ("type", "#ffffff", "#272a31"),
    ("signal", "#d55e00", "#f08a3c"),
    ("own", "#e69f00", "#e69f00"),
    ("caller", "#0072b2", "#56b4e9"),
    ("callee", "#cc79a7", "#e39bc4"),
    ("trait", "#0072b2", "#56b4e9"),
    ("well", "#009e73", "#2cc79b"),
    ("very", "#56b4e9", "#56b4e9"),
];

/// CSS rules of all tokens. `{name}` stands for the colour of a token.
const RULES: &str = "\
text{font:9px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:{ink}}
.legend text,.note{font-family:ui-sans-serif,system-ui,sans-serif}.note.pale{fill:{pale}}.k{fill:{signal};font-weight:700}
text.dark{fill:{page}}
.f{fill:{type};stroke:{line};stroke-width:.7}
.f.module{fill:{module}}.f.package{fill:{page};stroke-width:1.2}.f.trait{stroke:{trait};stroke-dasharray:4 2}.f.functions{stroke-dasharray:1 2}
.f.foreign{stroke-dasharray:4 2}.f.absent{stroke:{signal};stroke-width:1.3}
.ft{fill:{pale}}
.b{stroke:{ink};stroke-width:.5}
.none,.unknown{stroke-dasharray:2 1.5}
.never{stroke:{signal};stroke-width:1.3}
.hatch{fill:url(#hatch)}
.own{fill:{own}}.strip{fill:{signal}}
.ghost{fill:none;stroke:{ink};stroke-width:.6;stroke-dasharray:2 2}
.frame{fill:none;stroke:{ink};stroke-width:2}
.e{fill:none;stroke:{line};stroke-width:.8}
.e.cross,.e.back{display:none}
.calls .e{stroke-width:2;marker-end:url(#arrow)}.grammar .e{stroke-width:1.2;marker-end:url(#arrow)}
.e.written{stroke-dasharray:3 2}.head{fill:{line}}
.m{stroke:{page};stroke-width:.3}
.m.absent,.m.long-untested{fill:{signal}}.m.more-tests{fill:{own}}.m.well-tested{fill:{well}}.m.very-well-tested{fill:{very}}
";

/// Builds the style sheet. `colour` gives the CSS colour of a token's name.
pub fn style(colour: impl Fn(&str) -> String) -> String {
    let mut style = String::new();
    for (name, ..) in COLOURS.iter().take(23) {
        style += &format!(".{name}{{fill:{}}}", colour(name));
    }
    style.push('\n');
    let mut rest = RULES;
    while let Some((before, behind)) = rest.split_once('{') {
        // A brace before the name of a token is a colour; any other brace begins a rule.
        match behind
            .split_once('}')
            .filter(|(name, _)| COLOURS.iter().any(|(token, ..)| token == name))
        {
            Some((name, after)) => {
                style += before;
                style += &colour(name);
                rest = after;
            }
            None => {
                style += before;
                style.push('{');
                rest = behind;
            }
        }
    }
    style + rest
}

/// Returns the colour of a token on a light page.
pub fn light(name: &str) -> String {
    COLOURS
        .iter()
        .find(|(token, ..)| *token == name)
        .map_or("none", |(_, light, _)| light)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_of_a_rule_has_a_colour() {
        let style = style(light);
        assert!(
            style.contains(".never{fill:#f7f5f0}") && style.contains(".own{fill:#e69f00}"),
            "{style}"
        );
        assert!(style.contains(".f{fill:#ffffff;stroke:#8f8a80;stroke-width:.7}"), "{style}");
    }
}
