#![deny(warnings)]

use metaspy::observe;

#[observe]
pub trait Shape {
    const SIDES: u32;
    type Unit: Default;

    fn area(&self) -> f64;
    fn doubled(&self) -> f64 {
        self.area() * 2.0
    }
    fn boxed(self: Box<Self>) -> f64 {
        self.area()
    }
    fn owned(self) -> f64
    where
        Self: Sized,
    {
        self.area()
    }
    fn name() -> &'static str
    where
        Self: Sized,
    {
        "shape"
    }
    #[observe(skip)]
    fn quiet(&self) {}
    fn unit(&self) -> Self::Unit {
        Self::Unit::default()
    }
}

pub struct Square(f64);
pub struct Ring<T>(T);

#[observe]
impl Shape for Square {
    const SIDES: u32 = 4;
    type Unit = u8;
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

#[observe]
impl<T: Copy + Into<f64>> Shape for Ring<T> {
    const SIDES: u32 = 0;
    type Unit = ();
    fn area(&self) -> f64 {
        self.0.into()
    }
    fn doubled(&self) -> f64 {
        1.0
    }
}

#[observe]
impl<T: Shape + ?Sized> Shape for &T {
    const SIDES: u32 = T::SIDES;
    type Unit = T::Unit;
    fn area(&self) -> f64 {
        (**self).area()
    }
}

#[observe]
impl std::fmt::Display for Square {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        Ok(())
    }
}

pub trait Len {
    fn len_of(&self) -> usize;
}

#[observe]
impl Len for str {
    fn len_of(&self) -> usize {
        self.len()
    }
}

#[observe]
impl Len for [u8] {
    fn len_of(&self) -> usize {
        self.len()
    }
}

#[observe]
impl Len for dyn std::fmt::Debug + Send {
    fn len_of(&self) -> usize {
        0
    }
}

pub struct Tail<T: ?Sized>(pub u8, pub T);

#[observe]
impl Len for Tail<dyn std::fmt::Debug> {
    fn len_of(&self) -> usize {
        usize::from(self.0)
    }
}

#[observe]
impl Len for Tail<[u8]> {
    fn len_of(&self) -> usize {
        self.1.len()
    }
}

#[observe]
impl Len for (u8, u8) {
    fn len_of(&self) -> usize {
        2
    }
}

fn main() {
    let square = Square(2.0);
    assert_eq!((&square).doubled() + square.doubled() + Ring(1.0).doubled(), 17.0);
    assert_eq!(square.to_string(), "2");
    assert_eq!("ab".len_of() + [1_u8][..].len_of() + (1_u8, 2_u8).len_of(), 5);
    let tail: &Tail<[u8]> = &Tail(3, [1_u8]);
    let debug: &Tail<dyn std::fmt::Debug> = &Tail(3, "");
    assert_eq!(tail.len_of() + debug.len_of(), 4);
    square.quiet();
    assert_eq!(<Square as Shape>::name(), "shape");
    assert_eq!(square.unit(), 0);
    assert_eq!(Box::new(square).boxed(), 4.0);
    assert_eq!(Square(1.0).owned(), 1.0);
}
