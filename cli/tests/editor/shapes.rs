//! A small library with tests.

use crate::common::{Package, manifest};

/// Its source. The tests call `area` of squares 7 times and of circles 3 times, and never `scale`.
pub const SOURCE: &str = "\
pub trait Shape {
    fn area(&self) -> u64;
}

pub struct Square(pub u64);

pub struct Circle(pub u64);

impl Shape for Square {
    fn area(&self) -> u64 {
        product(self.0, self.0)
    }
}

impl Shape for Circle {
    fn area(&self) -> u64 {
        product(3, product(self.0, self.0))
    }
}

impl Circle {
    pub fn scale(&mut self, by: u64) {
        self.0 *= by;
    }
}

/* 𝄞 */ fn product(a: u64, b: u64) -> u64 {
    a * b
}

pub fn total(shapes: &[Box<dyn Shape>]) -> u64 {
    shapes.iter().map(|shape| shape.area()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_add_up() {
        let mut shapes: Vec<Box<dyn Shape>> = Vec::new();
        (0..7).for_each(|side| shapes.push(Box::new(Square(side))));
        (0..3).for_each(|radius| shapes.push(Box::new(Circle(radius))));
        assert_eq!(total(&shapes), 91 + 15);
    }
}
";

/// The package, not recorded yet.
pub fn package(name: &str) -> Package {
    Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/lib.rs", SOURCE)])
}

/// The package after `cargo metaspy test` with these arguments.
pub fn recorded(name: &str, arguments: &[&str]) -> Package {
    let package = package(name);
    package.metaspy(&[&["test", "--lib"], arguments].concat());
    package
}
