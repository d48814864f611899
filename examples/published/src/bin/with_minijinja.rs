//! Pages of a list with inheritance, a macro and filters.

use minijinja::{Environment, context};

fn main() {
    let mut env = Environment::new();
    env.add_template(
        "base.html",
        "<html><title>{% block title %}{% endblock %}</title>{% block body %}{% endblock %}</html>",
    )
    .unwrap();
    env.add_template("list.html", "{% extends 'base.html' %}{% macro row(u) %}<tr><td>{{ u.name|upper }}</td><td>{{ u.age }}</td></tr>{% endmacro %}{% block title %}{{ title|title }}{% endblock %}{% block body %}{% for u in users if u.age > 20 %}{{ row(u) }}{% if loop.index is divisibleby 10 %}<hr>{% endif %}{% endfor %}{{ users|length }}{% endblock %}").unwrap();
    let users: Vec<_> = (0..20).map(|i| context!(name => format!("user {i}"), age => i * 3)).collect();
    let mut n = 0;
    for page in 0..3 {
        n += env
            .get_template("list.html")
            .unwrap()
            .render(context!(title => format!("page {page}"), users => users.clone()))
            .unwrap()
            .len();
    }
    println!("{n}");
}
