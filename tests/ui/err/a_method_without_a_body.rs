use metaspy::observe;

trait Layout {
    #[observe]
    fn measure(&self);
}

fn main() {}
