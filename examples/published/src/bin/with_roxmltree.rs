//! A feed of 600 entries, parsed and asked for titles and sizes.

fn main() {
    let mut s = String::from("<?xml version='1.0'?><feed xmlns='http://a' xmlns:m='http://m'>");
    for i in 0..600 {
        s += &format!(
            "<entry id='{i}' m:lang='en'><title>T &amp; {i}</title><link href='http://x/{i}'/><m:size>{}</m:size></entry>",
            i * 7
        );
    }
    s += "</feed>";
    let doc = roxmltree::Document::parse(&s).unwrap();
    let mut sum = 0u64;
    for e in doc.root_element().children().filter(|n| n.is_element()) {
        let title = e.children().find(|n| n.has_tag_name("title")).and_then(|n| n.text()).unwrap_or("");
        let size = e.children().find(|n| n.has_tag_name(("http://m", "size"))).and_then(|n| n.text()).unwrap_or("0");
        sum += title.len() as u64 + size.parse::<u64>().unwrap() + e.attribute("id").unwrap().len() as u64;
    }
    println!("{sum} {}", doc.descendants().count());
}
