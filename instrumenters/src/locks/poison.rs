//! What is poisoned is had all the same, and stays poisoned.

use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Somebody else holds it.
pub(super) struct WouldBlock;

/// Whether it was had, poisoned or not.
pub(super) fn had<G>(asked: TryLockResult<G>) -> Result<LockResult<G>, WouldBlock> {
    match asked {
        Ok(guard) => Ok(Ok(guard)),
        Err(TryLockError::Poisoned(poisoned)) => Ok(Err(poisoned)),
        Err(TryLockError::WouldBlock) => Err(WouldBlock),
    }
}

/// What was had, held.
#[inline(always)]
pub(super) fn held<G, H>(locked: LockResult<G>, hold: impl FnOnce(G) -> H) -> LockResult<H> {
    match locked {
        Ok(guard) => Ok(hold(guard)),
        Err(poisoned) => Err(PoisonError::new(hold(poisoned.into_inner()))),
    }
}

/// What was asked for, held if it was had.
pub(super) fn tried<G, H>(asked: Result<LockResult<G>, WouldBlock>, hold: impl FnOnce(G) -> H) -> TryLockResult<H> {
    match asked {
        Ok(locked) => held(locked, hold).map_err(TryLockError::Poisoned),
        Err(WouldBlock) => Err(TryLockError::WouldBlock),
    }
}
