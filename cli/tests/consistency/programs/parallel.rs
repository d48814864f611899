//! Threads that fill one map.
use dashmap::DashMap;

fn fibonacci(map: &DashMap<u32, u64>, n: u32) -> u64 {
    if let Some(known) = map.get(&n) {
        return *known;
    }
    let value = match n {
        0 | 1 => u64::from(n),
        _ => fibonacci(map, n - 1) + fibonacci(map, n - 2),
    };
    map.insert(n, value);
    value
}

fn main() {
    let map = DashMap::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let map = &map;
            scope.spawn(move || assert!(fibonacci(map, 20 + thread) > 0));
        }
    });
    assert_eq!(map.len(), 24);
}
