//! Who is observed, and what runs around a call.
#![cfg(feature = "record")]

mod common;

use std::sync::{Arc, Mutex};

use metaspy::prelude::*;

struct Scene(u32);

trait Layout {
    fn layout(&self, deep: u32) -> Result<u32, String>;
}

#[observe]
impl Layout for Scene {
    #[observe(args(deep))]
    fn layout(&self, deep: u32) -> Result<u32, String> {
        if deep > 3 { Err("too deep".into()) } else { Ok(self.0) }
    }
}

#[observe]
impl Scene {
    fn measure(&self) -> u32 {
        self.0
    }
    fn touched(&self) -> u32 {
        self.0
    }
    fn made() -> Self {
        Scene(1)
    }
    async fn later(&self) -> u32 {
        self.0
    }
}

/// What handlers said, in order.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<String>>>);

impl Said {
    fn say(&self, words: impl Into<String>) {
        self.0.lock().expect("no handler panics while it speaks").push(words.into());
    }
    fn all(&self) -> Vec<String> {
        self.0.lock().expect("no handler panics while it speaks").clone()
    }
}

#[test]
fn handlers_see_the_receiver_the_arguments_and_the_outcome() {
    let said = Said::default();
    let (first, second, last) = (said.clone(), said.clone(), said.clone());
    let profiler = Profiler::new("handlers")
        .observe(on(site!(<Scene as Layout>::layout), move |scene: &Scene, call| {
            first.say(format!("scene {} deep {}", scene.0, call.argument("deep").unwrap_or("?")));
        }))
        .observe(methods("Scene::Layout::layout").before(move |_| second.say("second")).after(move |call| {
            last.say(format!("{:?}", call.outcome));
        }))
        .install()
        .expect("installed");
    assert!(Scene(8).layout(4).is_err());
    drop(profiler);
    assert!(Scene(8).layout(1).is_ok());
    assert_eq!(said.all(), ["scene 8 deep 4", "second", "Some(Failed)"]);
}

#[test]
fn what_a_handler_calls_is_not_observed_and_its_panic_is_caught() {
    let profiler = Profiler::new("meta")
        .observe(on(site!(Scene::measure), |scene: &Scene, _| {
            scene.measure();
            panic!("a handler");
        }))
        .install()
        .expect("installed");
    assert_eq!(common::quietly(|| Scene(3).measure()), 3);
    assert_eq!(profiler.uninstall().counts().total(), 1);
}

#[test]
fn a_site_without_a_receiver_offers_none() {
    // `site!` knows that there is none, so the handler can only be given `()`.
    for calls in [on(site!(Scene::made), |(): &(), _| ()), on(site!(Scene::later), |(): &(), _| ())] {
        let refused = Profiler::new("none").observe(calls).install().expect_err("there is no receiver");
        assert!(refused.to_string().starts_with("this site offers no receiver"), "{refused}");
    }
    drop(Scene::made().later());
}

#[test]
fn only_the_chosen_objects_are_observed() {
    let scenes: Vec<Spied<Scene>> = (0..20).map(|n| Spied::new(Scene(n))).collect();
    let belongs = {
        let odd: Vec<_> = scenes.iter().filter(|scene| scene.0 % 2 == 1).map(|scene| scene.identify()).collect();
        move |subject| odd.contains(&subject)
    };
    let chosen =
        Profiler::new("chosen").observe(objects(&scenes[..3], site!(Scene::touched))).install().expect("installed");
    let grouped = Profiler::new("group").observe(group(belongs, site!(Scene::touched))).install().expect("installed");
    for scene in &scenes {
        scene.touched();
    }
    let (chosen, grouped) = (chosen.uninstall(), grouped.uninstall());
    assert_eq!((chosen.counts().total(), grouped.counts().total()), (3, 10));
    assert_eq!((chosen.count_of(&scenes[0]), grouped.count_of(&scenes[0])), (1, 0));
}

#[test]
fn a_selector_that_matches_nothing_names_the_nearest() {
    let refused = Profiler::new("typo").observe(methods("Scene::mesure")).install().expect_err("a typing error");
    assert!(refused.to_string().contains("Scene::measure"), "{refused}");
}
