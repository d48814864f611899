//! heck: names in six styles.

use ::heck::{ToKebabCase, ToLowerCamelCase, ToShoutySnakeCase, ToSnakeCase, ToTitleCase, ToUpperCamelCase};

pub fn main() {
    let names = ["XMLHttpRequest", "some_long_name_of_a_field", "kebab-case-name", "Title Of A Page", "aB2cD"];
    crate::measure::measure(|at| {
        let name = names[at as usize % names.len()];
        let styles = [name.to_kebab_case(), name.to_lower_camel_case(), name.to_shouty_snake_case()];
        let more = [name.to_snake_case(), name.to_title_case(), name.to_upper_camel_case()];
        styles.iter().chain(&more).map(String::len).sum::<usize>() as u64
    });
}
