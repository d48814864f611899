//! A service with a buffer and three limits: 400 calls, some of which fail.

use std::time::Duration;
use tower::{BoxError, Service, ServiceBuilder, ServiceExt, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let svc = ServiceBuilder::new()
        .buffer(16)
        .concurrency_limit(8)
        .rate_limit(1000, Duration::from_millis(100))
        .timeout(Duration::from_secs(1))
        .service(service_fn(|n: u64| async move {
            tokio::time::sleep(Duration::from_micros(200)).await;
            if n % 50 == 49 { Err::<u64, BoxError>("odd".into()) } else { Ok(n * 2) }
        }));
    let r = futures::future::join_all((0..400u64).map(|i| {
        let mut s = svc.clone();
        async move { s.ready().await.unwrap().call(i).await.unwrap_or(0) }
    }))
    .await;
    println!("{}", r.iter().sum::<u64>());
}
