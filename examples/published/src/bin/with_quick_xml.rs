//! A feed of 1,500 entries, copied event by event.

use quick_xml::{Reader, Writer, events::Event};

fn main() {
    let mut s = String::from("<feed>");
    for i in 0..1500 {
        s += &format!("<e id='{i}' k=\"v &lt;\"><t>T &amp; {i}</t><x/></e>\n");
    }
    s += "</feed>";
    let mut r = Reader::from_str(&s);
    let mut w = Writer::new(Vec::new());
    let mut n = 0;
    loop {
        match r.read_event().unwrap() {
            Event::Eof => break,
            Event::Start(e) => {
                n += e.attributes().flatten().count();
                w.write_event(Event::Start(e)).unwrap()
            }
            e => w.write_event(e).unwrap(),
        }
    }
    println!("{n} {}", w.into_inner().len());
}
