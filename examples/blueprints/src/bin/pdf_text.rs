//! A document of 40 pages whose texts are hexadecimal strings, as browsers print them: written,
//! read, and its text extracted.

use lopdf::content::{Content, Operation};
use lopdf::{Document, Object, Stream, StringFormat, dictionary};

/// Pages.
const PAGES: usize = 40;
/// Lines of a page.
const LINES: usize = 50;
/// A line.
const LINE: &str = "The quick brown fox jumps over the lazy dog, and the dog does not mind.";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut file = Vec::new();
    document()?.save_to(&mut file)?;
    let document = Document::load_mem(&file)?;
    let pages: Vec<u32> = document.get_pages().keys().copied().collect();
    let text = document.extract_text(&pages)?;
    assert_eq!(text.matches("quick").count(), PAGES * LINES);
    println!("{} pages, {} bytes of text", pages.len(), text.len());
    Ok(())
}

fn document() -> Result<Document, Box<dyn std::error::Error>> {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "Encoding" => "WinAnsiEncoding",
    });
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let line = || Operation::new("Tj", vec![Object::String(LINE.into(), StringFormat::Hexadecimal)]);
    let mut operations = vec![Operation::new("BT", vec![]), Operation::new("Tf", vec!["F1".into(), 12.into()])];
    operations.extend((0..LINES).map(|_| line()));
    operations.push(Operation::new("ET", vec![]));
    let content = Content { operations }.encode()?;
    let mut pages: Vec<Object> = Vec::new();
    for _ in 0..PAGES {
        let text = document.add_object(Stream::new(dictionary! {}, content.clone()));
        let page = dictionary! { "Type" => "Page", "Parent" => tree, "Contents" => text };
        pages.push(document.add_object(page).into());
    }
    let boxed = vec![0.into(), 0.into(), 595.into(), 842.into()];
    let node = dictionary! {
        "Type" => "Pages", "Count" => PAGES as i64, "Kids" => pages, "Resources" => resources, "MediaBox" => boxed,
    };
    document.objects.insert(tree, Object::Dictionary(node));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    document.trailer.set("Root", catalog);
    Ok(document)
}
