//! Rows that may lack calls, because some subjects of a site share the row of others.
//!
//! A subject shares this row if a table is full: a page of a lane or of a folder, or the fold
//! table. A full table gets no new rows, and no row is removed. So a subject with its own row in
//! that table never shared one.

use std::collections::{HashMap, HashSet};

use crate::Store;
use crate::filter::matcher::Matcher;
use crate::ring::fold::RowWords;
use crate::ring::folds::Folds;
use crate::ring::row_table::ROWS_MAX;
use crate::tally::{By, Scope, Tally, TallyRow, contains_epoch};
use metaspy_format::row::{OTHERS, Who};
use metaspy_probe::Subject;

/// Place of a row: the number of its table, and its word without the kind of the subject.
type RowPlace = (usize, u64);

/// Number of the fold table. Pages have their own numbers, from 1 on.
const FOLD_TABLE: usize = 0;

impl Store {
    /// Marks the rows that may lack calls.
    pub(super) fn mark_lower_bounds(
        &self,
        tally: &mut Tally,
        by: By,
        scope: &Scope,
        folds: &Folds,
    ) {
        if !by.is_of_subjects() && by != By::Site {
            return;
        }
        let matcher = self.compile(&scope.filter, scope.levels()).among(scope.members.as_ref());
        let shared = self.shared(scope, &matcher, folds);
        if shared.is_empty() && !tally.rows.iter().any(TallyRow::is_others) {
            return;
        }
        if by == By::Site {
            let undecided: HashSet<u32> = self.undecided_others(scope, &matcher, folds);
            let is_least =
                |row: &&mut TallyRow| row.site.is_some_and(|site| undecided.contains(&site.0));
            tally.rows.iter_mut().filter(is_least).for_each(|row| row.measure.at_least = true);
            return;
        }
        // Merged recordings have a single table, in which a subject without its own row shares the
        // row of others.
        let is_known =
            self.processes().is_empty() && !shared.is_empty() && tally.rows.len() < ROWS_MAX;
        let own = if is_known { self.own_rows(&shared, folds) } else { HashMap::new() };
        let site_of = |site: Option<u32>| if by == By::Subject { None } else { site };
        let mut needed: HashMap<Option<u32>, usize> = HashMap::new();
        for (_, who) in &shared {
            *needed.entry(site_of(Some(Who::unpack(*who).site))).or_default() += 1;
        }
        let mut found: HashMap<(Option<u32>, Subject), usize> = HashMap::new();
        for ((site, subject), places) in own {
            *found.entry((site_of(Some(site)), subject)).or_default() += places.len();
        }
        for row in tally.rows.iter_mut().filter(|row| !row.is_others()) {
            let Some(subject) = row.subject else { continue };
            let site = site_of(row.site.map(|site| site.0));
            let needed = needed.get(&site);
            let found = found.get(&(site, subject));
            row.measure.at_least =
                !is_known || needed.copied().unwrap_or(0) > found.copied().unwrap_or(0);
        }
    }

    /// Returns the places of the rows of others.
    fn shared(&self, scope: &Scope, matcher: &Matcher, folds: &Folds) -> HashSet<RowPlace> {
        let mut shared = HashSet::new();
        self.each_row(folds, |table, row| {
            let who = row.who();
            if who.kind == OTHERS
                && contains_epoch(&scope.epochs, who.epoch)
                && matcher.matches_row(who.site, row.subject(), who.epoch, who.meta) != Some(false)
            {
                shared.insert(place(table, who));
            }
        });
        shared
    }

    /// Returns the sites with a row of others of which it is not known whether its calls pass.
    fn undecided_others(&self, scope: &Scope, matcher: &Matcher, folds: &Folds) -> HashSet<u32> {
        let mut sites = HashSet::new();
        self.each_row(folds, |_, row| {
            let who = row.who();
            if who.kind == OTHERS
                && contains_epoch(&scope.epochs, who.epoch)
                && matcher
                    .selects_in_row(who.site, row.subject(), who.epoch, who.meta, None)
                    .is_none()
            {
                sites.insert(who.site);
            }
        });
        sites
    }

    /// Returns true if calls that may pass are in rows of others, and it is not known which
    /// subjects they are about.
    pub(super) fn has_undecided_others(&self, scope: &Scope) -> bool {
        let matcher = self.compile(&scope.filter, scope.levels()).among(scope.members.as_ref());
        !self.undecided_others(scope, &matcher, &self.ring().folds()).is_empty()
    }

    /// Returns the places of the rows that subjects have beside a row of others.
    fn own_rows(
        &self,
        shared: &HashSet<RowPlace>,
        folds: &Folds,
    ) -> HashMap<(u32, Subject), HashSet<RowPlace>> {
        let mut own: HashMap<(u32, Subject), HashSet<RowPlace>> = HashMap::new();
        self.each_row(folds, |table, row| {
            let who = row.who();
            let place = place(table, row.who());
            if let Some(subject) =
                row.subject().filter(|_| who.kind != OTHERS && shared.contains(&place))
            {
                own.entry((who.site, subject)).or_default().insert(place);
            }
        });
        own
    }

    fn each_row(&self, folds: &Folds, mut each: impl FnMut(usize, RowWords)) {
        self.ring()
            .rows_of_folds(folds, |page, row| each(page.map_or(FOLD_TABLE, |page| page + 1), row));
        self.ring().rows_of_pages(folds, |page, row| each(page + 1, row));
    }
}

fn place(table: usize, who: Who) -> RowPlace {
    (table, Who { kind: 0, ..who }.pack())
}
