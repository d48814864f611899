//! Which signals are computed more often than their inputs change?
//!
//! The framework of `docs/your-framework.md`: a graph of signals that follow each other, and a
//! profiler for it.
//!
//! **The finding.** Ten changes of a price compute the total of an invoice 30 times, and of what is
//! due 20 values are never read. The graph computes a signal as soon as one of its inputs has
//! changed, and the total has three inputs that follow the price. With `--inputs-first` it waits
//! for all of them: 10 times, and every value is read.
//!
//! Run it with `cargo run --example signals [-- --inputs-first] [--record FILE.spy]`.

mod depth;
mod graph;
mod invoice;
mod listeners;
mod profiler;
mod unread;

use std::error::Error;

use metaspy::Recording;

use graph::Order;
use invoice::Invoice;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let order = if arguments.iter().any(|it| it == "--inputs-first") {
        Order::InputsFirst
    } else {
        Order::AtOnce
    };
    if let Some(at) = arguments.iter().position(|it| it == "--record") {
        let file = arguments.get(at + 1).ok_or("--record needs a file")?;
        Recording::file(file).start()?;
    }
    let mut invoice = Invoice::new(order);
    let profiler = profiler::profiler(&invoice.graph).install()?;
    let due = invoice.change();
    let profile = profiler.uninstall();
    println!("due: {due:?}\n");
    println!("{}", profile.counts().by_site_and_subject());
    Ok(())
}
