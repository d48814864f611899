//! Twenty pages with a partial for each of forty rows.

fn main() {
    let mut h = handlebars::Handlebars::new();
    h.register_partial("row", "<tr><td>{{name}}</td><td>{{#if old}}old{{else}}young{{/if}}</td></tr>").unwrap();
    h.register_template_string(
        "p",
        "<h1>{{title}}</h1>{{#each users}}{{> row}}{{/each}}{{#with owner}}{{name}}{{/with}}",
    )
    .unwrap();
    let users: Vec<_> = (0..40)
        .map(|i| {
            std::collections::BTreeMap::from([
                ("name".to_string(), format!("u<{i}>")),
                ("old".to_string(), if i % 2 == 0 { "1".into() } else { String::new() }),
            ])
        })
        .collect();
    let mut n = 0;
    for p in 0..20 {
        let v = handlebars::to_json(&users);
        let mut m = std::collections::BTreeMap::new();
        m.insert("users", v);
        m.insert("title", handlebars::to_json(format!("page {p}")));
        m.insert("owner", handlebars::to_json(std::collections::BTreeMap::from([("name", "o")])));
        n += h.render("p", &m).unwrap().len();
    }
    println!("{n}");
}
