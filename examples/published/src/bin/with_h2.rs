//! A server and a client of HTTP/2 on a pipe: twice 100 requests at once.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (a, b) = tokio::io::duplex(64 * 1024);
    tokio::spawn(hyper::server::conn::http2::Builder::new(TokioExecutor::new()).serve_connection(
        TokioIo::new(a),
        service_fn(|r: Request<Incoming>| async move {
            let n = r.into_body().collect().await?.to_bytes().len();
            Ok::<_, hyper::Error>(Response::new(Full::new(Bytes::from(format!("got {n}")))))
        }),
    ));
    let (s, c) = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(b)).await.unwrap();
    tokio::spawn(c);
    let mut n = 0;
    for _ in 0..2 {
        let all = futures::future::join_all((0..100).map(|i| {
            let mut s = s.clone();
            async move {
                s.ready().await.unwrap();
                let r = s
                    .send_request(
                        Request::post(format!("http://x/{i}")).body(Full::new(Bytes::from(vec![b'x'; i * 3]))).unwrap(),
                    )
                    .await
                    .unwrap();
                r.into_body().collect().await.unwrap().to_bytes().len()
            }
        }))
        .await;
        n += all.iter().sum::<usize>();
    }
    println!("{n}");
}
