//! A fair sample of the ordinary events of each site, so that the surprising ones can be compared
//! with something.

use crate::event::EventId;
use crate::format::hash;

/// The samples of a rule.
pub(super) struct Samples {
    /// Events of a sample.
    size: usize,
    /// Sites with a sample, at most.
    most: usize,
    /// A few, so that searching is faster than hashing.
    sites: Vec<(u32, Sample)>,
}

#[derive(Default)]
struct Sample {
    /// Ordinary events so far. Each of them is as likely in the sample as any other.
    seen: u64,
    units: Vec<(usize, EventId)>,
}

impl Samples {
    /// So many events of so many sites.
    pub fn new(size: usize, most: usize) -> Self {
        Samples { size, most, sites: Vec::new() }
    }

    /// The place in the sample that the next event of a site takes; `None` if it takes none.
    pub fn place(&mut self, site: u32) -> Option<usize> {
        let known = self.sites.iter().position(|(of, _)| *of == site);
        let at = match known {
            Some(at) => at,
            None if self.sites.len() >= self.most => return None,
            None => {
                self.sites.push((site, Sample::default()));
                self.sites.len() - 1
            }
        };
        let sample = &mut self.sites[at].1;
        let seen = sample.seen;
        sample.seen += 1;
        // Its number in a sequence that has no order, the same in every run.
        let place = if seen < self.size as u64 {
            seen
        } else {
            hash::scatter(seen ^ u64::from(site)) % (seen + 1)
        };
        usize::try_from(place).ok().filter(|&place| place < self.size)
    }

    /// Puts a unit at a place. Returns the one that it replaces.
    pub fn put(
        &mut self,
        site: u32,
        place: usize,
        unit: (usize, EventId),
    ) -> Option<(usize, EventId)> {
        let units = &mut self.sites.iter_mut().find(|(of, _)| *of == site)?.1.units;
        match units.get_mut(place) {
            Some(before) => Some(std::mem::replace(before, unit)),
            None => {
                units.push(unit);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_and_late_events_are_in_a_sample_alike() {
        const SIZE: usize = 8;
        const SITES: usize = 16;
        const EVENTS: usize = 10_000;
        let mut halves = [0, 0];
        for site in 0..SITES as u32 {
            let mut samples = Samples::new(SIZE, SITES);
            let mut kept = [usize::MAX; SIZE];
            for event in 0..EVENTS {
                if let Some(place) = samples.place(site) {
                    kept[place] = event;
                }
            }
            kept.iter().for_each(|&event| halves[event / (EVENTS / 2)] += 1);
        }
        assert!(halves.iter().all(|&half| half > SITES * SIZE / 3), "{halves:?}");
    }

    #[test]
    fn a_unit_that_is_replaced_is_returned() {
        let mut samples = Samples::new(1, 1);
        let id = |slot| EventId::new(200, slot).expect("it is in a lap");
        assert_eq!(samples.place(5), Some(0));
        assert_eq!(samples.put(5, 0, (3, id(1))), None);
        assert_eq!(samples.put(5, 0, (4, id(2))), Some((3, id(1))));
    }
}
