//! A process of its own.

#[test]
fn neither() {
    assert!(!suite::is_list("1,?"));
}

#[test]
fn in_threads() {
    let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| suite::is_list("x"))).collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}
