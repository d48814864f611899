//! The findings, from a few methods and declarations.

use metaspy_reader::TypeKey;

use super::ran::Ran;
use super::{Arrived, CallSite, MethodTypes, Types, ValueTypes};

fn arrived(name: &str) -> Arrived {
    Arrived { name: name.to_owned(), count: 3, ..Arrived::default() }
}

fn behind(through: Option<&str>) -> Arrived {
    let through = through.map(str::to_owned);
    Arrived { is_unresolved: true, through, ..arrived("(unresolved)") }
}

/// A method `a::draw(shape: &dyn Shape)` at which these arrived, beside two implementations of
/// `a::Shape`.
fn types(these: impl IntoIterator<Item = Arrived>) -> Types {
    let mut types = Types::default();
    let shape = |arrived| {
        let open = Some("&dyn Shape".to_owned());
        ValueTypes { position: 1, name: "shape".to_owned(), open, arrived }
    };
    types.methods.push(method("a::draw", shape(these.into_iter().collect())));
    let implementations = ["a::Circle", "a::Square"].map(str::to_owned);
    types.declared.own_types = implementations.clone().into();
    types.declared.implementations.insert("a::Shape".to_owned(), implementations.into());
    types.with_methods.insert("Shape".to_owned());
    types
}

fn method(path: &str, value: ValueTypes) -> MethodTypes {
    let callers = vec![CallSite { caller: None, values: vec![value.clone()] }];
    MethodTypes { path: path.to_owned(), values: vec![value], callers, ..MethodTypes::default() }
}

fn unseen(types: &Types) -> Vec<(String, Vec<String>)> {
    types.unseen().into_iter().map(|one| (one.of, one.never)).collect()
}

fn wide(types: &Types) -> Vec<Vec<String>> {
    types.wide().into_iter().map(|one| one.arrived).collect()
}

#[test]
fn one_type_leads_to_findings() {
    let types = types([arrived("a::Circle")]);
    assert_eq!(unseen(&types), [("a::Shape".to_owned(), vec!["a::Square".to_owned()])]);
    assert_eq!(wide(&types), [["a::Circle"]]);
}

#[test]
fn a_type_that_its_crate_may_name_otherwise_leads_to_no_finding() {
    let mut types =
        types([arrived("a::Circle"), arrived("b::inner::Thing"), arrived("core::time::Duration")]);
    let shapes =
        types.declared.implementations.get_mut("a::Shape").expect("it has implementations");
    shapes.extend(["b::Thing", "std::time::Duration", "u8"].map(str::to_owned));
    assert_eq!(
        unseen(&types),
        [("a::Shape".to_owned(), ["a::Square", "u8"].map(str::to_owned).into())]
    );
}

#[test]
fn a_type_that_is_not_known_leads_to_no_finding() {
    for unknown in
        [behind(None), behind(Some("alloc::boxed::Box<dyn a::Shape + core::marker::Send>"))]
    {
        let types = types([arrived("a::Circle"), unknown]);
        assert!(unseen(&types).is_empty() && wide(&types).is_empty());
    }
    // Several closures have one name.
    for closure in ["a::main::{{closure}}", "a::By<a::main::{closure#0}::{closure_env#1}>"] {
        assert!(wide(&super::tests::types([arrived(closure)])).is_empty());
    }
    // A trait of another crate leaves findings of this one.
    let types = types([arrived("a::Circle"), behind(Some("&dyn core::fmt::Debug"))]);
    assert_eq!(unseen(&types).len(), 1);
}

#[test]
fn what_arrives_inside_of_other_values_leads_to_no_finding() {
    let mut types = types([
        arrived("a::Circle"),
        Arrived { variant: Some("Bad".to_owned()), ..arrived("&a::E") },
    ]);
    types
        .declared
        .enums
        .insert("a::E".to_owned(), vec![("Bad".to_owned(), 0), ("Worse".to_owned(), 1)]);
    assert_eq!(unseen(&types).len(), 2);
    let after_one = |one: Arrived| {
        let mut types = types.clone();
        types
            .methods
            .push(method("a::f", ValueTypes { arrived: vec![one], ..ValueTypes::default() }));
        unseen(&types).into_iter().map(|(of, _)| of).collect::<Vec<_>>().join(" ")
    };
    let after = |name: &str| after_one(arrived(name));
    for name in [
        "core::result::Result<u8, a::E>",
        "alloc::vec::Vec<a::E>",
        "(a::E, u8)",
        "[a::E; 3]",
        "b::E<&a::E>",
    ] {
        assert_eq!(after(name), "a::Shape", "{name}");
    }
    assert_eq!(after("b::Group<a::Square>"), "a::E");
    assert_eq!(after("[alloc::boxed::Box<dyn a::Shape>]"), "a::Shape a::E");
    assert_eq!(after("&&a::E"), "a::Shape", "its variant may be any");
    assert_eq!(
        after_one(Arrived { variant: Some("Bad".to_owned()), ..arrived("a::E") }),
        "a::Shape a::E"
    );
    let none = |name| Arrived { variant: Some("None".to_owned()), ..arrived(name) };
    assert_eq!(after_one(none("core::option::Option<&dyn a::Shape>")), "a::Shape a::E");
}

#[test]
fn a_common_trait_is_below_the_declared_one() {
    let mut types = types([arrived("a::Circle"), arrived("a::Square")]);
    let both = types.declared.implementations["a::Shape"].clone();
    for (name, above) in [("a::Shape", None), ("a::Other", None), ("a::Tall", Some("a::Shape"))] {
        assert!(wide(&types).is_empty(), "nothing is below the declared trait before {name}");
        types.declared.implementations.insert(name.to_owned(), both.clone());
        types
            .declared
            .supertraits
            .insert(name.to_owned(), above.map(str::to_owned).into_iter().collect());
    }
    assert_eq!(types.wide()[0].common.as_deref(), Some("a::Tall"));
}

#[test]
fn a_type_that_arrived_by_two_ways_has_both() {
    let pointer = Some("alloc::boxed::Box<dyn a::Shape>".to_owned());
    let mut types =
        types([arrived("a::Circle"), Arrived { through: pointer, ..arrived("a::Circle") }]);
    types.is_recorded = true;
    let lines = super::text(&types, crate::table::Top::All);
    let expected = "a::Circle 3 (50.0 %), a::Circle in alloc::boxed::Box<dyn a::Shape> 3 (50.0 %)";
    assert!(lines.iter().any(|line| line.ends_with(expected)), "{lines:?}");
}

#[test]
fn a_path_has_no_references_however_many_there_are() {
    for name in ["a::G", "&a::G<u8>", "&mut a::G", "&&mut a::G<u8>", "&mut &a::G"] {
        assert_eq!(arrived(name).path(), "a::G", "{name}");
    }
}

#[test]
fn a_call_on_an_unknown_receiver_is_not_monomorphic() {
    let class = |receiver: Arrived| {
        let mut types = Types::default();
        let value = ValueTypes {
            position: TypeKey::RECEIVER,
            arrived: vec![receiver],
            ..ValueTypes::default()
        };
        types.methods.push(method("a::G::Shape::area", value));
        types.call_sites()[0].class()
    };
    let closure = arrived("a::G<a::main::{{closure}}::{{closure}}>");
    assert_eq!(
        [arrived("a::G<u8>"), behind(None), closure].map(class),
        ["monomorphic", "unknown", "unknown"]
    );
}

#[test]
fn an_implementation_has_arrived_when_a_method_of_it_ran() {
    let mut types = types([arrived("a::Circle")]);
    let ran = |of_trait: &str| Ran {
        method: "a::Square::Shape::unit".to_owned(),
        of_trait: of_trait.to_owned(),
        of_type: "a::Square".to_owned(),
    };
    types.ran = [ran("Debug")].into();
    assert_eq!(unseen(&types).len(), 1);
    types.ran.insert(ran("Shape"));
    assert!(unseen(&types).is_empty());
}

#[test]
fn a_type_inside_a_function_has_its_declared_path() {
    let mut types = types([]);
    types.declared.enums.insert("a::f::E".to_owned(), Vec::new());
    types.declared.implementations.insert(
        "a::T".to_owned(),
        ["a::f::L", "a::I::m::M", "a::I::n::M", "a::J::n::M"].map(str::to_owned).into(),
    );
    let check = |name: &str, expected: &str| assert_eq!(types.declared.as_declared(name), expected);
    check("a::f::{{closure}}::L", "a::f::L");
    check("a::f::{closure#0}::L", "a::f::L");
    check("&a::f::{{closure}}::E", "&a::f::E");
    check("b::G<b::r#type::E, a::r#fn::{{closure}}::E>", "b::G<b::type::E, a::fn::{{closure}}::E>");
    check(
        "(b::G<a::f::{closure#1}::{async_block#0}::L, u8>, [a::f::E; 2])",
        "(b::G<a::f::L, u8>, [a::f::E; 2])",
    );
    check("a::{impl#6}::m::{closure#0}::M", "a::I::m::M");
    check("a::{impl#6}::n::{closure#0}::M", "a::{impl#6}::n::{closure#0}::M");
    check("a::f::{closure#0}::Other<a::f::L>", "a::f::{closure#0}::Other<a::f::L>");
    check("a::main::{{closure}}::{{closure}}", "a::main::{{closure}}::{{closure}}");
}
