//! Rows of items without calls.

use std::collections::HashSet;

use metaspy_probe::{SiteId, Subject};
use metaspy_reader::{Measure, Store, TallyRow};

use super::profiles::Profiles;
use super::{By, ReportRow, site_row, subject_row};

/// Rows of items without calls, by name.
pub(super) fn rows(
    store: &Store,
    profiles: &Profiles,
    by: By,
    seen: &[TallyRow],
) -> Vec<ReportRow> {
    let mut rows = in_no_order(store, profiles, by, seen);
    rows.sort_by(|a, b| a.label.cmp(&b.label));
    rows
}

fn in_no_order(store: &Store, profiles: &Profiles, by: By, seen: &[TallyRow]) -> Vec<ReportRow> {
    match by {
        By::Site => {
            let seen: HashSet<SiteId> = seen.iter().filter_map(|row| row.site).collect();
            let sites = store
                .sites()
                .iter()
                .filter(|site| !seen.contains(&site.id) && site.skipped.is_none());
            sites.map(|site| site_row(store, profiles, Some(site.id), Measure::default())).collect()
        }
        By::Subject => {
            let seen: HashSet<Subject> = seen.iter().filter_map(|row| row.subject).collect();
            let labelled =
                store.labelled().filter(|(it, _)| !seen.contains(it) && !profiles.is_test(*it));
            labelled
                .map(|(subject, _)| subject_row(store, profiles, Some(subject), Measure::default()))
                .collect()
        }
        By::SiteSubject | By::Cause | By::Sender | By::SenderSubject | By::Type | By::Package => {
            Vec::new()
        }
    }
}
