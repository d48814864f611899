//! A thousand threads at once, of a few ms of processor time each.

fn main() {
    let work = |seed: u64| {
        let mut value = seed;
        for round in 0..2_000_000_u64 {
            value = value.wrapping_mul(round | 1) ^ value >> 7;
        }
        std::hint::black_box(value)
    };
    let threads: Vec<_> = (0..1000).map(|seed| std::thread::spawn(move || work(seed))).collect();
    for thread in threads {
        thread.join().expect("the thread ends");
    }
    println!("all ended");
}
