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
    for size in 1..12 {
        let text = text(size);
        let document = Document::parse(&text).expect("it is XML");
        assert!(depth(document.root_element()) >= size);
    }
    assert!(Document::parse("<a>").is_err());
}
