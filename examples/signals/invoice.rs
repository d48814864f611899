//! A program that uses the framework: an invoice whose price changes ten times.

use crate::graph::{Graph, Order, SignalId};

/// Number of changes.
pub const CHANGES: i64 = 10;

/// An invoice.
pub struct Invoice {
    /// Its signals.
    pub graph: Graph,
    price: SignalId,
    due: SignalId,
}

impl Invoice {
    /// An invoice of three things.
    pub fn new(order: Order) -> Self {
        let mut graph = Graph::new(order);
        let price = graph.source("price", 1_000);
        let quantity = graph.source("quantity", 3);
        let net = graph.computed("net", &[price, quantity], |of| of[0] * of[1]);
        let tax = graph.computed("tax", &[net], |of| of[0] / 5);
        let shipping = graph.computed("shipping", &[net], |of| if of[0] > 5_000 { 0 } else { 490 });
        let total = graph.computed("total", &[net, tax, shipping], |of| of.iter().sum());
        let due = graph.computed("due", &[total], |of| of[0] - of[0] % 5);
        Invoice { graph, price, due }
    }

    /// Changes the price, and returns what is due after each change.
    pub fn change(&mut self) -> Vec<i64> {
        let (price, due) = (self.price, self.due);
        let prices = (0..CHANGES).map(|change| 1_000 + 100 * change);
        prices
            .map(|value| {
                self.graph.set(price, value);
                self.graph.read(due)
            })
            .collect()
    }
}
