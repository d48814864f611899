//! The plans of sites, and the hooks that read them. A replaced plan is freed when no hook can be reading it.

use std::sync::atomic::Ordering::{Release, SeqCst};
use std::sync::atomic::{AtomicPtr, AtomicUsize};

use metaspy_probe::hash::bucket;

use crate::arm::Plan;
use crate::site::Site;

/// A power of two.
const SHARDS: usize = 64;

/// How many hooks are reading a plan now. Threads are spread over the shards, so they rarely share a cache line.
#[repr(align(64))]
struct Shard(AtomicUsize);

static READERS: [Shard; SHARDS] = [const { Shard(AtomicUsize::new(0)) }; SHARDS];

/// A hook that reads a plan.
struct Reading(&'static Shard);

impl Reading {
    fn begin() -> Self {
        // Each thread has a stack of its own.
        let on_stack = 0_u8;
        let stack = std::ptr::from_ref(&on_stack).addr() / (64 << 10);
        let shard = &READERS[bucket(stack as u64, SHARDS.trailing_zeros())];
        shard.0.fetch_add(1, SeqCst);
        Reading(shard)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Release);
    }
}

/// Reads the plan of a site, if there is one.
pub(crate) fn with_plan<R>(site: &Site, read: impl FnOnce(&Plan) -> R) -> Option<R> {
    let _reading = Reading::begin();
    // SAFETY: it is null or a plan. `replace` takes a plan from its site before it looks at the readers, and this reader was
    // counted before it looked at the site. So this is the plan after that, or `Replaced` waits for this reader.
    unsafe { site.plan.load(SeqCst).cast::<Plan>().as_ref() }.map(read)
}

/// Gives a site another plan, or none. Returns the one before.
pub(super) fn replace(site: &Site, plan: Option<Plan>) -> Option<Replaced> {
    let new = plan.map_or(std::ptr::null_mut(), |plan| Box::into_raw(Box::new(plan)));
    let before = site.plan.swap(new.cast(), SeqCst).cast::<Plan>();
    (!before.is_null()).then(|| Replaced { plan: AtomicPtr::new(before), readers: READERS.iter().collect() })
}

/// A plan that no site has any more.
pub(super) struct Replaced {
    plan: AtomicPtr<Plan>,
    /// The shards with a hook that may be reading it.
    readers: Vec<&'static Shard>,
}

impl Replaced {
    /// The plan, if no hook can be reading it. A shard that was once without readers has none that began before.
    pub fn into_unread(mut self) -> Result<Plan, Self> {
        self.readers.retain(|shard| shard.0.load(SeqCst) != 0);
        match self.readers.is_empty() {
            // SAFETY: `replace` made it from a box and took it from its site, and no hook reads it any more.
            true => Ok(*unsafe { Box::from_raw(self.plan.into_inner()) }),
            false => Err(self),
        }
    }
}
