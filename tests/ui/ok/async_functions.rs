#![deny(warnings)]

use std::future::Future;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use metaspy::observe;

pub struct Client {
    name: String,
}

#[observe]
impl Client {
    pub async fn get(&self, path: &str) -> Result<String, std::num::ParseIntError> {
        let n: u32 = path.parse()?;
        std::future::ready(()).await;
        Ok(format!("{}{n}", self.name))
    }
    pub async fn change(&mut self, mut to: String) -> &mut Self {
        to.push('!');
        self.name = to;
        self
    }
    pub async fn unit(&self, stop: bool) {
        if stop {
            return;
        }
        std::future::ready(()).await
    }
    pub async fn boxed(&self, deep: bool) -> Box<dyn std::fmt::Display + '_> {
        if deep {
            return Box::new(1);
        }
        Box::new(&self.name)
    }
    pub async fn tried_boxed(&self) -> Result<Box<dyn std::fmt::Display>, Box<dyn std::error::Error>> {
        if self.name.is_empty() {
            return Err("empty".into());
        }
        Ok(Box::new(1))
    }
    pub async fn listed(&self) -> impl Iterator<Item = char> + '_ {
        self.name.chars()
    }
    pub async fn owned(self) -> String {
        self.name
    }
    pub fn made(&self) -> impl Future<Output = Option<usize>> + '_ {
        async move { Some(self.name.len()) }
    }
    pub fn boxed_future<'a>(&'a self) -> Pin<Box<dyn Future<Output = Result<u32, ()>> + Send + 'a>> {
        Box::pin(async move {
            if self.name.is_empty() {
                return Err(());
            }
            Ok(1)
        })
    }
    pub fn unpin(&self) -> std::future::Ready<u32> {
        std::future::ready(1)
    }
    pub async fn never(&self) -> ! {
        loop {
            std::future::pending::<()>().await
        }
    }
    pub async fn not_yet(&self) -> u32 {
        todo!()
    }
    pub async unsafe fn dangerous(&self) -> u32 {
        1
    }
}

#[observe]
pub async fn generic<T, F: Future<Output = T>>(it: F) -> T
where
    T: Send,
{
    it.await
}

pub trait Fetch {
    fn fetch(&self) -> impl Future<Output = u32> + Send;
}

#[observe]
impl Fetch for Client {
    async fn fetch(&self) -> u32 {
        std::future::ready(7).await
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

fn is_send_and_sync<T: Send + Sync>(it: T) -> T {
    it
}

fn main() {
    let mut client = Client { name: "n".into() };
    assert_eq!(block_on(is_send_and_sync(client.get("1"))), Ok("n1".into()));
    assert!(block_on(client.get("x")).is_err());
    block_on(is_send_and_sync(client.change("m".into())));
    block_on(client.unit(true));
    assert_eq!(block_on(client.boxed(true)).to_string(), "1");
    assert!(block_on(client.tried_boxed()).is_ok());
    assert_eq!(block_on(client.listed()).count(), 2);
    assert_eq!(block_on(client.made()), Some(2));
    assert_eq!(block_on(client.boxed_future()), Ok(1));
    fn unpin<T: Unpin>(_: T) {}
    unpin(client.unpin());
    assert_eq!(block_on(generic(async { 3 })), 3);
    assert_eq!(block_on(client.fetch()), 7);
    // SAFETY: nothing is required of its caller.
    assert_eq!(block_on(unsafe { client.dangerous() }), 1);
    drop(client.never());
    drop(client.not_yet());
    assert_eq!(block_on(client.owned()), "m!");
}
