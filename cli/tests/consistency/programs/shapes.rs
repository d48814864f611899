//! Objects of several types behind one trait, results that fail, and a call that panics.
use std::panic::{AssertUnwindSafe, catch_unwind};

trait Shape {
    fn area(&self) -> f64;
    fn scaled(&self, by: f64) -> Option<f64> {
        (by > 0.0).then(|| self.area() * by)
    }
}

struct Circle(f64);
struct Group(Vec<Box<dyn Shape>>);

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.0 * self.0 * 3.0
    }
}

impl Shape for Group {
    fn area(&self) -> f64 {
        self.0.iter().map(|shape| shape.area()).sum()
    }
}

fn parse(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("{text} is no number"))
}

fn check(number: f64) -> f64 {
    assert!(number < 100.0, "too large");
    number
}

fn never() {}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let group = Group((1..5).map(|n| Box::new(Circle(f64::from(n))) as Box<dyn Shape>).collect());
    let all = Group(vec![Box::new(group), Box::new(Circle(2.0))]);
    for by in [-1.0, 0.5, 2.0] {
        let _ = all.scaled(by);
    }
    let numbers = ["1", "x", "3"].map(parse);
    assert_eq!(numbers.iter().filter(|number| number.is_err()).count(), 1);
    for number in [1.0, 200.0] {
        let _ = catch_unwind(AssertUnwindSafe(|| check(number)));
    }
    if std::env::args().count() > 9 {
        never();
    }
}
