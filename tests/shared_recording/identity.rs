//! The subject of a call.

use crate::common::{quietly, watch};
use metaspy::prelude::*;

#[derive(Clone, Copy, Identify)]
struct NodeId(u32);

struct Tree {
    owner: Owner,
}

#[observe]
impl Tree {
    #[observe(subject = (&self.owner, node.0))]
    fn measure(&self, node: NodeId) -> u32 {
        node.0
    }
    #[observe(subject = NodeId([7][node]))]
    fn indexed(&self, node: usize) {}
    #[observe(subject = self.key())]
    fn keyed(&self) {}
    fn key(&self) -> u64 {
        9
    }
}

#[test]
fn equal_keys_of_two_owners_are_two_subjects() {
    let trees = [Tree { owner: Owner::new("tree") }, Tree { owner: Owner::new("tree") }];
    let seen = watch(methods(site!(Tree::measure)), "Tree::measure", || {
        for tree in &trees {
            tree.measure(NodeId(5));
        }
        trees[0].measure(NodeId(5));
    });
    assert_eq!(seen.profile.counts().by_subject().rows.len(), 2);
    assert_eq!(seen.profile.count_of((&trees[0].owner, 5_u32)), 2);
    assert_eq!(seen.profile.count_of(NodeId(5)), 0);
}

#[test]
fn a_call_whose_subject_expression_panics_has_no_subject() {
    let tree = Tree { owner: Owner::new("tree") };
    let seen = watch(methods(site!(Tree::indexed)), "Tree::indexed", || {
        tree.indexed(0);
        quietly(|| tree.indexed(3));
    });
    assert_eq!(
        seen.events.iter().map(|event| event.subject).collect::<Vec<_>>(),
        [Some(NodeId(7).identify()), None]
    );
}

#[test]
fn a_subject_expression_may_call_observed_methods() {
    let tree = Tree { owner: Owner::new("tree") };
    let seen = watch(methods("Tree::key*"), "Tree::keyed", || tree.keyed());
    assert_eq!(seen.events.len(), 1);
    assert_eq!(seen.events[0].subject, Some(9_u64.identify()));
}

#[test]
fn the_identity_of_a_receiver_is_its_identify_impl() {
    #[derive(Identify)]
    struct Wide {
        #[identify(key)]
        id: u64,
        _name: &'static str,
    }
    #[observe]
    impl Wide {
        fn by_reference(&self) {}
        fn by_value(self) {}
    }
    let seen = watch(methods("Wide::*"), "Wide::*", || {
        let wide = Wide { id: 4, _name: "" };
        wide.by_reference();
        wide.by_value();
    });
    assert_eq!(seen.profile.count_of(Wide { id: 4, _name: "" }), 2);
}

mod a {
    pub struct Placed(pub u32);
    #[metaspy::observe]
    impl Placed {
        pub fn one(&self) {}
    }
}
mod b {
    pub trait Two {
        fn two(&self);
        fn three(&self);
    }
    #[metaspy::observe]
    impl Two for super::a::Placed {
        fn two(&self) {}
        fn three(&self) {}
    }
    #[metaspy::observe]
    pub trait Four {
        fn four(&self) {}
    }
    impl Four for super::a::Placed {}
}

#[test]
fn methods_of_one_object_have_one_subject_in_all_impl_blocks() {
    use b::{Four, Two};
    let placed = a::Placed(1);
    let profiler = Profiler::new("placed")
        .observe(methods("a::Placed::one"))
        .observe(methods("Placed::Two::*"))
        .observe(methods("Four::four"))
        .install()
        .expect("installed");
    placed.one();
    placed.two();
    placed.three();
    placed.four();
    let rows = profiler.uninstall().counts().by_subject().rows.len();
    assert_eq!(rows, 1, "one object, one subject; its value is {}", placed.0);
}

#[test]
fn functions_and_methods_that_take_self_by_value_have_no_subject() {
    struct Gone(#[expect(dead_code)] u32);
    #[observe]
    impl Gone {
        fn taken(self) {}
        fn made() -> Self {
            Gone(1)
        }
    }
    let seen = watch(methods("Gone::*"), "Gone::*", || Gone::made().taken());
    assert!(seen.events.iter().all(|event| event.subject.is_none()));
}

#[test]
fn the_identity_of_a_spied_object_survives_moves_and_ends_with_it() {
    struct Moving(u32);
    #[observe]
    impl Moving {
        fn step(&mut self) {
            self.0 += 1;
        }
    }
    let mut copies = Vec::new();
    let seen = watch(methods("Moving::step"), "Moving::step", || {
        let mut moving = Spied::new(Moving(1));
        moving.step();
        let mut moved = Box::new(moving);
        moved.step();
        copies.push(*moved);
        copies[0].step();
        copies[0].call_mut("unseen", |moving| moving.step());
    });
    assert_eq!(seen.profile.count_of(&copies[0]), 4);
    let identity = copies[0].identify();
    let mut inner = copies.remove(0).into_inner();
    let seen = watch(methods("Moving::step"), "Moving::step", || inner.step());
    assert_eq!(seen.profile.count_of(identity), 0);
}

#[test]
fn a_part_at_the_address_of_its_owner_is_another_subject() {
    struct Whole {
        part: Part,
    }
    struct Part(u64);
    #[observe]
    impl Whole {
        fn whole(&self) {}
    }
    #[observe]
    impl Part {
        fn part(&self) -> u64 {
            self.0
        }
    }
    let whole = Spied::new(Whole { part: Part(1) });
    let profiler =
        Profiler::new("parts").observe(methods("Whole::whole")).observe(methods("Part::part"));
    let profiler = profiler.install().expect("installed");
    whole.whole();
    whole.part.part();
    let profile = profiler.uninstall();
    assert_eq!(profile.count_of(&whole), 1);
    assert_eq!(profile.counts().by_subject().rows.len(), 2);
}

#[test]
fn objects_of_other_crates_are_observed_by_an_explicit_call() {
    let names = Spied::new(vec!["a"]);
    let others = Spied::new(vec!["b"]);
    let profiler = Profiler::new("names")
        .observe(objects([&names], names.site("length")))
        .install()
        .expect("installed");
    assert_eq!(
        names.call("length", |names| names.len()) + others.call("length", |names| names.len()),
        2
    );
    let profile = profiler.uninstall();
    assert_eq!(profile.counts().total(), 1);
    assert_eq!(profile.count_of(&names), 1);
    assert!(profile.counts().by_site().at("alloc::vec::Vec::length").is_some());
}

#[test]
fn the_subject_of_a_proxy_is_the_wrapped_object() {
    #[observe(proxy)]
    trait Draw {
        fn draw(&self, scale: u32) -> u32;
        fn twice(&self) -> u32 {
            self.draw(2)
        }
    }
    struct Circle(u32);
    impl Draw for Circle {
        fn draw(&self, scale: u32) -> u32 {
            self.0 * scale
        }
    }
    let shapes: Vec<Box<dyn Draw>> = vec![Box::new(SpiedDraw::new(Circle(2))), Box::new(Circle(3))];
    let seen = watch(methods("SpiedDraw::Draw::*"), "SpiedDraw::Draw::*", || {
        assert_eq!(shapes.iter().map(|shape| shape.draw(1) + shape.twice()).sum::<u32>(), 15);
    });
    assert_eq!(seen.text(), "draw returned\ntwice returned\n");
    assert_eq!(seen.profile.counts().by_subject().rows.len(), 1);
}

#[test]
fn reads_and_writes_of_a_watched_field_are_events() {
    let owner = ObjectId::new();
    let mut width = Watched::new("Window::width", 80).owned_by(&owner);
    let seen = watch(methods("Window::width::*"), "Window::width::*", || {
        assert_eq!(width.set(*width.get() + 1), 80);
        width.update(|width| *width += 1);
        assert_eq!(*width.get(), 82);
    });
    assert_eq!(seen.text(), "read instant\nwrite instant\nwrite returned\nread instant\n");
    assert_eq!(seen.profile.count_of(&owner), 4);
}

#[test]
fn objects_are_shown_and_selected_by_their_type() {
    struct Gadget;

    #[observe]
    impl Gadget {
        fn turn(&self) {}
    }

    let gadget = Spied::new(Gadget);
    let number = gadget.identify().key;
    let profile = watch(methods(site!(Gadget::turn)), "Gadget::turn", || gadget.turn()).profile;
    let store = profile.store();
    assert_eq!(store.subject_text(gadget.identify()), format!("Gadget #{number}"));
    let filter: metaspy::store::Filter =
        format!("subject:Gadget:{number}").parse().expect("a filter");
    assert!(
        store.forward(metaspy::store::Position::Start, &filter, 1, usize::MAX).events.len() == 1
    );
    // The parameters of a type belong to its name.
    let names = Spied::new(vec![String::new()]);
    let text = profile.store().subject_text(names.identify());
    assert!(!text.starts_with("object"), "{text}");
}
