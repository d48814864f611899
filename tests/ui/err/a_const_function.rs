use metaspy::observe;

#[observe]
const fn area(a: u32, b: u32) -> u32 {
    a * b
}

fn main() {
    area(1, 2);
}
