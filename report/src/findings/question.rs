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

/// Returns true if most of these calls are known to ask what the calls before them asked, by recorded arguments or by
/// results that are equal. A place is the receiver of all that is asked of its object, so its calls are no repetition
/// without.
pub(super) fn are_known_to_be_equal(again: &[EventId], before: &[EventId], context: &Context<'_>) -> bool {
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
