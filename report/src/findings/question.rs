//! What a call asks: its subject and its recorded arguments. Only equal questions have equal
//! answers.

use metaspy_format::detail::{Detail, DetailKind};
use metaspy_probe::Subject;
use metaspy_reader::EventId;

use super::Context;
use super::context::OfTest;

/// What records the values of calls.
pub(super) const NEEDS: &str = "METASPY_DETAILS=1, with `#[observe(args(…), ret)]` at the site, or woven with `--args --returns`";
/// Value of an argument that is not shown.
const UNKNOWN: &str = "?";
/// Name of the receiver among the arguments. Its subject stands for it if its value is not shown.
const RECEIVER: &str = "self";
/// Least length of a value that was cut because it is long.
const LONG: usize = 128;
/// Answers that say too little to compare.
const TRIVIAL: [&str; 7] = ["()", "true", "false", "None", "Ok(())", "Some(())", UNKNOWN];

/// Subject and recorded arguments of a call.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    subject: Option<Subject>,
    /// Names and values.
    arguments: Vec<(String, String)>,
    /// Each test has objects of its own.
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

    /// Returns the returned value, if it tells one answer from another.
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

/// What is said of calls on places whose values are not recorded, and of those whose values are not
/// shown.
const NOT_RECORDED: &str = "calls on what only an address tells apart are compared by their arguments and results, which are \
                            not recorded: record with METASPY_DETAILS=1, and weave with --args --returns";
const NOT_SHOWN: &str = "calls are compared by their arguments and results, and those of most functions are not shown (`?`) \
                         or too long: weave with --trust SELECTOR, see *Values* in docs/weaving.md";

/// Returns what is not compared if most of these calls, one of each site, have no values that are
/// shown. Only the values tell whether calls ask the same where an address stands for their
/// receiver.
pub(super) fn missing_part(calls: &[EventId], context: &Context<'_>) -> Option<String> {
    let is_shown =
        |id: &&EventId| Values::of(**id, context).is_some_and(|values| values.are_known());
    let shown = calls.iter().filter(is_shown).count();
    if calls.is_empty() || shown * 2 > calls.len() {
        return None;
    }
    Some(if have_values(calls, context) { NOT_SHOWN } else { NOT_RECORDED }.to_owned())
}

/// Returns what is said of functions whose values are recorded and not shown.
pub(super) fn not_shown() -> String {
    NOT_SHOWN.to_owned()
}

/// Returns true if a call has a result that is recorded and not shown, or too long.
pub(super) fn is_hidden(id: EventId, context: &Context<'_>) -> bool {
    let is_hidden = |it: &Detail| {
        it.kind != DetailKind::Label && (it.cut || it.value == UNKNOWN) && it.name != RECEIVER
    };
    context.store.details(id).iter().any(is_hidden)
}

/// Returns true if values of some of these calls are recorded.
pub(super) fn have_values(calls: &[EventId], context: &Context<'_>) -> bool {
    let has_values =
        |id: &EventId| context.store.details(*id).iter().any(|it| it.kind != DetailKind::Label);
    calls.iter().any(has_values)
}

/// Returns true if values of all these calls are recorded, and none of them is an argument beside
/// the receiver.
pub(super) fn have_no_arguments(calls: &[EventId], context: &Context<'_>) -> bool {
    let has_none = |values: Values| values.arguments.iter().all(|(name, _)| name == RECEIVER);
    calls.iter().all(|id| Values::of(*id, context).is_some_and(has_none))
}

/// Returns true if these calls on subjects ask again what the calls before them asked. A place must
/// stand for one object, and is the receiver of all that is asked of that object: what is asked
/// must be known to be equal.
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

/// Returns true if most of these calls are known to ask what the calls before them asked, by
/// recorded arguments or by results that are equal.
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
/// calls before them have the same. Of long receivers the beginnings are compared.
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
