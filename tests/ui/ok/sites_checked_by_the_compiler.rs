#![deny(warnings)]

use metaspy::{observe, site};

pub struct Scene;
pub struct Grid<T>(T);

pub trait Layout {
    fn layout(&self);
    fn twice(&self) {}
}

#[observe]
impl Scene {
    pub fn measure(&self) {}
    fn r#type(&self) {}
}

#[observe]
impl Layout for Scene {
    fn layout(&self) {}
}

#[observe]
impl<T> Grid<T> {
    pub fn cell(&self) -> &T {
        &self.0
    }
}

#[observe(only)]
impl Scene {
    #[observe]
    pub fn chosen(&self) {}
    #[observe]
    pub fn associated() {}
}

pub mod deep {
    pub struct Tree<'a>(pub &'a str);
    #[metaspy::observe]
    impl<'a> Tree<'a> {
        pub fn walk(&self) -> &'a str {
            self.0
        }
    }
    #[metaspy::observe]
    pub fn free<T>(it: T) -> T {
        it
    }
}

fn main() {
    Scene.measure();
    Scene.layout();
    Scene.twice();
    Scene.r#type();
    Scene.chosen();
    Scene::associated();
    Grid(1).cell();
    deep::Tree("").walk();
    deep::free(1);
    println!("{:?}", site!(Scene::measure));
    println!("{:?}", site!(Scene::chosen));
    println!("{:?}", site!(Scene::associated));
    println!("{:?}", site!(Scene::r#type));
    println!("{:?}", site!(<Scene>::measure));
    println!("{:?}", site!(<Scene as Layout>::layout));
    println!("{:?}", site!(Grid::<u32>::cell));
    println!("{:?}", site!(deep::Tree::walk));
    println!("{:?}", site!(deep::free));
    println!("{:?}", site!(crate::deep::free::<u8>));
}
