//! Maps of the detectors, with several lookups for each event.

use foldhash::fast::RandomState;
use metaspy_probe::SiteId;

/// Map with a fast hash. The hash has a random seed, because the keys come from a file.
pub(super) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
/// Set with a fast hash, as [`HashMap`].
pub(super) type HashSet<K> = std::collections::HashSet<K, RandomState>;

/// Values by site. The numbers of sites are small, so a value is found without a hash.
#[derive(Debug)]
pub(super) struct BySite<T> {
    /// Index of the site's value, counted from 1, by the number of the site; 0 if there is none.
    places: Vec<u32>,
    values: Vec<(SiteId, T)>,
}

impl<T> Default for BySite<T> {
    fn default() -> Self {
        BySite { places: Vec::new(), values: Vec::new() }
    }
}

impl<T> BySite<T> {
    /// Returns the value of a site.
    pub(super) fn get(&self, site: SiteId) -> Option<&T> {
        let at = *self.places.get(site.0 as usize)? as usize;
        self.values.get(at.wrapping_sub(1)).map(|(_, value)| value)
    }

    /// Returns the value of a site.
    pub(super) fn get_mut(&mut self, site: SiteId) -> Option<&mut T> {
        let at = *self.places.get(site.0 as usize)? as usize;
        self.values.get_mut(at.wrapping_sub(1)).map(|(_, value)| value)
    }

    /// Returns the value of a site, which `value` makes if there is none.
    pub(super) fn or_insert_with(&mut self, site: SiteId, value: impl FnOnce() -> T) -> &mut T {
        let number = site.0 as usize;
        let place = self.places.get(number).copied().unwrap_or(0) as usize;
        let at = if place > 0 { place - 1 } else { self.insert(site, value()) };
        &mut self.values[at].1
    }

    /// Returns the value of a site, which is the default value at first.
    pub(super) fn of(&mut self, site: SiteId) -> &mut T
    where
        T: Default,
    {
        self.or_insert_with(site, T::default)
    }

    /// Iterates over the sites that have a value.
    pub(super) fn iter(&self) -> impl Iterator<Item = (SiteId, &T)> {
        self.values.iter().map(|(site, value)| (*site, value))
    }

    #[cold]
    fn insert(&mut self, site: SiteId, value: T) -> usize {
        let number = site.0 as usize;
        self.places.resize(self.places.len().max(number + 1), 0);
        self.values.push((site, value));
        self.places[number] = self.values.len() as u32;
        self.values.len() - 1
    }
}

impl<T> IntoIterator for BySite<T> {
    type Item = (SiteId, T);
    type IntoIter = std::vec::IntoIter<(SiteId, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.values.into_iter()
    }
}

/// Values by two sites, such as the site of a call and the site of its effect.
#[derive(Debug)]
pub(super) struct ByPair<T> {
    /// Pairs of the last lookups, with their indices. Most events repeat one of these pairs.
    recent: [Option<((SiteId, SiteId), u32)>; RECENT],
    places: HashMap<(SiteId, SiteId), u32>,
    values: Vec<((SiteId, SiteId), T)>,
}

/// Number of pairs that are found without a hash.
const RECENT: usize = 64;

impl<T> Default for ByPair<T> {
    fn default() -> Self {
        ByPair { recent: [None; RECENT], places: HashMap::default(), values: Vec::new() }
    }
}

impl<T> ByPair<T> {
    /// Returns the value of two sites.
    pub(super) fn get(&self, from: SiteId, to: SiteId) -> Option<&T> {
        let at = *self.places.get(&(from, to))?;
        self.values.get(at as usize).map(|(_, value)| value)
    }

    /// Returns the value of two sites, which is the default value at first.
    pub(super) fn of(&mut self, from: SiteId, to: SiteId) -> &mut T
    where
        T: Default,
    {
        let pair = (from, to);
        let recent = &mut self.recent[(from.0.wrapping_mul(31) ^ to.0) as usize % RECENT];
        let at = match *recent {
            Some((known, at)) if known == pair => at,
            _ => {
                let at = *self.places.entry(pair).or_insert(self.values.len() as u32);
                if at as usize == self.values.len() {
                    self.values.push((pair, T::default()));
                }
                *recent = Some((pair, at));
                at
            }
        };
        &mut self.values[at as usize].1
    }

    /// Iterates over the pairs that have a value.
    pub(super) fn iter(&self) -> impl Iterator<Item = ((SiteId, SiteId), &T)> {
        self.values.iter().map(|(pair, value)| (*pair, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_site_and_each_pair_has_its_own_value() {
        let mut sites: BySite<u32> = BySite::default();
        let mut pairs: ByPair<u32> = ByPair::default();
        for number in [7, 0, 900].into_iter().cycle().take(3_000) {
            *sites.of(SiteId(number)) += 1;
            // Many pairs share an entry of the recent pairs.
            (0..10).for_each(|to| *pairs.of(SiteId(number), SiteId(to * 64)) += 1);
        }
        assert_eq!(
            sites.iter().map(|(site, count)| (site.0, *count)).collect::<Vec<_>>(),
            [(7, 1_000), (0, 1_000), (900, 1_000)]
        );
        assert_eq!((sites.get(SiteId(1)), sites.get(SiteId(901))), (None, None));
        assert_eq!((pairs.iter().count(), pairs.get(SiteId(7), SiteId(1))), (30, None));
        assert!(
            pairs
                .iter()
                .all(|((from, to), count)| *count == 1_000 && pairs.get(from, to) == Some(count))
        );
    }
}
