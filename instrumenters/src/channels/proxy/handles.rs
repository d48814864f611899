//! Methods that the handles of tokio's channels have in common.
//!
//! Each module of a channel has the alias `tokio` for the corresponding module of tokio.

/// Generates methods that call tokio's method of the same name, and record nothing.
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

/// Implements `Identify` and `Debug` for permits, whose subject is their channel.
macro_rules! permits {
    ($($handle:ident $(<$lifetime:lifetime>)?),*) => {$(
        impl<$($lifetime,)? T> std::fmt::Debug for $handle<$($lifetime,)? T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($handle)).field("channel", &self.endpoint.subject()).finish_non_exhaustive()
            }
        }

        /// The identity is that of the channel.
        impl<$($lifetime,)? T> metaspy_core::Identify for $handle<$($lifetime,)? T> {
            fn identify(&self) -> metaspy_core::Subject {
                self.endpoint.subject()
            }
        }
    )*};
}

/// Generates a sender that does not keep its channel open, with its conversions.
macro_rules! weak_sender {
    ($sender:ident, $weak:ident) => {
        #[doc = concat!("A [`tokio::", stringify!($weak), "`] of a proxied channel.")]
        pub type $weak<T> = SpiedSender<tokio::$weak<Envelope<T>>, T>;

        impl<T> $sender<T> {
            #[doc = concat!("As [`tokio::", stringify!($sender), "::downgrade`].")]
            #[must_use = "a weak sender that is dropped changes nothing"]
            pub fn downgrade(&self) -> $weak<T> {
                SpiedSender::new(self.inner.downgrade(), self.endpoint)
            }

            forward! { $sender:
                fn strong_count(&self) -> usize;
                fn weak_count(&self) -> usize;
            }
        }

        impl<T> $weak<T> {
            #[doc = concat!("As [`tokio::", stringify!($weak), "::upgrade`].")]
            #[must_use = "a sender that is dropped sends nothing"]
            pub fn upgrade(&self) -> Option<$sender<T>> {
                Some(SpiedSender::new(self.inner.upgrade()?, self.endpoint))
            }

            forward! { $weak:
                fn strong_count(&self) -> usize;
                fn weak_count(&self) -> usize;
            }
        }
    };
}
