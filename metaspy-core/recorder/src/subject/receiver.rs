//! Receivers of woven calls as subjects: their kinds, by the name that the compiler gave their
//! type.

use metaspy_probe::{Identity, Receiver};

use crate::subject::residents::registered_at;
use crate::subject::{Nature, Subject, kind_of_type};

/// The receiver that a subject is.
pub fn of(subject: Subject) -> Receiver {
    let identity = if subject.is_none() { Identity::None } else { Identity::Keyed };
    Receiver { identity, word: subject.key, ..Receiver::NONE }
}

/// The subject that a receiver is.
pub fn subject(receiver: &Receiver) -> Subject {
    match receiver.identity {
        Identity::None => Subject::NONE,
        Identity::Keyed => {
            Subject::new(kind_of_type(receiver.type_name, Nature::Own), receiver.word)
        }
        Identity::Place => registered_at(receiver.word as usize, receiver.type_name.get())
            .unwrap_or_else(|| {
                Subject::new(kind_of_type(receiver.type_name, Nature::Place), receiver.word)
            }),
    }
}
