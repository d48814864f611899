//! Numbers of the window that a scan of its events in order of time knows beforehand.

use metaspy_probe::SiteId;

/// Numbers of the window that are known before its events are resolved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Number of events of the application.
    pub events: u64,
    /// Numbers of each site's events, by the number of the site.
    pub sites: Vec<SiteSurvey>,
    /// Number of lanes with events.
    pub lanes: u64,
    /// Number of marks with recorded values or labels.
    pub details: u64,
    /// True if some events have further reasons.
    pub has_links: bool,
    /// Self ticks of all timed calls, without async calls. The time of threads in observed code.
    pub work_ticks: u64,
    /// Ticks from begin to end of all timed roots, async calls included. Waiting counts.
    pub root_ticks: u64,
    /// Tick from which on no event of any lane is folded; 0 if none is.
    pub whole_from: u64,
}

/// Numbers of a site's events in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SiteSurvey {
    /// Number of events.
    pub events: u64,
    /// Number of roots.
    pub roots: u64,
    /// Number of events that failed.
    pub failed: u64,
    /// Number of events that panicked.
    pub panicked: u64,
    /// Ticks from begin to end of its timed events, also if they are inside each other.
    pub ticks: u64,
    /// Number of timed events by the number of bits of their ticks. The last has all that are
    /// longer, too.
    pub spans: [u64; 32],
}

/// Numbers of a site without events.
static NO_EVENTS: SiteSurvey =
    SiteSurvey { events: 0, roots: 0, failed: 0, panicked: 0, ticks: 0, spans: [0; 32] };

impl SiteSurvey {
    /// Returns how many ticks this number of the longest events take at most.
    pub fn most_ticks_of(&self, events: u64) -> u64 {
        let mut left = events;
        let mut ticks = 0_u64;
        for (bits, &count) in self.spans.iter().enumerate().rev() {
            let longest = if bits + 1 == self.spans.len() { u64::MAX } else { (1 << bits) - 1 };
            ticks = ticks.saturating_add(count.min(left).saturating_mul(longest));
            left -= count.min(left);
        }
        ticks
    }
}

impl Survey {
    /// Returns the number of events of a site.
    #[inline]
    pub fn events_of(&self, site: SiteId) -> u64 {
        self.site(site).events
    }

    /// Returns the numbers of a site's events.
    #[inline]
    pub fn site(&self, site: SiteId) -> &SiteSurvey {
        self.sites.get(site.0 as usize).unwrap_or(&NO_EVENTS)
    }
}
