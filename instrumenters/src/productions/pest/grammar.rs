//! Grammar that is read from files.

use std::collections::HashMap;
use std::sync::OnceLock;

use metaspy_core::Site;
use pest::error::{Error, LineColLocation};
use pest_meta::parser::{self, Rule};
use pest_meta::{optimizer, validator};

use super::bounds::{check_copies, check_nesting};
use super::compile::{Compiled, compile};
use super::error::GrammarError;
use super::machine::Skipping;
use super::program::Program;
use super::reachability;
use crate::productions::suite_events::sites;
use crate::productions::{Alternative, Production};
use crate::sites::Sites;

/// File of a grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Path of the file, for messages.
    pub name: String,
    /// Content of the file.
    pub text: String,
}

/// Grammar with its start rule.
#[derive(Debug)]
pub struct Grammar {
    sources: Vec<Source>,
    productions: Vec<Production>,
    alternatives: Vec<Alternative>,
    pub(super) programs: Vec<Program>,
    pub(super) properties: Vec<String>,
    pub(super) skipping: Skipping,
    pub(super) start: u32,
    sites: OnceLock<Vec<&'static Site>>,
}

/// Selects the productions of a grammar, for [`productions`](crate::productions::productions()).
impl From<&Grammar> for Sites {
    fn from(grammar: &Grammar) -> Self {
        // Unreachable productions have nothing to observe.
        let sites = grammar.sites().iter().filter(|site| site.def().skipped.is_none());
        Sites::all(sites.copied().collect(), "productions")
    }
}

impl Grammar {
    /// Returns the sites of the productions, in their order. The first call registers them, for the
    /// rest of the process.
    pub fn sites(&self) -> &[&'static Site] {
        self.sites.get_or_init(|| {
            sites(&self.productions, self.start as usize, |file| self.source(file).to_owned())
        })
    }

    /// Returns the sites, or `None` if they are not registered.
    pub(super) fn known_sites(&self) -> Option<&[&'static Site]> {
        self.sites.get().map(Vec::as_slice)
    }
}

impl Grammar {
    /// Reads a grammar from files. Inputs are parsed by the rule `start`.
    pub fn new(sources: &[Source], start: &str) -> Result<Grammar, GrammarError> {
        let places = places(sources)?;
        // Several files form a single grammar, as in pest's own derive.
        let texts: Vec<&str> = sources.iter().map(|source| source.text.as_str()).collect();
        let whole = texts.join("\n");
        let all = |errors: Vec<Error<Rule>>| invalid(sources, errors);
        let pairs = parser::parse(Rule::grammar_rules, &whole).map_err(|error| all(vec![error]))?;
        validator::validate_pairs(pairs.clone()).map_err(all)?;
        let rules = parser::consume_rules(pairs).map_err(all)?;
        let numbers: HashMap<String, usize> =
            rules.iter().enumerate().map(|(number, rule)| (rule.name.clone(), number)).collect();
        let Some(&start_number) = numbers.get(start) else {
            return Err(no_rule(start, rules.iter().map(|rule| rule.name.as_str())));
        };
        let optimised = optimizer::optimize(rules.clone());
        let roles = reachability::roles(&rules, &optimised, start);
        let Compiled { programs, alternatives, properties, .. } = compile(&optimised, &numbers);
        let productions = rules.iter().zip(roles).map(|(rule, role)| {
            let (file, lines) = places.get(&rule.name).copied().unwrap_or_default();
            let refers_to = reachability::references(rule, &numbers);
            Production { name: rule.name.clone(), file, lines, role, refers_to }
        });
        let number = |name: &str| numbers.get(name).map(|&number| number as u32);
        Ok(Grammar {
            productions: productions.collect(),
            alternatives,
            programs,
            properties,
            skipping: Skipping::from_rules(number("WHITESPACE"), number("COMMENT")),
            start: start_number as u32,
            sites: OnceLock::new(),
            sources: sources.to_vec(),
        })
    }

    /// Returns the productions, in the order of the files.
    pub fn productions(&self) -> &[Production] {
        &self.productions
    }

    /// Returns the alternatives of all choices, as they are after pest's optimiser.
    ///
    /// The optimiser factors out a common beginning of two alternatives, so that only their rests
    /// are a choice.
    pub fn alternatives(&self) -> &[Alternative] {
        &self.alternatives
    }

    /// Returns the name of a file, by its number.
    pub fn source(&self, file: usize) -> &str {
        self.sources.get(file).map_or("", |source| &source.name)
    }

    /// Returns the text of a line of a file, from 1 on. It is empty beyond the end of the file.
    pub fn line(&self, file: usize, line: u32) -> &str {
        let mut lines = self.sources.get(file).map_or("", |source| &source.text).lines();
        lines.nth(line.saturating_sub(1) as usize).unwrap_or("")
    }
}

/// File and lines by rule.
type Places = HashMap<String, (usize, (u32, u32))>;

/// Finds the place of each rule. Files are parsed separately, so that syntax errors name their
/// file.
fn places(sources: &[Source]) -> Result<Places, GrammarError> {
    let mut places = Places::new();
    for (file, source) in sources.iter().enumerate() {
        check_nesting(source)?;
        let pairs = parser::parse(Rule::grammar_rules, &source.text);
        let pairs = pairs.map_err(|error| invalid(std::slice::from_ref(source), vec![error]))?;
        for pair in pairs.filter(|pair| pair.as_rule() == Rule::grammar_rule) {
            let (first, last) = pair.as_span().lines_span().fold((None, 0), |(first, _), line| {
                let at = line.start_pos().line_col().0 as u32;
                (first.or(Some(at)), at)
            });
            check_copies(&source.name, pair.clone())?;
            let Some(name) = pair.into_inner().find(|part| part.as_rule() == Rule::identifier)
            else {
                continue;
            };
            let lines = (first.unwrap_or(1), last);
            if let Some(&(other, before)) =
                places.get(name.as_str()).filter(|place| place.0 != file)
            {
                return Err(GrammarError::Twice {
                    name: name.as_str().to_owned(),
                    first: (sources[other].name.clone(), before.0),
                    second: (source.name.clone(), lines.0),
                });
            }
            places.insert(name.as_str().to_owned(), (file, lines));
        }
    }
    Ok(places)
}

/// Formats pest's messages with the file. With several files, pest counts lines through all of
/// them, so the message begins with the right place.
fn invalid(sources: &[Source], errors: Vec<Error<Rule>>) -> GrammarError {
    let text = |error: Error<Rule>| {
        let mut line = match error.line_col {
            LineColLocation::Pos((line, _)) | LineColLocation::Span((line, _), _) => line,
        };
        let mut place = sources.first().map_or("", |source| &source.name);
        for source in sources {
            place = &source.name;
            let lines = source.text.matches('\n').count() + 1;
            if line <= lines {
                break;
            }
            line -= lines;
        }
        let error = error.renamed_rules(parser::rename_meta_rule);
        match sources.len() {
            1 => error.with_path(place).to_string(),
            _ => format!("{place}, line {line}:\n{error}"),
        }
    };
    GrammarError::Invalid(errors.into_iter().map(text).collect::<Vec<_>>().join("\n\n"))
}

fn no_rule<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> GrammarError {
    let nearest = name
        .parse::<metaspy_core::Selector>()
        .map(|selector| selector.nearest(names))
        .unwrap_or_default();
    GrammarError::NoRule { name: name.to_owned(), nearest }
}
