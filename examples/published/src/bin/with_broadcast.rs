//! 1,000 messages to eight receivers.

#[tokio::main(worker_threads = 2)]
async fn main() {
    let (tx, rx) = async_broadcast::broadcast::<u64>(64);
    let hs: Vec<_> = (0..8)
        .map(|_| {
            let mut r = rx.clone();
            tokio::spawn(async move {
                let mut s = 0;
                while let Ok(v) = r.recv().await {
                    s += v
                }
                s
            })
        })
        .collect();
    drop(rx);
    for i in 0..1000 {
        tx.broadcast(i).await.unwrap();
    }
    drop(tx);
    let mut n = 0;
    for h in hs {
        n += h.await.unwrap();
    }
    println!("{n}");
}
