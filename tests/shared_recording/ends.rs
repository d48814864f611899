//! Profilers that end with their model.

use std::sync::mpsc;

use metaspy::prelude::*;

struct Window(ObjectId);

#[observe(subject = self.0)]
impl Window {
    fn draw(&self) {}
}

#[derive(Clone)]
struct Canvas;

#[observe]
impl Canvas {
    fn paint(&self) {}
}

#[test]
fn a_profiler_ends_when_its_spied_model_is_dropped() {
    let (canvas, other) = (Spied::new(Canvas), Spied::new(Canvas));
    let (send, ended) = mpsc::channel();
    let calls = objects([&canvas, &other], site!(Canvas::paint));
    let profiler = Profiler::new("canvas").observe(calls).install().expect("it is observed");
    profiler.until_end_of(&canvas, move |profile| send.send(profile).expect("the test waits"));
    canvas.paint();
    other.paint();
    drop(other.clone());
    assert!(ended.try_recv().is_err(), "its model lives");
    drop(canvas);
    let profile = ended.try_recv().expect("its model has ended");
    other.paint();
    assert_eq!((profile.counts().total(), profile.count_of(&other)), (2, 1));
}

#[test]
fn a_profiler_ends_when_its_model_is_forgotten_and_a_panic_stays_in_it() {
    let window = Window(ObjectId::new());
    let (send, ended) = mpsc::channel();
    let install =
        || Profiler::new("window").observe(objects([&window.0], site!(Window::draw))).install();
    install()
        .expect("it is observed")
        .until_end_of(&window.0, |_| panic!("the profile is not good enough"));
    install()
        .expect("it is observed")
        .until_end_of(&window.0, move |profile| _ = send.send(profile.counts().total()));
    window.draw();
    crate::common::quietly(|| forget(&window.0));
    assert_eq!(ended.try_recv(), Ok(1));
}
