#![deny(warnings)]
//! Proxies.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use metaspy::observe;

#[observe(proxy)]
pub trait Layout<'t, A: Default = u8, const N: usize = 2>: Debug + Send
where
    A: Clone,
{
    const SIDES: u32;
    type Item<'a>: Iterator<Item = &'a u32>
    where
        Self: 'a;
    type Error: Default;

    fn measure(&self, _: u32, mut wide: A) -> Result<u32, Self::Error>
    where
        Self: Sized,
    {
        wide.clone_from(&A::default());
        drop(wide);
        Err(Self::Error::default())
    }
    fn change(&mut self, by: impl Into<u32>);
    fn named(&self) -> &'t str;
    fn items(&self) -> Self::Item<'_>;
    #[observe(args(other))]
    fn merge(&mut self, other: &Self, last: u8) -> bool
    where
        Self: Sized;
    fn finish(self) -> u32;
    fn boxed(self: Box<Self>) -> u32;
    fn dup(&self) -> Self;
    fn counted<X: Default + Into<u32>>(&self) -> u32;
    fn nothing() -> usize {
        N
    }
    #[observe(skip)]
    fn quiet(&self) {}
    #[observe(skip)]
    fn counted_by_threads(self: std::sync::Arc<Self>) -> u32
    where
        Self: Sized,
    {
        1
    }
    #[cfg(any())]
    fn never(&self) -> Missing;
    /// # Safety
    /// None is needed.
    unsafe fn dangerous(&self) -> u32;
    fn load(&self) -> impl Future<Output = Option<u32>> + Send;
    fn load_boxed<'a>(&'a self) -> Pin<Box<dyn Future<Output = Option<u32>> + Send + 'a>>;
}

#[derive(Debug)]
pub struct Scene(Vec<u32>);

impl<'t> Layout<'t> for Scene {
    const SIDES: u32 = 4;
    type Item<'a> = std::slice::Iter<'a, u32>;
    type Error = String;
    fn change(&mut self, by: impl Into<u32>) {
        self.0.push(by.into());
    }
    fn named(&self) -> &'t str {
        "scene"
    }
    fn items(&self) -> Self::Item<'_> {
        self.0.iter()
    }
    fn merge(&mut self, other: &Self, _: u8) -> bool {
        self.0.extend(&other.0);
        true
    }
    fn finish(self) -> u32 {
        self.0.len() as u32
    }
    fn boxed(self: Box<Self>) -> u32 {
        self.finish()
    }
    fn dup(&self) -> Self {
        Scene(self.0.clone())
    }
    fn counted<X: Default + Into<u32>>(&self) -> u32 {
        X::default().into()
    }
    unsafe fn dangerous(&self) -> u32 {
        7
    }
    fn load(&self) -> impl Future<Output = Option<u32>> + Send {
        let first = self.0.first().copied();
        async move { first }
    }
    fn load_boxed<'a>(&'a self) -> Pin<Box<dyn Future<Output = Option<u32>> + Send + 'a>> {
        Box::pin(self.load())
    }
}

// A trait of another crate: its signatures are listed.
#[observe(proxy = std::iter::Iterator)]
trait Iterator {
    type Item;
    fn next(&mut self) -> Option<Self::Item>;
    fn size_hint(&self) -> (usize, Option<usize>);
}

fn works<'t>(mut it: impl Layout<'t>) -> u32 {
    it.change(3_u8);
    let other = it.dup();
    assert!(it.merge(&other, 0));
    assert_eq!(it.named(), "scene");
    assert_eq!(it.items().sum::<u32>(), 6);
    assert_eq!(it.counted::<u16>(), 0);
    assert!(it.measure(1, 2).is_err());
    it.quiet();
    drop(it.load());
    drop(it.load_boxed());
    // SAFETY: nothing is required of its caller.
    assert_eq!(unsafe { it.dangerous() }, 7);
    it.finish() + Box::new(other).boxed()
}

fn nothing<'t, L: Layout<'t>>() -> usize {
    L::nothing()
}

fn main() {
    assert_eq!(works(SpiedLayout::new(Scene(vec![]))), 3);
    assert_eq!(nothing::<SpiedLayout<Scene>>(), 2);
    let mut numbers = SpiedIterator::new(1..4);
    assert_eq!(numbers.next(), Some(1));
    assert_eq!(numbers.sum::<i32>(), 5);
}
