//! A server and a client of HTTP/1 on a pipe: 200 requests on one connection.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (a, b) = tokio::io::duplex(64 * 1024);
    tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(
        TokioIo::new(a),
        service_fn(|r: Request<Incoming>| async move {
            let n = r.into_body().collect().await?.to_bytes().len();
            Ok::<_, hyper::Error>(Response::new(Full::new(Bytes::from(format!("got {n}")))))
        }),
    ));
    let (mut s, c) = hyper::client::conn::http1::handshake(TokioIo::new(b)).await.unwrap();
    tokio::spawn(c);
    let mut n = 0;
    for i in 0..200 {
        s.ready().await.unwrap();
        let r = s
            .send_request(
                Request::post(format!("/{i}"))
                    .header("host", "x")
                    .body(Full::new(Bytes::from(vec![b'x'; i * 3])))
                    .unwrap(),
            )
            .await
            .unwrap();
        n += r.into_body().collect().await.unwrap().to_bytes().len();
    }
    println!("{n}");
}
