//! Generated methods of handles, for libraries whose channels have the methods of the standard
//! library's.

/// Generates methods that send a message, which their errors return. `by` is the method of the
/// endpoint that records the sending.
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

/// Generates methods that receive a message, and the iterators over messages. `by` is the method
/// that waits for the next message.
macro_rules! receives {
    ($receiver:ident by $recv:ident: $(fn $name:ident($($more:ident: $of:ty)?) -> $error:ident;)+) => {
        impl<T> $receiver<T> {
            $(
                #[doc = concat!("As `", stringify!($name), "` of the receiver inside.")]
                pub fn $name(&self $(, $more: $of)?) -> Result<T, $error> {
                    Ok(self.open(self.inner.$name($($more)?)?))
                }
            )+

            /// Returns an iterator over all messages, until the last sender is dropped.
            pub fn iter(&self) -> $crate::channels::Messages<&Self, T> {
                $crate::channels::Messages::new(self, |receiver| receiver.$recv().ok())
            }

            /// Returns an iterator over the messages that wait.
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

/// Generates methods that record nothing.
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

/// Generates the two ends of a library's channels, with constructors. `raw` is the library.
#[cfg(any(feature = "async-channel", feature = "crossbeam-channel", feature = "flume"))]
macro_rules! channels {
    ($library:literal) => {
        #[doc = concat!("As [`", $library, "::bounded`]. The channel is named after the type of its messages.")]
        #[track_caller]
        pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
            Bus::unnamed().wrap(raw::bounded(capacity))
        }

        #[doc = concat!("As [`", $library, "::unbounded`]. The channel is named after the type of its messages.")]
        #[track_caller]
        pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
            Bus::unnamed().wrap(raw::unbounded())
        }

        #[doc = concat!("The sender of [`", $library, "`]. Each message is an event.")]
        pub type Sender<T> = SpiedSender<raw::Sender<Envelope<T>>, T>;
        #[doc = concat!("The receiver of [`", $library, "`]. Each receipt is an event.")]
        pub type Receiver<T> = SpiedReceiver<raw::Receiver<Envelope<T>>, T>;

        impl<T> Carries<T> for raw::Sender<Envelope<T>> {}
        impl<T> Carries<T> for raw::Receiver<Envelope<T>> {}

        passes! { Sender, Receiver:
            fn is_empty() -> bool;
            fn is_full() -> bool;
            fn len() -> usize;
            fn capacity() -> Option<usize>;
        }
    };
}

/// Generates the methods of such a library that block a thread.
#[cfg(any(feature = "crossbeam-channel", feature = "flume"))]
macro_rules! blocking_methods {
    () => {
        sends! { Sender:
            fn send() -> SendError { SendError } by send_waiting;
            fn try_send() -> TrySendError { TrySendError::Full, TrySendError::Disconnected } by send;
            fn send_timeout(timeout: Duration) -> SendTimeoutError {
                SendTimeoutError::Timeout, SendTimeoutError::Disconnected
            } by send_waiting;
            fn send_deadline(deadline: Instant) -> SendTimeoutError {
                SendTimeoutError::Timeout, SendTimeoutError::Disconnected
            } by send_waiting;
        }
        receives! { Receiver by recv:
            fn recv() -> RecvError;
            fn try_recv() -> TryRecvError;
            fn recv_timeout(timeout: Duration) -> RecvTimeoutError;
            fn recv_deadline(deadline: Instant) -> RecvTimeoutError;
        }
    };
}
