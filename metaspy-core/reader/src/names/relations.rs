//! Relations of the model: edges between subjects that the domain registered.

use std::collections::HashMap;

use metaspy_probe::Subject;

/// Edge between two subjects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    /// Name of the relation: `owner`, `sibling`, …
    pub name: String,
    /// Subject at which the edge begins.
    pub from: Subject,
    /// Subject at which the edge ends.
    pub to: Subject,
}

/// Edge, with the number of its relation.
type Edge = (u32, Subject, Subject);

/// All edges, indexed by both ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relations {
    names: Vec<String>,
    name_at: HashMap<String, u32>,
    /// `None` for an edge that was removed.
    edges: Vec<Option<Edge>>,
    edge_at: HashMap<Edge, u32>,
    by_subject: HashMap<Subject, Vec<u32>>,
}

impl Relations {
    /// Adds an edge that is not yet known.
    pub fn add(&mut self, name: String, from: Subject, to: Subject) {
        let name = match self.name_at.get(&name) {
            Some(&at) => at,
            None => {
                let at = self.names.len() as u32;
                self.names.push(name.clone());
                self.name_at.insert(name, at);
                at
            }
        };
        let edge = (name, from, to);
        if self.edge_at.contains_key(&edge) {
            return;
        }
        let at = self.edges.len() as u32;
        self.edges.push(Some(edge));
        self.edge_at.insert(edge, at);
        self.by_subject.entry(from).or_default().push(at);
        if from != to {
            self.by_subject.entry(to).or_default().push(at);
        }
    }

    /// Removes an edge.
    pub fn remove(&mut self, name: &str, from: Subject, to: Subject) {
        let edge = self.name_at.get(name).map(|&name| (name, from, to));
        if let Some(at) = edge.and_then(|edge| self.edge_at.remove(&edge)) {
            self.edges[at as usize] = None;
        }
    }

    /// Returns the edges that begin or end at a subject, in the order of their registration.
    pub fn of(&self, subject: Subject) -> Vec<Relation> {
        let edges = self.by_subject.get(&subject).into_iter().flatten();
        edges
            .filter_map(|&at| self.edges[at as usize])
            .map(|(name, from, to)| Relation { name: self.names[name as usize].clone(), from, to })
            .collect()
    }

    /// Iterates over all edges with the names of their relations.
    pub fn all(&self) -> impl Iterator<Item = (&str, Subject, Subject)> {
        self.edges
            .iter()
            .flatten()
            .map(|&(name, from, to)| (self.names[name as usize].as_str(), from, to))
    }

    /// Iterates over the names of the relations.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metaspy_probe::KindId;

    #[test]
    fn an_edge_is_found_from_both_ends_until_it_ends() {
        let [a, b, c] = [1, 2, 3].map(|key| Subject::new(KindId(1), key));
        let mut relations = Relations::default();
        relations.add("owner".into(), a, b);
        relations.add("owner".into(), a, b);
        relations.add("sibling".into(), b, c);
        assert_eq!(relations.of(b).len(), 2);
        relations.remove("owner", a, b);
        assert_eq!(relations.of(a), []);
        assert_eq!(relations.of(b), [Relation { name: "sibling".into(), from: b, to: c }]);
        relations.add("owner".into(), a, b);
        assert_eq!(relations.of(a).len(), 1);
    }
}
