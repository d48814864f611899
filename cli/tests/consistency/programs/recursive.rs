//! A parser that calls itself, and a walk over what it read.
use roxmltree::{Document, Node};

fn text(depth: usize) -> String {
    match depth {
        0 => "leaf".into(),
        _ => format!("<a n='{depth}'>{}<b>{depth}</b></a>", text(depth - 1)),
    }
}

fn depth(node: Node) -> usize {
    node.children().map(depth).max().map_or(0, |below| below + 1)
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(1, |rounds| rounds.parse().expect("it is a number"));
    (0..rounds).for_each(|_| read());
}

fn read() {
    for size in 1..12 {
        let text = text(size);
        let document = Document::parse(&text).expect("it is XML");
        assert!(depth(document.root_element()) >= size);
    }
    assert!(Document::parse("<a>").is_err());
}
