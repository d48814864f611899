//! Four tasks that look up 6,000 keys, most of which are cached.

use moka::future::Cache;
use std::time::Duration;

#[tokio::main(worker_threads = 2)]
async fn main() {
    let c: Cache<u32, String> = Cache::builder().max_capacity(100).time_to_idle(Duration::from_secs(5)).build();
    let hs: Vec<_> = (0..4u32)
        .map(|t| {
            let c = c.clone();
            tokio::spawn(async move {
                let mut x = t + 1;
                let mut n = 0;
                for _ in 0..1500 {
                    x = x.wrapping_mul(1664525).wrapping_add(1013904223);
                    let k = ((x >> 8) % 20) * ((x >> 16) % 20);
                    n += c
                        .get_with(k, async move {
                            tokio::task::yield_now().await;
                            k.to_string()
                        })
                        .await
                        .len();
                }
                n
            })
        })
        .collect();
    let mut n = 0;
    for h in hs {
        n += h.await.unwrap();
    }
    println!("{n} {}", c.entry_count());
}
