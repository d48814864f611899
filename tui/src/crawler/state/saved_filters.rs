//! Filters with names, which the user saves for other recordings.

use super::{Crawler, Request};

impl Crawler {
    /// Saves the open filter under a name.
    pub(super) fn save_filter(&mut self, name: &str) -> Option<Request> {
        if self.view.filter.is_all() {
            self.message = Some("no filter is open: press f to write one".into());
            return None;
        }
        let text = self.view.filter.text().to_owned();
        self.message = Some(format!("saved: `:{name}` filters by `{text}`"));
        self.saved_filters.insert(name.to_owned(), text);
        Some(Request::SaveFilters(self.saved_filters.clone()))
    }

    /// Removes the filter with this name.
    pub(super) fn forget_filter(&mut self, name: &str) -> Option<Request> {
        if self.saved_filters.remove(name).is_none() {
            let names: Vec<&str> = self.saved_filters.keys().map(String::as_str).collect();
            let known = if names.is_empty() {
                "none is saved".into()
            } else {
                format!("saved are {}", names.join(", "))
            };
            self.message = Some(format!("no filter is named `{name}`: {known}"));
            return None;
        }
        self.message = Some(format!("filter `{name}` removed"));
        Some(Request::SaveFilters(self.saved_filters.clone()))
    }
}
