//! Folded recursion: a call of a method that is already being called belongs to the outer call's
//! context.

use super::{Contexts, Values};

impl Contexts {
    /// The same tree, in which each path of calls has a method at most once.
    #[must_use]
    pub fn folded(&self) -> Contexts {
        let mut folded = Contexts {
            contexts: Contexts::default().contexts,
            lost: self.lost,
            peak: self.peak,
            has_objects: self.has_objects,
            weight: self.weight,
        };
        let mut places = vec![0; self.contexts.len()];
        for (at, context) in self.contexts.iter().enumerate() {
            let Some(parent) = context.parent else {
                folded.contexts[0].values.add(&context.values);
                continue;
            };
            let parent = places[parent];
            places[at] = match folded.around(parent, &context.name) {
                None => {
                    let place = folded.child(parent, &context.name);
                    folded.contexts[place].values.add(&context.values);
                    place
                }
                Some(outer) => {
                    // The time of the inner call is a part of the outer one's.
                    let inner =
                        Values { total_ns: 0, folded: context.values.calls, ..context.values };
                    folded.contexts[outer].values.add(&inner);
                    outer
                }
            };
        }
        folded.add_up();
        folded
    }

    /// The context with this name among a context and those around it.
    fn around(&self, of: usize, name: &str) -> Option<usize> {
        std::iter::successors(Some(of), |&at| self.contexts[at].parent)
            .find(|&at| at != 0 && self.contexts[at].name == name)
    }
}
