//! What is known of a woven method before it runs.

/// What the weaver saw of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The module that it stands in: `taffy::compute`.
    pub module: String,
    /// The type whose impl it stands in; `None` for free functions and default methods.
    pub of_type: Option<String>,
    /// The trait that its impl is of, or that it is a default method of.
    pub of_trait: Option<String>,
    /// The supertraits of that trait, where it is a default method of it.
    pub supertraits: Vec<String>,
    /// Its name; functions in functions are called `outer::inner`.
    pub name: String,
    /// Its file.
    pub file: String,
    /// Its first and last line.
    pub lines: (u32, u32),
    /// Its cyclomatic complexity.
    pub complexity: u32,
    /// How it takes `self`.
    pub takes: Takes,
    /// Who may call it.
    pub visibility: Visibility,
    /// Whether it is async.
    pub is_async: bool,
    /// Whether it is a test.
    pub is_test: bool,
    /// Whether it is a closure.
    pub is_closure: bool,
    /// Whether it returns nothing.
    pub is_unit: bool,
    /// Whether it takes `self` by value and returns a `Self`.
    pub is_chain: bool,
    /// Whether what it returns is seen.
    pub is_deep: bool,
    /// A test that nobody selected: its hook only says which test runs.
    pub is_alone: bool,
    /// What follows the module, as it was woven.
    pub whole_name: String,
}

/// How a method takes `self`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Takes {
    /// Not at all.
    #[default]
    Nothing,
    /// `&self`.
    Ref,
    /// `&mut self`.
    Mut,
    /// `self`.
    Value,
    /// In another way, as `self: Rc<Self>`.
    Other,
}

/// Who may call a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Visibility {
    /// Everybody.
    Public,
    /// Some, as with `pub(crate)`.
    Restricted,
    /// Its module.
    #[default]
    Private,
}

impl Facts {
    /// What these words say, which a weaver wrote of the function with this module, name, file and lines.
    pub fn parse(module: &str, name: &str, file: &str, lines: (u32, u32), words: &str) -> Self {
        let value = |key: &str| {
            let mut words = words.split(' ').filter_map(|word| word.strip_prefix(key)?.strip_prefix('='));
            words.next().filter(|value| !value.is_empty())
        };
        let has = |word: &str| words.split(' ').any(|it| it == word);
        let (of_type, of_trait) = (value("type"), value("trait"));
        let mut rest = name;
        for owner in [of_type, of_trait].into_iter().flatten() {
            rest = rest.strip_prefix(owner).and_then(|rest| rest.strip_prefix("::")).unwrap_or(rest);
        }
        Facts {
            module: module.to_owned(),
            of_type: of_type.map(str::to_owned),
            of_trait: of_trait.map(str::to_owned),
            supertraits: value("super").map_or(Vec::new(), |all| all.split('+').map(str::to_owned).collect()),
            name: rest.to_owned(),
            file: file.to_owned(),
            lines,
            complexity: value("c").and_then(|text| text.parse().ok()).unwrap_or(1),
            takes: match value("self") {
                Some("ref") => Takes::Ref,
                Some("mut") => Takes::Mut,
                Some("value") => Takes::Value,
                Some("other") => Takes::Other,
                _ => Takes::Nothing,
            },
            visibility: match value("vis") {
                Some("pub") => Visibility::Public,
                Some("restricted") => Visibility::Restricted,
                _ => Visibility::Private,
            },
            is_async: has("async"),
            is_test: has("test"),
            is_closure: has("closure"),
            is_unit: has("unit"),
            is_chain: has("chain"),
            is_deep: has("deep"),
            is_alone: has("alone"),
            whole_name: name.to_owned(),
        }
    }

    /// `crate::module::Type::Trait::method`.
    pub fn path(&self) -> String {
        format!("{}::{}", self.module, self.whole_name)
    }

    /// The crate.
    pub fn package(&self) -> &str {
        self.module.split("::").next().unwrap_or_default()
    }

    /// How many lines it has: SPY's measure of how much there is to it.
    pub fn line_count(&self) -> u32 {
        self.lines.1.saturating_sub(self.lines.0).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_weaver_wrote_is_read() {
        let words = "c=4 self=mut type=Scene trait=Layout super=A+B vis=pub test unit";
        let facts = Facts::parse("a::b", "Scene::Layout::measure", "src/b.rs", (3, 9), words);
        assert_eq!((facts.path().as_str(), facts.name.as_str()), ("a::b::Scene::Layout::measure", "measure"));
        assert_eq!((facts.package(), facts.line_count(), facts.complexity), ("a", 7, 4));
        assert_eq!((facts.takes, facts.visibility), (Takes::Mut, Visibility::Public));
        assert_eq!(facts.supertraits, ["A", "B"]);
        assert!(facts.is_test && facts.is_unit && !facts.is_async && !facts.is_deep);
        let free = Facts::parse("a", "outer::inner", "src/b.rs", (3, 3), "");
        assert_eq!((free.name.as_str(), &free.of_type, free.line_count()), ("outer::inner", &None, 1));
    }
}
