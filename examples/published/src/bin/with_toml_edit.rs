//! A manifest of 250 entries: parsed, edited in a few places, and printed.

use toml_edit::{DocumentMut, value};

fn main() {
    let mut s = String::from("[package]\nname = \"x\" # c\nversion = \"0.1.0\"\n\n[dependencies]\n");
    for i in 0..200 {
        s += &format!("dep-{i} = {{ version = \"1.{i}\", features = [\"a\", \"b\"] }}\n");
    }
    for i in 0..50 {
        s += &format!("\n[[bin]]\nname = \"b{i}\"\npath = 'src/{i}.rs'\n");
    }
    let mut n = 0;
    for k in 0..2 {
        let mut d = s.parse::<DocumentMut>().unwrap();
        for i in (0..200).step_by(10) {
            d["dependencies"][&format!("dep-{i}")]["version"] = value(format!("2.{k}"));
        }
        d["package"]["version"] = value("0.2.0");
        n += d.to_string().len();
    }
    println!("{n}");
}
