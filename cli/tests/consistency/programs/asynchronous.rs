//! Tasks that wait for each other, a stream, and an async function that awaits itself.
use std::pin::Pin;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;

async fn descend(depth: u32) -> u32 {
    tokio::task::yield_now().await;
    match depth {
        0 => 0,
        _ => 1 + below(depth - 1).await,
    }
}

fn below(depth: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(descend(depth))
}

async fn produce(sender: mpsc::Sender<u32>, count: u32) {
    for n in 0..count {
        if sender.send(descend(n % 4).await).await.is_err() {
            return;
        }
    }
}

async fn consume(mut receiver: mpsc::Receiver<u32>) -> u32 {
    let mut sum = 0;
    while let Some(n) = receiver.recv().await {
        sum += n;
    }
    sum
}

/// A sync function whose time is that of polls, in part, and calls within these polls.
fn wait_for(runtime: &tokio::runtime::Runtime, depth: u32) -> u32 {
    runtime.block_on(measure(depth)) + triangle(depth)
}

async fn measure(depth: u32) -> u32 {
    let before = triangle(depth);
    before + descend(depth).await + triangle(before)
}

fn triangle(n: u32) -> u32 {
    (0..=n).map(std::hint::black_box).sum()
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("it starts");
    runtime.block_on(async {
        let (sender, receiver) = mpsc::channel(4);
        let producers: Vec<_> = (0..3).map(|n| tokio::spawn(produce(sender.clone(), 5 + n))).collect();
        drop(sender);
        let sum = tokio::spawn(consume(receiver));
        for producer in producers {
            producer.await.expect("it ends");
        }
        assert!(sum.await.expect("it ends") > 0);
        let doubled: Vec<u32> = tokio_stream::iter(0..10).map(|n| 2 * n).filter(|n| n % 3 == 0).collect().await;
        assert_eq!(doubled.len(), 4);
    });
    for depth in 0..20 {
        assert!(wait_for(&runtime, depth) >= depth);
    }
}
