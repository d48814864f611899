//! A small domain, woven by hand.

use std::future::Future;
use std::hash::{Hash, Hasher};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Has a size, so that its receivers have places.
pub struct Scene {
    pub nodes: Vec<u32>,
}

/// A key that the program hashes itself, watched and with itself for a subject. Thirteen has no
/// hash.
pub struct Key(pub u32);

impl Hash for Key {
    fn hash<H: Hasher>(&self, into: &mut H) {
        metaspy_probe::hook!(
            "Key::Hash::hash",
            119,
            123,
            "c=1 self=ref type=Key trait=Hash vis=pub",
            [key * self],
            []
        );
        assert!(self.0 != 13, "no hash");
        self.0.hash(into);
    }
}

pub trait Layout {
    fn measure(&self) -> u32;

    fn twice(&self) -> u32 {
        metaspy_probe::hook!("Layout::twice", 13, 16, "c=1 self=ref trait=Layout super=Sized vis=pub", [place self], []);
        self.measure() * 2
    }
}

impl Layout for Scene {
    fn measure(&self) -> u32 {
        metaspy_probe::hook!("Scene::Layout::measure", 20, 23, "c=1 self=ref type=Scene trait=Layout vis=pub", [place self], []);
        self.nodes.iter().sum()
    }
}

impl Scene {
    pub fn new(nodes: &[u32]) -> Self {
        metaspy_probe::hook!("Scene::new", 27, 30, "c=1 self=none type=Scene vis=pub", [], []);
        Scene { nodes: nodes.to_vec() }
    }

    pub fn never(&self) -> u32 {
        metaspy_probe::hook!("Scene::never", 32, 35, "c=3 self=ref type=Scene vis=private", [place self], []);
        0
    }

    pub fn factorial(&self, of: u32) -> u32 {
        metaspy_probe::hook!("Scene::factorial", 37, 40, "c=2 self=ref type=Scene vis=pub", [place self], [any of]);
        if of == 0 { 1 } else { of * self.factorial(of - 1) }
    }

    pub fn is_even(&self, number: u32) -> bool {
        metaspy_probe::hook!("Scene::is_even", 104, 107, "c=2 self=ref type=Scene vis=pub", [place self], []);
        number == 0 || self.is_odd(number - 1)
    }

    pub fn is_odd(&self, number: u32) -> bool {
        metaspy_probe::hook!("Scene::is_odd", 109, 112, "c=2 self=ref type=Scene vis=pub", [place self], []);
        number != 0 && self.is_even(number - 1)
    }

    pub fn holds(&self, key: &Key) -> bool {
        metaspy_probe::hook!("Scene::holds", 114, 117, "c=1 self=ref type=Scene vis=pub", [key key], []);
        self.nodes.contains(&key.0)
    }

    pub fn fails(&mut self) {
        metaspy_probe::hook!("Scene::fails", 42, 45, "c=1 self=mut type=Scene vis=pub unit", [place self], []);
        panic!("on purpose");
    }

    pub fn name(&self) -> &str {
        metaspy_probe::whole!("Scene::name", 47, 49, "c=1 self=ref type=Scene vis=pub deep", [place self], [], [borrowed any &str], { "scene" })
    }

    pub fn push(&mut self, node: u32) -> &mut Self {
        metaspy_probe::whole!("Scene::push", 51, 56, "c=1 self=mut type=Scene vis=pub deep", [place self], [any node], [borrowed any &mut Self], {
            self.nodes.push(node);
            self
        })
    }

    pub fn count(&self) -> usize {
        metaspy_probe::whole!("Scene::count", 58, 60, "c=1 self=ref type=Scene vis=pub deep", [place self], [], [own any usize], { self.nodes.len() })
    }

    pub fn area(&self) -> f32 {
        metaspy_probe::whole!("Scene::area", 62, 64, "c=1 self=ref type=Scene vis=pub deep", [place self], [], [own any f32], { self.nodes.len() as f32 })
    }

    pub fn opaque(&self) -> impl Fn() + use<> {
        metaspy_probe::hook!("Scene::opaque", 66, 69, "c=1 self=ref type=Scene vis=pub", [place self], []);
        || {}
    }

    pub fn closure(&self) -> Box<dyn Fn()> {
        metaspy_probe::whole!("Scene::closure", 71, 73, "c=1 self=ref type=Scene vis=pub deep", [place self], [], [own any Box<dyn Fn()>], { Box::new(|| {}) })
    }

    pub fn first(&self, or: bool) -> Result<u32, String> {
        metaspy_probe::whole!("Scene::first", 75, 81, "c=2 self=ref type=Scene vis=pub deep", [place self], [any or], [own any Result<u32, String>], {
            if or {
                return Ok(7);
            }
            self.nodes.first().copied().ok_or_else(|| "none".to_owned())
        })
    }

    pub fn newest(&self) -> Option<u32> {
        metaspy_probe::whole!("Scene::newest", 92, 94, "c=1 self=ref type=Scene vis=pub deep", [place self], [], [own any Option<u32>], { self.nodes.last().copied() })
    }

    pub async fn waits(&self, times: u32) -> usize {
        metaspy_probe::polled_whole!("Scene::waits", 83, 90, "c=2 self=ref type=Scene vis=pub async deep", [place self], [any times], [own any usize], {
            for _ in 0..times {
                Pause(false).await;
                self.measure();
            }
            self.nodes.len()
        })
    }
}

/// A test, woven so that it is known which one runs.
pub fn a_test(scene: &Scene) {
    metaspy_probe::hook!("a_test", 94, 97, "c=1 self=none vis=private test alone unit", [], []);
    scene.twice();
}

/// Another one, which does something while it runs.
pub fn a_long_test(during: &dyn Fn()) {
    metaspy_probe::hook!(
        "a_long_test",
        100,
        103,
        "c=1 self=none vis=private test alone unit",
        [],
        []
    );
    during();
}

/// Is pending once.
pub struct Pause(pub bool);

impl Future for Pause {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Polls a future until it is done.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

/// A future of woven code is what it would be.
pub fn stays<F: Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>(future: F) -> F {
    future
}
