use metaspy::observe;

#[observe(proxy)]
trait Merge {
    fn merge(&self, others: Vec<Self>) -> u32
    where
        Self: Sized;
}

#[observe(proxy)]
trait Split {
    fn split(&self) -> Option<Self>
    where
        Self: Sized;
}

#[observe(proxy)]
trait Share {
    fn share(self: std::sync::Arc<Self>) -> u32;
}

#[observe(proxy)]
trait Count {
    // Its default body is not what the wrapped value may do instead.
    fn count(self: std::rc::Rc<Self>) -> u32 {
        1
    }
}

#[observe(proxy)]
trait Poll {
    fn poll(self: std::pin::Pin<&mut Self>) -> u32;
}

#[observe(proxy)]
trait Deep {
    fn deep(self: &Box<Self>) -> u32;
}

fn main() {}
