//! Types by the place of their definition, and the receivers of their methods.

use serde_json::Value;

use crate::common::{Did, Package, manifest};

/// All types of the program, each with the paths of its methods.
fn types(did: &Did) -> Vec<(String, Vec<String>)> {
    fn collect(packages: &Value, found: &mut Vec<(String, Vec<String>)>) {
        for package in packages.as_array().into_iter().flatten() {
            let path = package["path"].as_str().expect("a package has a path");
            for ty in package["types"].as_array().into_iter().flatten() {
                let methods = ty["methods"].as_array().expect("a type has methods");
                let methods = methods
                    .iter()
                    .map(|method| method["path"].as_str().unwrap_or_default().to_owned());
                let name = ty["name"].as_str().filter(|name| !name.is_empty());
                found.extend(name.map(|name| (format!("{path}::{name}"), methods.collect())));
            }
            collect(&package["packages"], found);
        }
    }
    let mut found = Vec::new();
    collect(&did.json["packages"], &mut found);
    found
}

#[test]
fn impls_in_six_modules_make_one_type() {
    let package = Package::new(
        "sixfold",
        &[
            ("Cargo.toml", &manifest("sixfold", "2024", "")),
            (
                "src/main.rs",
                "mod alias;\nmod defined;\nmod globbed;\nmod nested { pub mod deep; }\npub use defined::inner::Point as Renamed;\n\
                 mod above {\n    impl super::Renamed {\n        pub fn above(&self) -> u32 {\n            self.0\n        }\n    }\n}\n\
                 macro_rules! hidden {\n    ($name:ident) => {\n        pub struct $name;\n    };\n}\nhidden!(Hidden);\n\
                 impl Hidden {\n    pub fn never(&self) {}\n}\n\
                 impl Renamed {\n    pub fn root(&self) -> u32 {\n        self.above() + self.twice()\n    }\n}\n\
                 fn main() {\n    println!(\"{}\", Renamed(3).root());\n}\n",
            ),
            (
                "src/defined.rs",
                "pub mod inner {\n    pub struct Point(pub u32);\n    impl Point {\n        pub fn own(&self) {}\n    }\n}\n",
            ),
            ("src/globbed.rs", "use crate::*;\nimpl Renamed {\n    pub fn globbed(&self) {}\n}\n"),
            (
                "src/alias.rs",
                "type Short = crate::defined::inner::Point;\nimpl Clone for Short {\n    fn clone(&self) -> Self {\n        Self(self.0)\n    }\n}\n",
            ),
            (
                "src/nested/deep.rs",
                "use super::super::{defined::inner as place, *};\nimpl place::Point {\n    pub fn twice(&self) -> u32 {\n        self.0 * 2\n    }\n}\n",
            ),
        ],
    );
    let did = package.metaspy(&["run"]);
    let types = types(&did);
    let point = types.iter().find(|(path, _)| path == "sixfold::defined::inner::Point");
    let (_, methods) = point.unwrap_or_else(|| panic!("{types:?}"));
    assert_eq!(methods.len(), 6, "{methods:?}");
    let names: Vec<&str> = types.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(names, ["sixfold::Hidden", "sixfold::defined::inner::Point"]);
    assert!(
        did.json["patterns"].is_null() || did.json["patterns"]["absent"] == serde_json::json!([]),
        "{}",
        did.json
    );
    assert_eq!(did.calls("sixfold::Renamed::root"), Some(1));
}
