//! What the domain says about its subjects, and nobody hears.

use crate::Identify;

/// Names a subject.
#[inline(always)]
pub fn label<T>(_subject: impl Identify, _text: T) {}

/// Says that two subjects are related.
#[inline(always)]
pub fn relate<T>(_name: T, _from: impl Identify, _to: impl Identify) {}

/// Takes a relation back.
#[inline(always)]
pub fn unrelate<T>(_name: T, _from: impl Identify, _to: impl Identify) {}

/// Ends a subject.
#[inline(always)]
pub fn forget(_subject: impl Identify) {}
