//! Questions of calls: the subject and the recorded arguments. Only equal questions have equal
//! answers.

use metaspy_format::detail::{Detail, DetailKind};
use metaspy_probe::Subject;
use metaspy_reader::EventId;

use super::Context;
use super::context::OfTest;

/// Settings that record the values of calls.
pub(super) const NEEDS: &str = "METASPY_DETAILS=1, with `#[observe(args(…), ret)]` at the site, or woven with `--args --returns`";
/// Text in place of a value that is not shown.
const UNKNOWN: &str = "?";
/// Name of the receiver among the arguments. Its subject stands for it if its value is not shown.
const RECEIVER: &str = "self";
/// Least length of a value that was cut because it is long.
const LONG: usize = 128;
/// Answers with too little information for a comparison.
const TRIVIAL: [&str; 7] = ["()", "true", "false", "None", "Ok(())", "Some(())", UNKNOWN];

/// Subject and recorded arguments of a call.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    subject: Option<Subject>,
    /// Names and values.
    arguments: Vec<(String, String)>,
    /// Test of the call. Each test has objects of its own.
    test: OfTest,
}

/// Recorded values of a call whose arguments are all shown.
#[derive(Debug)]
pub(super) struct Values {
    /// Names and values of the arguments.
    pub(super) arguments: Vec<(String, String)>,
    /// Returned value.
    answer: Option<String>,
    /// Value of the receiver, or the beginning of a long one.
    receiver: Option<String>,
}

impl Values {
    /// Returns the values of a call; `None` if none is recorded, or if an argument is not shown as
    /// a whole.
    pub(super) fn of(id: EventId, context: &Context<'_>) -> Option<Values> {
        let mut values = Values { arguments: Vec::new(), answer: None, receiver: None };
        let mut details = context
            .store
            .details(id)
            .into_iter()
            .filter(|it| it.kind != DetailKind::Label)
            .peekable();
        details.peek()?;
        for Detail { kind, name, value, cut } in details {
            let is_shown = !cut && value != UNKNOWN;
            if kind == DetailKind::Argument && name == RECEIVER && (is_shown || value.len() >= LONG)
            {
                values.receiver = Some(value.clone());
            }
            match kind {
                DetailKind::Return => values.answer = Some(value).filter(|_| is_shown),
                _ if is_shown => values.arguments.push((name, value)),
                _ if name == RECEIVER => {}
                _ => return None,
            }
        }
        Some(values)
    }

    /// Returns the returned value, unless it has too little information for a comparison.
    pub(super) fn answer(&self) -> Option<&str> {
        self.answer.as_deref().filter(|answer| !TRIVIAL.contains(answer))
    }

    /// Returns true if two calls on a subject are known to ask the same, and no different answers
    /// are known.
    fn are_known_to_be_equal(&self, other: &Values) -> bool {
        self.are_known() && self.arguments == other.arguments && self.answer == other.answer
    }

    fn are_known(&self) -> bool {
        !self.arguments.is_empty() || self.answer.is_some()
    }
}

/// Returns the question of a call; `None` if none of its arguments is recorded.
pub(super) fn of(id: EventId, context: &Context<'_>) -> Option<Question> {
    let Values { arguments, .. } = Values::of(id, context)?;
    let subject = context.store.event(id)?.subject;
    let test = context.test_of(id);
    (!arguments.is_empty() && test != OfTest::Unknown).then_some(Question {
        subject,
        arguments,
        test,
    })
}

/// Sentences about calls on places without recorded values, and about calls whose values are not
/// shown.
const NOT_RECORDED: &str = "calls on what only an address tells apart are compared by their arguments and results, which are \
                            not recorded: record with METASPY_DETAILS=1, and weave with --args --returns";
const NOT_SHOWN: &str = "calls are compared by their arguments and results, and those of most functions are not shown (`?`) \
                         or too long: weave with --trust SELECTOR, see *Values* in docs/weaving.md";

/// Returns a sentence about the missing comparison if most of these calls, one of each site, have
/// no values that are shown. Where an address stands for the receiver, only the values tell whether
/// calls ask the same.
pub(super) fn missing_part(calls: &[EventId], context: &Context<'_>) -> Option<String> {
    let shown = calls
        .iter()
        .filter(|id| Values::of(**id, context).is_some_and(|values| values.are_known()))
        .count();
    if calls.is_empty() || shown * 2 > calls.len() {
        return None;
    }
    Some(if have_values(calls, context) { NOT_SHOWN } else { NOT_RECORDED }.to_owned())
}

/// Returns the sentence about functions whose values are recorded and not shown.
pub(super) fn not_shown() -> String {
    NOT_SHOWN.to_owned()
}

/// Returns true if an argument or the result of a call is recorded, and is not shown or was cut.
/// The receiver does not count.
pub(super) fn is_hidden(id: EventId, context: &Context<'_>) -> bool {
    context.store.details(id).iter().any(|it| {
        it.kind != DetailKind::Label && (it.cut || it.value == UNKNOWN) && it.name != RECEIVER
    })
}

/// Returns true if values of some of these calls are recorded.
pub(super) fn have_values(calls: &[EventId], context: &Context<'_>) -> bool {
    calls.iter().any(|id| context.store.details(*id).iter().any(|it| it.kind != DetailKind::Label))
}

/// Returns true if values of all these calls are recorded, without any argument beside the
/// receiver.
pub(super) fn have_no_arguments(calls: &[EventId], context: &Context<'_>) -> bool {
    let has_none = |values: Values| values.arguments.iter().all(|(name, _)| name == RECEIVER);
    calls.iter().all(|id| Values::of(*id, context).is_some_and(has_none))
}

/// Returns true if these calls on subjects repeat the questions of the calls before them. A place
/// must stand for one object, and is the receiver of all calls on that object. So on places, the
/// questions must be known to be equal.
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

/// Returns true if most of these calls are known to repeat the questions of the calls before them,
/// because recorded arguments or results are equal.
pub(super) fn are_known_to_be_equal(
    again: &[EventId],
    before: &[EventId],
    context: &Context<'_>,
) -> bool {
    are_mostly(again, before, context, Values::are_known_to_be_equal)
}

/// Returns true if most of these calls have recorded arguments and a result, and the calls before
/// them have the same.
pub(super) fn have_the_same_answer(
    again: &[EventId],
    before: &[EventId],
    context: &Context<'_>,
) -> bool {
    are_mostly(again, before, context, |again, before| {
        let is_known = !again.arguments.is_empty() && again.answer().is_some();
        is_known && again.are_known_to_be_equal(before)
    })
}

/// Returns true if most of these calls have recorded receivers, arguments and a result, and the
/// calls before them have the same. Long receivers are compared by their beginnings.
pub(super) fn have_the_same_receiver(
    again: &[EventId],
    before: &[EventId],
    context: &Context<'_>,
) -> bool {
    are_mostly(again, before, context, |again, before| {
        let is_known = again.receiver.is_some() && again.answer().is_some();
        is_known
            && again.receiver == before.receiver
            && again.arguments == before.arguments
            && again.answer == before.answer
    })
}

/// Returns true if most of these calls have a recorded result that differs from that of the calls
/// before them.
pub(super) fn have_other_answers(
    again: &[EventId],
    before: &[EventId],
    context: &Context<'_>,
) -> bool {
    are_mostly(again, before, context, |again, before| {
        again.answer.is_some() && before.answer.is_some() && again.answer != before.answer
    })
}

fn are_mostly(
    again: &[EventId],
    before: &[EventId],
    context: &Context<'_>,
    holds: impl Fn(&Values, &Values) -> bool,
) -> bool {
    let values = |id: &EventId| Values::of(*id, context);
    let pairs =
        again.iter().zip(before).filter_map(|(again, before)| values(again).zip(values(before)));
    pairs.filter(|(again, before)| holds(again, before)).count() * 2 > again.len()
}
