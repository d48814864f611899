//! Findings of the recording in its pictures: the first ones in words, and a mark at each of their
//! boxes. Titles, costs and order are those of `metaspy findings`.

use metaspy_report::findings::text::{cost, parts};
use metaspy_report::findings::{Finding, Findings};

use crate::graph::{Graph, Method};
use crate::scene::{Node, STATED, Stated, Statement};

/// Methods, productions or subjects that the first findings are about.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Indices of the methods of each finding, the most important first.
    methods: Vec<Vec<usize>>,
}

impl Marks {
    /// Finds the methods in a graph that the first findings are about.
    pub fn new(graph: &Graph, findings: Option<&Findings>) -> Marks {
        Marks { methods: first(findings).map(|finding| methods_of(finding, graph)).collect() }
    }

    /// Returns true if a finding is about this method.
    pub fn has(&self, method: usize) -> bool {
        self.methods.iter().any(|methods| methods.contains(&method))
    }

    /// Returns the marks of the findings that are about any of these methods, in front of a label:
    /// `①③ `; empty if there are none.
    pub fn of(&self, methods: &[usize]) -> String {
        let is_of =
            |(_, of): &(char, &Vec<usize>)| of.iter().any(|method| methods.contains(method));
        let marks: String =
            STATED.into_iter().zip(&self.methods).filter(is_of).map(|(mark, _)| mark).collect();
        if marks.is_empty() { marks } else { marks + " " }
    }

    /// States the findings in a picture with these boxes.
    pub fn stated(&self, findings: Option<&Findings>, nodes: &[Node]) -> Stated {
        let boxes = |methods: &Vec<usize>| {
            let mut boxes: Vec<usize> = Vec::new();
            for method in methods {
                let at = nodes.iter().position(|node| node.methods.contains(method));
                boxes.extend(at.filter(|at| !boxes.contains(at)));
            }
            boxes
        };
        let first: Vec<Statement> = first(findings)
            .zip(&self.methods)
            .map(|(finding, methods)| Statement {
                kind: finding.kind.clone(),
                cost: cost(&finding.cost),
                title: finding.title.clone(),
                parts: findings.map_or_else(Vec::new, |all| parts(finding, all)),
                nodes: boxes(methods),
            })
            .collect();
        Stated { further: findings.map_or(0, |all| all.listed().count()) - first.len(), first }
    }
}

/// Iterates over the findings that a picture states.
fn first(findings: Option<&Findings>) -> impl Iterator<Item = &Finding> {
    findings.into_iter().flat_map(Findings::listed).take(STATED.len())
}

/// Finds the methods of a finding's sites, and the boxes of its subjects.
fn methods_of(finding: &Finding, graph: &Graph) -> Vec<usize> {
    let all = |is_meant: &dyn Fn(&Method) -> bool| -> Vec<usize> {
        graph
            .methods
            .iter()
            .enumerate()
            .filter(|(_, method)| is_meant(method))
            .map(|(at, _)| at)
            .collect()
    };
    let mut methods = Vec::new();
    for site in &finding.sites {
        // Several sites may have one path. Numbers of sites differ after recordings are merged.
        let exact = all(&|method| method.site == Some(site.id) && method.path == site.path);
        methods.extend(if exact.is_empty() {
            all(&|method| method.path == site.path)
        } else {
            exact
        });
    }
    for found in &finding.subjects.worst {
        methods.extend(all(&|method| method.subject == Some(found.subject)));
    }
    methods
}
