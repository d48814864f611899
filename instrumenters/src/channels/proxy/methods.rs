//! Methods of handles that record each message, for libraries whose channels have the methods of the standard library's.

/// Methods that send a message. The errors return it; `by` is the method of the endpoint that records the sending.
macro_rules! sends {
    ($sender:ident: $(
        fn $name:ident($($more:ident: $of:ty)?) -> $error:ident { $($variant:path),+ } by $how:ident;
    )+) => {
        impl<T> $sender<T> {$(
            #[doc = concat!("As `", stringify!($name), "` of the sender inside.")]
            #[track_caller]
            pub fn $name(&self, value: T $(, $more: $of)?) -> Result<(), $error<T>> {
                let send = |envelope| self.inner.$name(envelope $(, $more)?);
                let sent = self.endpoint.$how(value, std::panic::Location::caller(), send, Result::is_ok);
                sent.map_err(|error| match error { $($variant(envelope) => $variant(envelope.value),)+ })
            }
        )+}
    };
}

/// Methods that receive a message, and the iterators over messages. `by` is the method that waits for the next one.
macro_rules! receives {
    ($receiver:ident by $recv:ident: $(fn $name:ident($($more:ident: $of:ty)?) -> $error:ident;)+) => {
        impl<T> $receiver<T> {
            $(
                #[doc = concat!("As `", stringify!($name), "` of the receiver inside.")]
                pub fn $name(&self $(, $more: $of)?) -> Result<T, $error> {
                    Ok(self.open(self.inner.$name($($more)?)?))
                }
            )+

            /// All messages, until the last sender is dropped.
            pub fn iter(&self) -> $crate::channels::Messages<&Self, T> {
                $crate::channels::Messages::new(self, |receiver| receiver.$recv().ok())
            }

            /// The messages that wait.
            pub fn try_iter(&self) -> $crate::channels::Messages<&Self, T> {
                $crate::channels::Messages::new(self, |receiver| receiver.try_recv().ok())
            }
        }

        impl<'r, T> IntoIterator for &'r $receiver<T> {
            type Item = T;
            type IntoIter = $crate::channels::Messages<Self, T>;

            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        impl<T> IntoIterator for $receiver<T> {
            type Item = T;
            type IntoIter = $crate::channels::Messages<Self, T>;

            fn into_iter(self) -> Self::IntoIter {
                $crate::channels::Messages::new(self, |receiver| receiver.$recv().ok())
            }
        }
    };
}

/// Methods that record nothing.
#[cfg(any(feature = "async-channel", feature = "crossbeam-channel", feature = "flume"))]
macro_rules! passes {
    ($($handle:ident),+: $(fn $name:ident() -> $output:ty;)+) => {
        passes!(@ [$($handle)+] $([$name $output])+);
    };
    (@ [] $($method:tt)+) => {};
    (@ [$handle:ident $($rest:ident)*] $([$name:ident $output:ty])+) => {
        impl<T> $handle<T> {$(
            #[doc = concat!("As `", stringify!($name), "` of the handle inside.")]
            pub fn $name(&self) -> $output {
                self.inner.$name()
            }
        )+}
        passes!(@ [$($rest)*] $([$name $output])+);
    };
}
