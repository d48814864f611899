//! What a call asks: its subject and its recorded arguments. Only equal questions have equal answers.

use metaspy_format::detail::DetailKind;
use metaspy_probe::Subject;
use metaspy_reader::EventId;

use super::Context;
use super::context::OfTest;

/// Subject and recorded arguments of a call.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    subject: Option<Subject>,
    /// Names and values.
    arguments: Vec<(String, String)>,
    /// Each test has objects of its own.
    test: OfTest,
}

/// Returns the question of a call; `None` if none of its arguments is recorded.
pub(super) fn of(id: EventId, context: &Context<'_>) -> Option<Question> {
    let details = context.store.details(id).into_iter();
    let is_argument = |kind| kind == DetailKind::Argument;
    let arguments: Vec<_> = details.filter(|it| is_argument(it.kind)).map(|it| (it.name, it.value)).collect();
    let subject = context.store.event(id)?.subject;
    let test = context.test_of(id);
    (!arguments.is_empty() && test != OfTest::Unknown).then_some(Question { subject, arguments, test })
}

/// Returns true if these calls on subjects ask again what the calls before them asked. A place must stand for one object,
/// and is the receiver of all that is asked of that object: what is asked must be known to be equal.
pub(super) fn is_asked_again<'s>(
    mut subjects: impl Iterator<Item = &'s Subject> + Clone,
    again: &[EventId],
    before: &[EventId],
    context: &Context<'_>,
) -> bool {
    let has_places = subjects.clone().any(|subject| context.is_place(subject.kind));
    let is_one_object_each = subjects.all(|subject| context.is_one_object(*subject));
    !has_places || is_one_object_each && are_known_to_be_equal(again, before, context)
}

/// Returns true if most of these calls are known to ask what the calls before them asked, by recorded arguments or by
/// results that are equal.
fn are_known_to_be_equal(again: &[EventId], before: &[EventId], context: &Context<'_>) -> bool {
    let details = |id: EventId| -> Vec<_> {
        let details = context.store.details(id).into_iter();
        details.filter(|it| it.kind != DetailKind::Label).map(|it| (it.kind as u8, it.name, it.value)).collect()
    };
    let is_equal = |(again, before): &(&EventId, &EventId)| {
        let details_again = details(**again);
        !details_again.is_empty() && details_again == details(**before)
    };
    let equal = again.iter().zip(before).filter(is_equal).count();
    equal * 2 > again.len()
}
