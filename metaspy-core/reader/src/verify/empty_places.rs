//! Places without a block, as text: `blocks 3, 64 to 127`.

/// Maximum number of runs of empty places in the text.
const RUNS_MAX: usize = 8;

/// Empty places, in runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EmptyPlaces {
    /// Number of empty places.
    pub places: u64,
    /// First and last place of each run, up to the limit.
    runs: Vec<(u64, u64)>,
    /// True if there are more runs.
    more: bool,
}

impl EmptyPlaces {
    /// Adds a place. The places of a scan come in rising order.
    pub fn add(&mut self, place: u64) {
        self.add_run((place, place), 1);
    }

    /// Adds the places of another scan.
    pub fn merge(&mut self, other: EmptyPlaces) {
        self.places += other.places;
        self.more |= other.more;
        self.runs.extend(other.runs);
        self.runs.sort_unstable();
        for run in std::mem::take(&mut self.runs) {
            self.add_run(run, 0);
        }
    }

    fn add_run(&mut self, (first, last): (u64, u64), places: u64) {
        self.places += places;
        let shown = self.runs.len();
        match self.runs.last_mut() {
            Some((_, end)) if *end + 1 == first => *end = last,
            _ if shown < RUNS_MAX => self.runs.push((first, last)),
            _ => self.more = true,
        }
    }

    /// Describes the places as `: blocks 3, 64 to 127 are empty`, or returns an empty text.
    pub fn describe(&self) -> String {
        if self.runs.is_empty() {
            return String::new();
        }
        let run = |&(first, last): &(u64, u64)| {
            if first == last { first.to_string() } else { format!("{first} to {last}") }
        };
        let runs: Vec<String> = self.runs.iter().map(run).collect();
        let more = if self.more { " and more" } else { "" };
        match (self.places, self.more) {
            (1, false) => format!(": block {} is empty", runs.join(", ")),
            _ => format!(": blocks {}{more} are empty", runs.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_places_are_shown_in_runs() {
        let mut gaps = EmptyPlaces::default();
        [3, 64, 65, 66].into_iter().for_each(|place| gaps.add(place));
        assert_eq!(gaps.describe(), ": blocks 3, 64 to 66 are empty");
        let mut later = EmptyPlaces::default();
        later.add(67);
        gaps.merge(later);
        assert_eq!((gaps.places, gaps.describe().as_str()), (5, ": blocks 3, 64 to 67 are empty"));
        (0..100).for_each(|place| gaps.add(200 + 2 * place));
        assert!(gaps.describe().ends_with(" and more are empty"));
    }
}
