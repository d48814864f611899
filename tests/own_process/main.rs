//! Tests of what a process is given from outside: environment variables, causes of other processes,
//! features.

#[cfg(all(feature = "record", any(target_os = "linux", target_vendor = "apple", windows)))]
mod environment;
mod feature_off;
#[cfg(all(feature = "record", target_os = "linux"))]
mod hosts;
#[cfg(all(feature = "record", any(target_os = "linux", target_vendor = "apple", windows)))]
mod other_processes;
#[cfg(all(feature = "record", any(target_os = "linux", target_vendor = "apple", windows)))]
mod profiles;
#[cfg(all(feature = "record", any(target_os = "linux", target_vendor = "apple", windows)))]
mod rotation;
