//! Async calls with their polls, apart from the polls of the async calls inside them.

use metaspy_probe::{SiteId, SiteKind};
use metaspy_reader::{EventId, LaneId, ResolvedEvent};

use super::Context;
use super::map::{BySite, HashMap};
use super::open_calls::OpenCalls;

/// Maximum number of calls of a site whose polls are looked up, because the numbers are not in the
/// events.
const CALLS_OF_SITE: u64 = 500;
/// End of the path of a future's own function.
const POLL: &str = "::Future::poll";

/// Async calls that have begun and not ended.
#[derive(Default)]
pub(super) struct PolledCalls {
    open: OpenCalls<PolledCall>,
    looked_up: BySite<u64>,
    /// Number of calls that have begun on each lane and not ended.
    lanes: HashMap<LaneId, u64>,
    /// True for sites of the polls of futures, which are no effects of the polled call.
    polls: BySite<bool>,
}

/// Async call that has ended.
pub(super) struct PolledCall {
    pub(super) id: EventId,
    pub(super) site: SiteId,
    pub(super) lane: LaneId,
    /// Number of calls that caused it, directly or not, and had begun on its thread and not ended.
    causes: u64,
    /// Ticks from begin to end.
    pub(super) span: u64,
    pub(super) polls: u64,
    /// Ticks inside its polls.
    pub(super) busy: u64,
    /// Polls of the async calls directly inside this call, and ticks in these polls.
    pub(super) inner_polls: u64,
    pub(super) inner_busy: u64,
    /// Number of direct effects. Polls of futures inside this call are counted apart.
    pub(super) effects: u64,
    pub(super) inner_futures: u64,
    /// True if another async call, which is not among its causes, had begun on its thread and not
    /// ended.
    pub(super) has_neighbours: bool,
}

/// Call of a method in a poll of an async call.
pub(super) struct CallInPoll {
    /// Site of the async call.
    pub(super) site: SiteId,
    /// True if another async call, which is not among the causes, had begun on the thread and not
    /// ended.
    pub(super) has_neighbours: bool,
}

impl PolledCalls {
    /// Takes the next event, and passes the calls to `closed` that have ended. If the event is the
    /// call of a method directly inside an async call, returns that async call.
    pub(super) fn read(
        &mut self,
        event: &ResolvedEvent,
        context: &Context<'_>,
        mut closed: impl FnMut(&PolledCall),
    ) -> Option<CallInPoll> {
        let PolledCalls { open, looked_up, lanes, polls: sites_of_polls } = self;
        let it = &event.event;
        let is_async = context.site_kind(it.site) == SiteKind::Async;
        if open.is_empty() && !is_async {
            return None;
        }
        open.close(event, |call| {
            leave(&call, lanes);
            closed(&call);
        });
        let polls = if is_async {
            let calls = looked_up.of(it.site);
            *calls += 1;
            if *calls <= CALLS_OF_SITE { context.polls(it) } else { None }
        } else {
            None
        };
        let mut causes = 0;
        let mut in_poll = None;
        if let Some((cause, _)) = open.cause_of(event) {
            if *sites_of_polls
                .or_insert_with(it.site, || context.store.site_path(it.site).ends_with(POLL))
            {
                cause.inner_futures += 1;
            } else {
                cause.effects += 1;
            }
            causes = if cause.lane == it.lane { cause.causes + 1 } else { 0 };
            if context.site_kind(it.site) == SiteKind::Method {
                let has_neighbours = lanes.get(&it.lane).copied().unwrap_or(0) > causes;
                in_poll = Some(CallInPoll { site: cause.site, has_neighbours });
            }
            if let Some(polls) = polls.filter(|polls| !polls.is_apart) {
                cause.inner_polls += polls.polls;
                cause.inner_busy += polls.busy_ticks;
            }
        }
        let (Some(polls), Some(span)) = (polls, it.span) else { return in_poll };
        let on_lane = lanes.entry(it.lane).or_default();
        // A cause that has ended is not open any more, but still counts among the causes. So the
        // comparison may miss a neighbour.
        let has_neighbours = *on_lane > causes;
        *on_lane += 1;
        let call = PolledCall {
            id: it.id,
            site: it.site,
            lane: it.lane,
            causes,
            span,
            polls: polls.polls,
            busy: polls.busy_ticks,
            inner_polls: 0,
            inner_busy: 0,
            effects: 0,
            inner_futures: 0,
            has_neighbours,
        };
        open.open(event, true, call);
        None
    }

    /// Passes the calls to `closed` that are open after the last event.
    pub(super) fn finish(&mut self, mut closed: impl FnMut(&PolledCall)) {
        self.open.finish(|call| closed(&call));
    }
}

fn leave(call: &PolledCall, lanes: &mut HashMap<LaneId, u64>) {
    if let Some(on_lane) = lanes.get_mut(&call.lane) {
        *on_lane -= 1;
    }
}
