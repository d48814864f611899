//! Link-time optimisation, which a run that only counts does without.
//!
//! It would optimise the core again in each program, and changes no count. A run that takes times
//! keeps it, because the times are those of the program as it is released.

use std::env;
use std::path::Path;

use metaspy_report::text::print_message;
use metaspy_weave::plan::read_whole_text;
use toml::Table;

use crate::cargo_metaspy::cargo::Cargo;

/// The setting for cargo that switches it off for the profile of this build, reported to the user;
/// `None` where it is off already, or where the user chose it for this build.
pub fn off(cargo: &Cargo, command: &str, workspace: &Path) -> Option<String> {
    let dir = cargo.profile_dir(command);
    let profile = if dir == "debug" { "dev" } else { &dir };
    let variable = format!("CARGO_PROFILE_{}_LTO", profile.to_uppercase().replace('-', "_"));
    let is_chosen =
        env::var_os(variable).is_some() || cargo.config().iter().any(|text| text.contains("lto"));
    let manifest = read_whole_text(&workspace.join("Cargo.toml")).ok()?;
    if is_chosen || !is_on(&manifest.parse().ok()?, profile) {
        return None;
    }
    print_message(&format_args!(
        "     Metaspy building without link-time optimisation, which changes no count; \
         --config 'profile.{profile}.lto=true' keeps it"
    ));
    Some(format!("profile.{profile}.lto=false"))
}

/// True if a manifest switches it on for a profile, or for one that this inherits from.
fn is_on(manifest: &Table, profile: &str) -> bool {
    let profiles = manifest.get("profile").and_then(|it| it.as_table());
    let mut name = profile;
    // More profiles than there are cannot inherit from each other.
    for _ in 0..=profiles.map_or(0, Table::len) {
        let settings = profiles.and_then(|profiles| profiles.get(name));
        if let Some(lto) = settings.and_then(|settings| settings.get("lto")) {
            return lto.as_bool() == Some(true)
                || lto.as_str().is_some_and(|lto| ["fat", "thin"].contains(&lto));
        }
        match settings.and_then(|settings| settings.get("inherits")).and_then(|it| it.as_str()) {
            Some(other) => name = other,
            None => return false,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_it_by_itself_or_by_the_one_that_it_inherits_from() {
        let is_on = |text: &str, profile: &str| is_on(&text.parse().expect("it is TOML"), profile);
        assert!(is_on("profile.release.lto = true", "release"));
        assert!(is_on(
            "profile.release.lto = 'thin'\n[profile.fast]\ninherits = 'release'",
            "fast"
        ));
        assert!(!is_on(
            "profile.release.lto = true\n[profile.fast]\ninherits = 'release'\nlto = 'off'",
            "fast"
        ));
        assert!(!is_on("profile.release.lto = true", "dev"));
        assert!(!is_on("", "release"));
        assert!(!is_on("[profile.a]\ninherits = 'b'\n[profile.b]\ninherits = 'a'", "a"));
    }
}
