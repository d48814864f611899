//! roxmltree: a document is read and walked.

use ::roxmltree::Document;

pub fn main() {
    let icon = |at: usize| format!("<icon id=\"i{at}\" size='16'><path d=\"M{at} 2\"/>text &amp; more<!-- {at} --></icon>");
    let text = format!("<icons xmlns=\"urn:icons\">{}</icons>", (0..200).map(icon).collect::<String>());
    crate::measure::measure(|_| {
        let document = Document::parse(&text).unwrap();
        document.descendants().filter(|node| node.attribute("id").is_some()).count() as u64
    });
}
