//! Calls of one name in one function: which of them have numbers of their own.

use serde_json::json;

use crate::client::Client;
use crate::common::{Package, manifest};

const SOURCE: &str = "\
pub struct Config;

pub struct Cache(pub u32);

pub fn load() -> u32 {
    1
}

impl Config {
    pub fn load() -> u32 {
        2
    }
}

impl Cache {
    pub fn load(&self) -> u32 {
        self.0
    }
}

pub fn distinct(cache: &Cache) -> u32 {
    let free = load();
    let associated = Config::load();
    let method = cache.load();
    free + associated + method
}

pub fn several(one: &Cache, two: &Cache) -> u32 {
    fn inner(three: &Cache) -> u32 {
        three.load()
    }
    one.load() + inner(two) +
        two.load()
}

type Alias = Cache;

pub fn by_alias(one: &Cache) -> u32 {
    let alias = Alias::load(one);
    one.load() * alias
}

pub fn by_value(caches: &[Cache]) -> u32 {
    let all = caches.iter().map(Cache::load).sum::<u32>();
    caches[0].load() + all
}

pub fn by_closure(one: &Cache, f: impl Fn() -> u32) -> u32 {
    one.load() + f()
}

#[test]
fn runs() {
    let cache = Cache(3);
    (0..3).for_each(|_| drop(distinct(&cache)));
    (0..2).for_each(|_| drop(several(&cache, &cache)));
    by_alias(&cache);
    by_value(&[Cache(1), Cache(2)]);
    by_closure(&cache, || cache.load());
}
";

#[test]
fn a_call_has_numbers_of_its_own_or_they_are_marked() {
    let name = "editor_sites";
    let package =
        Package::new(name, &[("Cargo.toml", &manifest(name, "2024", "")), ("src/lib.rs", SOURCE)]);
    package.metaspy(&["test", "--lib", "--timed"]);
    let mut client = Client::start(&[&package], json!({}));
    client.open_file(&package, SOURCE);
    client.await_numbers(&package);
    let mut hover = |line: &str| client.hover(&package, SOURCE, line, "load");
    let mut check = |line: &str, heading: &str, method: &str| {
        let text = hover(line);
        assert!(text.contains(&format!("{heading}:\n\n- ")), "{line}: {text}");
        assert!(
            text.matches("\n- ").count() == 1 && text.contains(&format!("`{name}::{method}`")),
            "{line}: {text}"
        );
    };
    check("let free", "`distinct` called `load` 3 times", "load");
    check("let associated", "`distinct` called `load` 3 times", "Config::load");
    check("let method", "`distinct` called `load` 3 times", "Cache::load");
    check("three.load()", "`several::inner` called `load` twice", "Cache::load");
    for line in ["one.load() + inner", "        two.load()"] {
        check(
            line,
            "`several` called `load` 4 times, shared by 2 calls of this name",
            "Cache::load",
        );
    }
    check(
        "one.load() * alias",
        "`by_alias` called `load` twice, shared by 2 calls of this name",
        "Cache::load",
    );
    let others = "maybe by way of functions without hooks";
    check(
        "caches[0].load()",
        &format!("≤3 calls of `load` within `by_value`, {others}"),
        "Cache::load",
    );
    check(
        "one.load() + f()",
        &format!("≤2 calls of `load` within `by_closure`, {others}"),
        "Cache::load",
    );
}
