//! What all handles of proxied channels have in common.
//!
//! Each module of a channel has the alias `tokio` for the module of tokio that it stands for. Each handle keeps tokio's
//! handle in `inner`, its `endpoint`, and, if it receives, the event of the last receipt in `last`.

/// Methods that call tokio's method of the same name, and record nothing.
macro_rules! forward {
    ($handle:ident:) => {};
    ($handle:ident: fn $name:ident(&$me:ident) $(-> $output:ty)?; $($rest:tt)*) => {
        #[doc = concat!("As [`tokio::", stringify!($handle), "::", stringify!($name), "`].")]
        pub fn $name(&$me) $(-> $output)? {
            $me.inner.$name()
        }
        forward!($handle: $($rest)*);
    };
    ($handle:ident: fn $name:ident(&mut $me:ident); $($rest:tt)*) => {
        #[doc = concat!("As [`tokio::", stringify!($handle), "::", stringify!($name), "`].")]
        pub fn $name(&mut $me) {
            $me.inner.$name();
        }
        forward!($handle: $($rest)*);
    };
    ($handle:ident: fn $name:ident(&$me:ident, other: &Self) -> bool; $($rest:tt)*) => {
        #[doc = concat!("As [`tokio::", stringify!($handle), "::", stringify!($name), "`].")]
        pub fn $name(&$me, other: &Self) -> bool {
            $me.inner.$name(&other.inner)
        }
        forward!($handle: $($rest)*);
    };
    ($handle:ident: async fn $name:ident(&$me:ident); $($rest:tt)*) => {
        #[doc = concat!("As [`tokio::", stringify!($handle), "::", stringify!($name), "`].")]
        pub async fn $name(&$me) {
            $me.inner.$name().await;
        }
        forward!($handle: $($rest)*);
    };
}

/// The subject of a handle is its channel, and so is its `Debug`.
macro_rules! handles {
    ($($handle:ident $(<$lifetime:lifetime>)?),*) => {$(
        impl<$($lifetime,)? T> std::fmt::Debug for $handle<$($lifetime,)? T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($handle)).field("channel", &self.endpoint.subject()).finish_non_exhaustive()
            }
        }

        /// The channel.
        impl<$($lifetime,)? T> metaspy_core::Identify for $handle<$($lifetime,)? T> {
            fn identify(&self) -> metaspy_core::Subject {
                self.endpoint.subject()
            }
        }
    )*};
}

/// A handle can be exchanged for tokio's.
macro_rules! into_inner {
    ($($handle:ident),*) => {$(
        impl<T> $handle<T> {
            /// Returns tokio's handle. Its messages are [`Envelope`]s.
            pub fn into_inner(self) -> tokio::$handle<Envelope<T>> {
                self.inner
            }
        }
    )*};
}

/// What a receiver offers for causes.
macro_rules! receipts {
    ($($receiver:ident),*) => {$(
        impl<T> $receiver<T> {
            /// The event of the last receipt, if it was recorded.
            pub fn received(&self) -> Option<metaspy_core::EventId> {
                self.last
            }

            /// Makes the last receipt the cause of what this thread does, until the guard is dropped.
            pub fn because(&self) -> Option<metaspy_core::causality::Because> {
                self.last.map(metaspy_core::causality::because)
            }
        }
    )*};
}

/// A sender that can be cloned.
macro_rules! clone_sender {
    ($($sender:ident),*) => {$(
        impl<T> Clone for $sender<T> {
            fn clone(&self) -> Self {
                $sender { inner: self.inner.clone(), endpoint: self.endpoint }
            }
        }
    )*};
}

/// A sender that does not keep its channel open, and how to get it.
macro_rules! weak_sender {
    ($sender:ident, $weak:ident) => {
        impl<T> $sender<T> {
            #[doc = concat!("As [`tokio::", stringify!($sender), "::downgrade`].")]
            #[must_use = "a weak sender that is dropped changes nothing"]
            pub fn downgrade(&self) -> $weak<T> {
                $weak { inner: self.inner.downgrade(), endpoint: self.endpoint }
            }

            forward! { $sender:
                fn strong_count(&self) -> usize;
                fn weak_count(&self) -> usize;
            }
        }

        #[doc = concat!("A [`tokio::", stringify!($weak), "`] of a proxied channel.")]
        pub struct $weak<T> {
            inner: tokio::$weak<Envelope<T>>,
            endpoint: Endpoint<T>,
        }

        impl<T> $weak<T> {
            #[doc = concat!("As [`tokio::", stringify!($weak), "::upgrade`].")]
            #[must_use = "a sender that is dropped sends nothing"]
            pub fn upgrade(&self) -> Option<$sender<T>> {
                Some($sender { inner: self.inner.upgrade()?, endpoint: self.endpoint })
            }

            forward! { $weak:
                fn strong_count(&self) -> usize;
                fn weak_count(&self) -> usize;
            }
        }

        clone_sender!($sender, $weak);
        handles!($weak);
    };
}
