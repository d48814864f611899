use metaspy::observe;

#[observe]
extern "C" fn callback() {}

fn main() {
    callback();
}
