//! Installs without handlers, and asks for one.

use metaspy::prelude::*;

#[observe]
fn work() -> u32 {
    1
}

fn main() {
    let (one, profile) =
        Profiler::new("plain").observe(methods("work")).profile(work).expect("it has no handlers");
    assert_eq!((one, profile.counts().total()), (1, 1));
    match Profiler::new("handlers")
        .observe(methods("work").before(|_| println!("handled")))
        .install()
    {
        Ok(_installed) => assert_eq!(work(), 1),
        Err(refused) => println!("refused: {refused}"),
    }
}
