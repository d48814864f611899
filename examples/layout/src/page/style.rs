//! Inline styles: the values of a `style` attribute, given to taffy's own readers.
//!
//! Unknown or unreadable declarations are left out, as in a browser.

use std::str::FromStr;

use taffy::{
    AlignContent, AlignItems, BoxSizing, Dimension, Display, FlexDirection, FlexWrap, GridAutoFlow,
    GridPlacement, GridTemplateComponent, LengthPercentage, LengthPercentageAuto, Line, Overflow,
    Position, Rect, Style,
};

use crate::text::Font;

/// Applies the declarations of a `style` attribute.
pub(super) fn apply(declarations: &str, style: &mut Style, font: &mut Font) {
    for (name, value) in split(declarations) {
        declare(&name, &value, style, font);
    }
}

/// The display of a `style` attribute, if it has one.
pub(super) fn display(declarations: &str) -> Option<Display> {
    split(declarations)
        .filter(|(name, _)| name == "display")
        .filter_map(|(_, value)| read_display(&value))
        .last()
}

fn split(declarations: &str) -> impl Iterator<Item = (String, String)> {
    declarations.split(';').filter_map(|declaration| {
        let (name, value) = declaration.split_once(':')?;
        let value = value.trim().to_ascii_lowercase();
        let value = value.strip_suffix("!important").unwrap_or(&value).trim_end();
        Some((name.trim().to_ascii_lowercase(), value.to_owned()))
    })
}

fn read_display(value: &str) -> Option<Display> {
    match value {
        "inline-flex" => Some(Display::Flex),
        "inline-grid" => Some(Display::Grid),
        "inline-block" | "list-item" => Some(Display::Block),
        value => value.parse().ok(),
    }
}

fn declare(name: &str, value: &str, style: &mut Style, font: &mut Font) {
    let pixels = to_pixels(value, font.size);
    match name {
        "font-size" => {
            // A text that is not seen, or one letter as large as a house, is an ill joke of the
            // page.
            if let Ok(size) = pixels.strip_suffix("px").unwrap_or_default().parse::<f32>() {
                font.size = size.clamp(1.0, 500.0);
            } else if let Ok(percent) = pixels.strip_suffix('%').unwrap_or_default().parse::<f32>()
            {
                font.size = (font.size * percent / 100.0).clamp(1.0, 500.0);
            }
        }
        "font-weight" => {
            font.bold = value == "bold" || value.parse::<u32>().is_ok_and(|weight| weight >= 600)
        }
        "font-family" => font.mono = value.contains("mono"),
        "white-space" => font.pre = value.starts_with("pre") || value == "nowrap",
        "display" => set(&mut style.display, read_display(value)),
        "box-sizing" => set::<BoxSizing>(&mut style.box_sizing, read(value)),
        "position" => set::<Position>(&mut style.position, read(value)),
        "overflow" => {
            if let Some(overflow) = read::<Overflow>(value) {
                style.overflow = taffy::Point { x: overflow, y: overflow };
            }
        }
        "aspect-ratio" => {
            style.aspect_ratio = read(value).filter(|ratio: &f32| ratio.is_finite() && *ratio > 0.0)
        }
        "width" => set::<Dimension>(&mut style.size.width, read(&pixels)),
        "height" => set::<Dimension>(&mut style.size.height, read(&pixels)),
        "min-width" => set::<LengthPercentageAuto>(&mut style.min_size.width, read(&pixels)),
        "min-height" => set::<LengthPercentageAuto>(&mut style.min_size.height, read(&pixels)),
        "max-width" => set::<LengthPercentageAuto>(&mut style.max_size.width, read(&pixels)),
        "max-height" => set::<LengthPercentageAuto>(&mut style.max_size.height, read(&pixels)),
        "margin" => set(&mut style.margin, sides(&pixels)),
        "padding" => set(&mut style.padding, sides(&pixels)),
        "inset" => set(&mut style.inset, sides(&pixels)),
        "border-width" => set(&mut style.border, sides(&pixels)),
        "border" => {
            let width = pixels.split_whitespace().find_map(read::<LengthPercentage>);
            set(
                &mut style.border,
                width.map(|width| Rect { left: width, right: width, top: width, bottom: width }),
            );
        }
        "top" => set(&mut style.inset.top, read(&pixels)),
        "left" => set(&mut style.inset.left, read(&pixels)),
        "right" => set(&mut style.inset.right, read(&pixels)),
        "bottom" => set(&mut style.inset.bottom, read(&pixels)),
        "flex" => flex(value, &pixels, style),
        "flex-direction" => set::<FlexDirection>(&mut style.flex_direction, read(value)),
        "flex-wrap" => set::<FlexWrap>(&mut style.flex_wrap, read(value)),
        "flex-grow" => set(&mut style.flex_grow, share(value)),
        "flex-shrink" => set(&mut style.flex_shrink, share(value)),
        "flex-basis" => set::<Dimension>(&mut style.flex_basis, read(&pixels)),
        "gap" | "grid-gap" => {
            let mut gaps = pixels.split_whitespace().map(read::<LengthPercentage>);
            let row = gaps.next().flatten();
            set(&mut style.gap.height, row);
            set(&mut style.gap.width, gaps.next().flatten().or(row));
        }
        "row-gap" => set::<LengthPercentage>(&mut style.gap.height, read(&pixels)),
        "column-gap" => set::<LengthPercentage>(&mut style.gap.width, read(&pixels)),
        "align-items" => set::<AlignItems>(&mut style.align_items, read(value)),
        "align-self" => style.align_self = read(value),
        "align-content" => set::<AlignContent>(&mut style.align_content, read(value)),
        "justify-items" => set::<AlignItems>(&mut style.justify_items, read(value)),
        "justify-self" => style.justify_self = read(value),
        "justify-content" => set::<AlignContent>(&mut style.justify_content, read(value)),
        "grid-template-columns" => set(&mut style.grid_template_columns, tracks(&pixels)),
        "grid-template-rows" => set(&mut style.grid_template_rows, tracks(&pixels)),
        "grid-auto-flow" => set::<GridAutoFlow>(&mut style.grid_auto_flow, read(value)),
        "grid-column" => set(&mut style.grid_column, placement(value)),
        "grid-row" => set(&mut style.grid_row, placement(value)),
        _ => side_of(name, &pixels, style),
    }
}

/// `margin-left` and its relatives.
fn side_of(name: &str, pixels: &str, style: &mut Style) {
    let Some((what, side)) = name.split_once('-') else { return };
    match (what, side) {
        ("margin", "top" | "block-start") => set(&mut style.margin.top, read(pixels)),
        ("margin", "bottom" | "block-end") => set(&mut style.margin.bottom, read(pixels)),
        ("margin", "left" | "inline-start") => set(&mut style.margin.left, read(pixels)),
        ("margin", "right" | "inline-end") => set(&mut style.margin.right, read(pixels)),
        ("padding", "top" | "block-start") => set(&mut style.padding.top, read(pixels)),
        ("padding", "bottom" | "block-end") => set(&mut style.padding.bottom, read(pixels)),
        ("padding", "left" | "inline-start") => set(&mut style.padding.left, read(pixels)),
        ("padding", "right" | "inline-end") => set(&mut style.padding.right, read(pixels)),
        _ => {}
    }
}

/// `flex: grow shrink basis` and its short forms.
fn flex(value: &str, pixels: &str, style: &mut Style) {
    let (grow, shrink, basis) = match value {
        "none" => (0.0, 0.0, Dimension::auto()),
        "auto" => (1.0, 1.0, Dimension::auto()),
        "initial" => (0.0, 1.0, Dimension::auto()),
        _ => {
            let mut shares = value.split_whitespace().map_while(share);
            let grow = shares.next().unwrap_or(1.0);
            let shrink = shares.next().unwrap_or(1.0);
            // A bare number as third part is a basis of zero; `to_pixels` has given it a unit.
            let basis = pixels
                .split_whitespace()
                .filter(|part| share(part).is_none())
                .filter_map(read)
                .next_back();
            let all = value.split_whitespace().count();
            (
                grow,
                shrink,
                basis.unwrap_or(if all < 3 {
                    Dimension::percent(0.0)
                } else {
                    Dimension::length(0.0)
                }),
            )
        }
    };
    (style.flex_grow, style.flex_shrink, style.flex_basis) = (grow, shrink, basis);
}

fn share(value: &str) -> Option<f32> {
    value.parse().ok().filter(|share: &f32| share.is_finite() && *share >= 0.0)
}

fn tracks(pixels: &str) -> Option<Vec<GridTemplateComponent<String>>> {
    // The words of a track list stand apart, but not those in parentheses.
    let mut open = 0;
    let mut parts = vec![String::new()];
    for letter in pixels.chars() {
        match letter {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        if letter.is_whitespace() && open == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut().expect("there is always a last part").push(letter);
        }
    }
    parts.iter().filter(|part| !part.is_empty()).map(|part| read(part)).collect()
}

fn placement(value: &str) -> Option<Line<GridPlacement<String>>> {
    let (start, end) = value.split_once('/').unwrap_or((value, "auto"));
    Some(Line { start: read(start)?, end: read(end)? })
}

/// One to four values, for the sides from the top on, clockwise.
fn sides<T: FromStr + Copy>(pixels: &str) -> Option<Rect<T>> {
    let read: Option<Vec<T>> = pixels.split_whitespace().map(read).collect();
    let (top, right, bottom, left) = match read?[..] {
        [all] => (all, all, all, all),
        [block, inline] => (block, inline, block, inline),
        [top, inline, bottom] => (top, inline, bottom, inline),
        [top, right, bottom, left] => (top, right, bottom, left),
        _ => return None,
    };
    Some(Rect { top, right, bottom, left })
}

fn read<T: FromStr>(value: &str) -> Option<T> {
    value.trim().parse().ok()
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// Writes every length in pixels, as taffy has no other unit.
fn to_pixels(value: &str, em: f32) -> String {
    let mut pixels = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(first) = rest.chars().next() {
        let number = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-' && c != '+')
            .unwrap_or(rest.len());
        let (Ok(amount), true) = (rest[..number].parse::<f32>(), number > 0) else {
            // A word goes over whole, so that a digit in it is no number.
            let word = rest.find(|c: char| !c.is_alphanumeric() && c != '-').unwrap_or(rest.len());
            let word = word.max(first.len_utf8());
            pixels.push_str(&rest[..word]);
            rest = &rest[word..];
            continue;
        };
        rest = &rest[number..];
        let unit = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '%').unwrap_or(rest.len());
        let factor = match &rest[..unit] {
            "px" => Some(1.0),
            "em" => Some(em),
            "rem" => Some(16.0),
            "ch" | "ex" => Some(em / 2.0),
            "pt" => Some(4.0 / 3.0),
            "in" => Some(96.0),
            "cm" => Some(96.0 / 2.54),
            "" if amount == 0.0 => Some(1.0),
            _ => None,
        };
        match factor {
            // Beyond a million pixels sums of single precision lose whole pixels.
            Some(factor) => pixels.push_str(&format!("{}px", (amount * factor).clamp(-1e6, 1e6))),
            None => pixels.push_str(&format!("{amount}{}", &rest[..unit])),
        }
        rest = &rest[unit..];
    }
    pixels
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(declarations: &str, expected: Style) {
        let mut style = Style::default();
        apply(declarations, &mut style, &mut Font::default());
        assert_eq!(style, expected, "{declarations}");
    }

    #[test]
    fn lengths_of_all_units_become_pixels() {
        assert_eq!(to_pixels("2em 1rem auto 50% 0 3pt", 10.0), "20px 16px auto 50% 0px 4px");
        assert_eq!(
            to_pixels("repeat(2, minmax(1em, 1fr)) 4px", 10.0),
            "repeat(2, minmax(10px, 1fr)) 4px"
        );
    }

    #[test]
    fn sides_run_clockwise_from_the_top() {
        let length = LengthPercentageAuto::length;
        let margin =
            Rect { top: length(1.0), right: length(2.0), bottom: length(3.0), left: length(2.0) };
        check("margin: 1px 2px 3px", Style { margin, ..Style::default() });
    }

    #[test]
    fn flex_has_short_forms() {
        let flex = |flex_grow, flex_shrink, flex_basis| Style {
            flex_grow,
            flex_shrink,
            flex_basis,
            ..Style::default()
        };
        check("flex: 1", flex(1.0, 1.0, Dimension::percent(0.0)));
        check("flex: 1 1 0", flex(1.0, 1.0, Dimension::length(0.0)));
        check("flex: 2 0 10em", flex(2.0, 0.0, Dimension::length(160.0)));
        check("flex: none", flex(0.0, 0.0, Dimension::auto()));
    }

    #[test]
    fn grids_have_tracks_and_placements() {
        let mut style = Style::default();
        apply(
            "display: grid; grid-template-columns: repeat(3, 1fr) 20px; grid-column: 2 / span 2",
            &mut style,
            &mut Font::default(),
        );
        assert_eq!(style.display, Display::Grid);
        assert_eq!(style.grid_template_columns.len(), 2);
        assert_eq!(
            style.grid_column,
            Line { start: GridPlacement::from_str("2").unwrap(), end: GridPlacement::Span(2) }
        );
    }

    #[test]
    fn what_cannot_be_read_changes_nothing() {
        check(
            "width: calc(1px + 2%); colour: red; height; margin: 1px 2px 3px 4px 5px; flex-grow: -1",
            Style::default(),
        );
    }

    #[test]
    fn no_value_makes_the_reader_panic() {
        for value in [
            "-",
            ".",
            "1e",
            "é3em",
            "+-",
            "((",
            "))",
            "1px2px",
            "99999999999999999999em",
            "%",
            "3-3",
        ] {
            for name in [
                "margin",
                "width",
                "flex",
                "grid-template-columns",
                "grid-column",
                "font-size",
                "gap",
            ] {
                apply(&format!("{name}: {value}"), &mut Style::default(), &mut Font::default());
            }
        }
    }
}
