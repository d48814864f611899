//! Names of subjects and events, in full or shortened to a number of columns.

use metaspy_probe::{SiteId, SiteKind, Subject};
use metaspy_reader::control::Observed;
use metaspy_reader::{Event, Store};
use metaspy_report::text::{
    clean, counted, last_segment, short_type, shorten, shorten_label, width,
};

/// Returns the name of a subject: its label, or its kind and key, as `Node #12`. A place has an
/// address: `Node @7f3a`.
pub fn subject(store: &Store, subject: Subject) -> String {
    match store.label(subject) {
        Some(label) => clean(label).into_owned(),
        None => kind_and_key(store, subject),
    }
}

/// Describes the subjects that a process observes at a site.
pub fn observed(observed: Observed) -> String {
    match observed {
        Observed::Nothing => "nothing".into(),
        Observed::All => "all".into(),
        Observed::Only(count) => counted(count as u64, "subject"),
        Observed::AllBut(count) => format!("all but {}", counted(count as u64, "subject")),
    }
}

/// Returns the kind and key of a subject, even if it has a label.
pub(crate) fn kind_and_key(store: &Store, subject: Subject) -> String {
    match kind_and_key_parts(store, subject) {
        (kind, key) if kind.is_empty() => key,
        (kind, key) => format!("{kind} {key}"),
    }
}

/// Shortens the name of a subject to `columns` columns. A label keeps its first word; other names
/// keep their key.
pub(crate) fn fit_subject(store: &Store, subject: Subject, columns: usize) -> String {
    if let Some(label) = store.label(subject) {
        return shorten_label(&clean(label), columns);
    }
    let (kind, key) = kind_and_key_parts(store, subject);
    match columns.checked_sub(width(&key) + 1) {
        // A kind in one column is unreadable.
        None | Some(0 | 1) => shorten(&key, columns),
        Some(_) if kind.is_empty() => key,
        Some(room) => format!("{} {key}", shorten(&kind, room)),
    }
}

/// Returns the short name of a subject's kind, which may be empty, and its key.
fn kind_and_key_parts(store: &Store, subject: Subject) -> (String, String) {
    match store.kind(subject.kind) {
        Some(kind) if !subject.is_none() => {
            let name = clean(short_type(&kind.name)).into_owned();
            let name = if kind.process.is_empty() {
                name
            } else {
                format!("{}/{name}", clean(&kind.process))
            };
            let key = if kind.place {
                format!("@{:x}", subject.key)
            } else {
                format!("#{}", subject.key)
            };
            (name, key)
        }
        _ => (String::new(), clean(&store.subject_name(subject)).into_owned()),
    }
}

/// Returns the short name of a site: the method, or the kind of message and the end of a proxied
/// channel: `Done::sent`.
pub fn site(store: &Store, site: SiteId) -> String {
    let path = store.site_path(site);
    let module = store
        .site(site)
        .filter(|site| site.kind == SiteKind::Announcement)
        .map_or(0, |site| site.module);
    clean(of_kind(path, module as usize).unwrap_or(last_segment(path))).into_owned()
}

/// Returns the kind and the end of a path whose module has this length, if its last segment is an
/// end of a channel.
fn of_kind(path: &str, module: usize) -> Option<&str> {
    let name = path.get(module..).filter(|_| module > 0)?.strip_prefix("::")?;
    matches!(last_segment(name), "sent" | "received").then_some(name)
}

/// Names an event by its site and its subject.
pub fn event(store: &Store, event: &Event) -> String {
    let site = site(store, event.site);
    match event.subject {
        Some(of) => format!("{site} {}", subject(store, of)),
        None => site,
    }
}

/// Shortens the name of an event to `columns` columns: first the label, down to its first word,
/// then the site, then both.
pub(crate) fn fit_event(store: &Store, event: &Event, columns: usize) -> String {
    let site = site(store, event.site);
    let Some(of) = event.subject else { return shorten(&site, columns) };
    let first = match store.label(of) {
        Some(label) => label.split(' ').next().map_or(0, width) + usize::from(label.contains(' ')),
        None => width(&kind_and_key_parts(store, of).1),
    };
    let whole = width(&subject(store, of));
    let room = columns
        .saturating_sub(width(&site) + 1)
        .max(first.min(whole))
        .min(columns / 2 + columns / 4);
    let of = fit_subject(store, of, room);
    match columns.checked_sub(width(&of) + 1) {
        Some(room) if room > 0 => format!("{} {of}", shorten(&site, room)),
        _ => shorten(&site, columns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_of_a_channel_is_named_with_the_kind_of_its_messages() {
        assert_eq!(of_kind("app::room::Joined::sent", "app::room".len()), Some("Joined::sent"));
        assert_eq!(of_kind("app::room::received", "app::room".len()), Some("received"));
        assert_eq!(of_kind("page::cache::hit", "page".len()), None);
        assert_eq!(of_kind("room::Joined::sent", 0), None, "the module is not known");
    }
}
