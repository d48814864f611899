#![deny(warnings)]

use metaspy::observe;

pub struct Scene(u32);

macro_rules! getter {
    ($name:ident) => {
        pub fn $name(&self) -> u32 {
            self.0
        }
    };
}

#[observe]
impl Scene {
    pub const ZERO: u32 = 0;
    pub const fn new() -> Self {
        Scene(0)
    }
    pub extern "C" fn call(&self) -> u32 {
        self.0
    }
    getter!(made);
    #[observe(skip)]
    pub fn quiet(&self) -> u32 {
        self.0
    }
    pub extern "Rust" fn ordinary(&self) -> u32 {
        self.0
    }
}

macro_rules! observed {
    ($ty:ident, $method:ident, $body:expr) => {
        #[observe]
        impl $ty {
            pub fn $method(&self) -> u32 {
                $body
            }
        }
        impl $ty {
            #[observe]
            pub fn by_itself(&self) -> u32 {
                $body
            }
        }
    };
}

observed!(Scene, from_a_macro, 3);

#[observe(only)]
impl Scene {
    #[observe]
    pub fn chosen(&self) {}
    pub fn not_chosen(&self) {}
}

fn main() {
    const SCENE: Scene = Scene::new();
    assert_eq!(SCENE.call() + SCENE.made() + SCENE.quiet() + SCENE.ordinary() + Scene::ZERO, 0);
    assert_eq!(SCENE.from_a_macro() + SCENE.by_itself(), 6);
    SCENE.chosen();
    SCENE.not_chosen();
    #[observe]
    fn inner() -> u32 {
        1
    }
    struct Local;
    #[observe]
    impl Local {
        fn method(&self) {}
    }
    Local.method();
    assert_eq!(inner(), 1);
}
