//! Every shape of a message.
#![deny(warnings)]
#![forbid(unsafe_code)]

use metaspy::Announce;

#[derive(Announce)]
struct Tick;

#[derive(Announce)]
struct Moved<'a, T: Clone, const N: usize>
where
    T: Copy,
{
    _path: &'a [T; N],
}

#[derive(Announce)]
enum Never {}

#[derive(Announce)]
enum Change<T> {
    Added { _what: T },
    Removed(T, u8),
    r#Type,
}

mod hidden {
    #[derive(super::Announce)]
    #[announce(crate = metaspy)]
    pub(crate) struct Inner(pub(crate) u8);
}

fn main() {
    assert_eq!((Tick::KINDS, Tick.kind()), (&["Tick"][..], "Tick"));
    assert_eq!(Moved { _path: &[1, 2] }.kind(), "Moved");
    assert_eq!(Never::KINDS.len(), 0);
    assert_eq!(Change::<u8>::KINDS, ["Added", "Removed", "Type"]);
    let kinds = [Change::Added { _what: 1 }, Change::Removed(1, 2), Change::r#Type].map(|change| change.kind());
    assert_eq!(kinds, Change::<u8>::KINDS);
    assert_eq!(hidden::Inner(0).kind(), "Inner");
}
