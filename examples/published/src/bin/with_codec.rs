//! 1,500 frames by two codecs of tokio-util.

use futures::{SinkExt, StreamExt};
use tokio_util::codec::{Framed, LengthDelimitedCodec, LinesCodec};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (a, b) = tokio::io::duplex(1024);
    let mut s = Framed::new(a, LinesCodec::new());
    let mut r = Framed::new(b, LinesCodec::new());
    let h = tokio::spawn(async move {
        let mut n = 0;
        while let Some(Ok(l)) = r.next().await {
            n += l.len()
        }
        n
    });
    for i in 0..1000 {
        s.send(format!("line {i} {}", "x".repeat(i % 90))).await.unwrap();
    }
    drop(s);
    println!("{}", h.await.unwrap());
    let (a, b) = tokio::io::duplex(4096);
    let mut s = Framed::new(a, LengthDelimitedCodec::new());
    let mut r = Framed::new(b, LengthDelimitedCodec::new());
    let h = tokio::spawn(async move {
        let mut n = 0;
        while let Some(Ok(l)) = r.next().await {
            n += l.len()
        }
        n
    });
    for i in 0..500 {
        s.send(bytes::Bytes::from(vec![1u8; i])).await.unwrap();
    }
    drop(s);
    println!("{}", h.await.unwrap());
}
