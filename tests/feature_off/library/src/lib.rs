//! A library of the 2021 edition, without the standard library and without unsafe code.
//!
//! With `--cfg plain` it is the same library before anybody observed it.

#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs)]

use core::future::Future;
use core::num::ParseIntError;

use metaspy::{Identify, Lookups, ObjectId, Spied, Watched};

/// The key of a node.
#[derive(Clone, Copy, PartialEq, Eq, Identify)]
pub struct NodeId(pub u32);

/// What a scene announces.
#[derive(Clone, Copy, metaspy::Announce)]
pub enum Change {
    /// A node was added.
    Added(NodeId),
    /// All were removed.
    Cleared,
}

/// A scene.
#[derive(Debug, Default, Identify)]
pub struct Scene {
    #[identify(same)]
    id: ObjectId,
    sizes: [u32; 4],
}

#[cfg_attr(not(plain), metaspy::observe)]
impl Scene {
    /// The size of a node.
    #[cfg_attr(not(plain), observe(subject = node))]
    pub fn measure(&mut self, node: NodeId, text: &str) -> Result<u32, ParseIntError> {
        let size = text.parse()?;
        if size == 0 {
            return Ok(1);
        }
        self.sizes[node.0 as usize % 4] = size;
        Ok(self.sizes.iter().sum())
    }

    /// The size of everything.
    #[cfg_attr(not(plain), observe(name = "sum"))]
    pub fn total(&self) -> Option<u32> {
        self.sizes.iter().try_fold(0_u32, |sum, size| sum.checked_add(*size))
    }

    /// The size of everything, later.
    pub async fn later(&self) -> Option<u32> {
        core::future::ready(()).await;
        self.total()
    }

    /// The size of everything, wherever it is wanted.
    pub fn anywhere(&self) -> impl Future<Output = u32> + Send + 'static {
        let total = self.total();
        async move { total.unwrap_or_default() }
    }
}

/// Can be drawn.
#[metaspy::observe(proxy)]
pub trait Draw {
    /// Draws.
    fn draw(&self) -> u32;
}

impl Draw for Scene {
    fn draw(&self) -> u32 {
        self.total().unwrap_or_default()
    }
}

/// A scene with an identity, drawn.
pub fn drawn() -> u32 {
    let mut scene = Spied::new(Scene::default());
    scene.sizes = [1, 2, 3, 4];
    let mut width = Watched::new("Scene::width", 1);
    width.set(2);
    metaspy::label(&scene, "a scene");
    metaspy::state!(scene, width.get(), 2);
    scene.call("draw", Draw::draw) + SpiedDraw::new(scene.into_inner()).draw() + width.get()
}

/// Half a number, from a cache.
pub fn half(cache: &mut [Option<u32>; 4], lookups: &Lookups, number: u32) -> u32 {
    let at = number as usize % 4;
    if let Some(half) = lookups.look_up(NodeId(number), || cache[at]) {
        return half;
    }
    let half = lookups.fill(NodeId(number), || number / 2);
    cache[at] = Some(half);
    half
}

/// Unused.
pub mod idle {
    /// Never called, and not even referred to.
    #[cfg_attr(not(plain), metaspy::observe)]
    pub fn never_called<T: Clone>(it: &T) -> T {
        it.clone()
    }
}
