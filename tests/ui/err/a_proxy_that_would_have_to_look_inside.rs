use metaspy::observe;

#[observe(proxy)]
trait Merge {
    fn merge(&self, others: Vec<Self>) -> u32
    where
        Self: Sized;
}

#[observe(proxy)]
trait Share {
    fn share(self: std::sync::Arc<Self>) -> u32;
}

fn main() {}
