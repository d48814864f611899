use metaspy::site;
use things::batch;

mod things {
    #[metaspy::observe]
    pub fn batch() {}
}

fn main() {
    batch();
    let _ = site!(things::batch);
    let _ = site!(batch);
}
