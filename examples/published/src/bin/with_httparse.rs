//! 300 requests, a fifth of which are incomplete.

fn main() {
    let req = b"GET /wp-content/uploads/2010/03/hello.jpg HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: Mozilla/5.0 (X11)\r\nAccept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\nCookie: wp_ozh_wsa_visits=2; a=b\r\nKeep-Alive: 115\r\n\r\n";
    let mut n = 0;
    for i in 0..300 {
        let cut = if i % 5 == 0 { req.len() / 2 } else { req.len() };
        let mut h = [httparse::EMPTY_HEADER; 16];
        let mut r = httparse::Request::new(&mut h);
        if r.parse(&req[..cut]).unwrap().is_complete() {
            n += r.headers.len();
        }
    }
    println!("{n}");
}
