#![deny(warnings)]

use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use metaspy::observe;

#[derive(Clone)]
pub struct Scene(pub u32);

#[observe]
impl Scene {
    pub fn shared(&self) -> u32 {
        self.0
    }
    pub fn exclusive(&mut self) {
        self.0 += 1;
    }
    pub fn owned(self) -> u32 {
        self.0
    }
    pub fn owned_and_changed(mut self) -> u32 {
        self.0 += 1;
        self.0
    }
    pub fn boxed(self: Box<Self>) -> u32 {
        self.0
    }
    pub fn counted(self: Rc<Self>) -> u32 {
        self.0
    }
    pub fn shared_by_threads(self: Arc<Self>) -> Arc<Self> {
        self
    }
    pub fn borrowed_arc(self: &Arc<Self>) -> u32 {
        self.0
    }
    pub fn pinned(self: Pin<&mut Self>) -> u32 {
        self.0
    }
    pub fn pinned_arc(self: Pin<Arc<Self>>) -> u32 {
        self.0
    }
    pub fn boxed_twice(self: Box<Rc<Self>>) -> u32 {
        self.0
    }
    pub fn owned_and_spelled_out(self: Self) -> u32 {
        self.0
    }
    pub fn spelled_out(self: &Self) -> u32 {
        self.0
    }
    pub fn nothing(a: u32, b: u32) -> u32 {
        a + b
    }
}

fn main() {
    let mut scene = Scene(1);
    scene.exclusive();
    let arc = Arc::new(scene.clone());
    let sum = scene.shared()
        + scene.clone().owned()
        + scene.clone().owned_and_changed()
        + Box::new(scene.clone()).boxed()
        + Rc::new(scene.clone()).counted()
        + arc.borrowed_arc()
        + arc.clone().shared_by_threads().0
        + Pin::new(&mut scene).pinned()
        + Arc::pin(scene.clone()).pinned_arc()
        + Box::new(Rc::new(scene.clone())).boxed_twice()
        + scene.clone().owned_and_spelled_out()
        + scene.spelled_out()
        + Scene::nothing(1, 2);
    assert_eq!(sum, 28);
}
