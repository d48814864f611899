//! Forty tasks that share eight connections.

use deadpool::managed::{Manager, Metrics, Pool, RecycleResult};

struct M;
struct Conn(u64);
impl Manager for M {
    type Type = Conn;
    type Error = std::convert::Infallible;
    async fn create(&self) -> Result<Conn, Self::Error> {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        Ok(Conn(0))
    }
    async fn recycle(&self, _: &mut Conn, _: &Metrics) -> RecycleResult<Self::Error> {
        Ok(())
    }
}
#[tokio::main(worker_threads = 2)]
async fn main() {
    let pool: Pool<M> = Pool::builder(M).max_size(8).build().unwrap();
    let hs: Vec<_> = (0..40)
        .map(|_| {
            let p = pool.clone();
            tokio::spawn(async move {
                let mut s = 0;
                for _ in 0..20 {
                    let mut c = p.get().await.unwrap();
                    c.0 += 1;
                    s += c.0;
                    tokio::time::sleep(std::time::Duration::from_micros(300)).await;
                }
                s
            })
        })
        .collect();
    let mut n = 0;
    for h in hs {
        n += h.await.unwrap();
    }
    println!("{n} {:?}", pool.status());
}
