//! Advice for receivers that take no spans.

use opentelemetry_sdk::error::OTelSdkError;

const OF_PROTOCOL: &str =
    "is that its protocol? By custom gRPC is at port 4317, and HTTP (--transport http) at 4318";
const OF_ADDRESS: &str = "does a receiver of this --transport listen there?";
const OF_RECEIVER: &str = "the log of the receiver has the reason";

/// Parts of error messages, each with its advice.
const ADVICE: &[(&str, &str)] = &[
    ("status code: 404", OF_PROTOCOL),
    ("status code: 405", OF_PROTOCOL),
    ("status code: 415", OF_PROTOCOL),
    ("status code: 426", OF_PROTOCOL),
    ("gRPC code: Unimplemented", OF_PROTOCOL),
    ("http2 error", OF_PROTOCOL),
    ("network error", OF_ADDRESS),
    ("tcp connect error", OF_ADDRESS),
    ("dns error", OF_ADDRESS),
];

/// Returns the advice for an error of an exporter. Such errors differ only in their texts.
pub fn advice(error: &OTelSdkError) -> &'static str {
    let text = error.to_string();
    ADVICE.iter().find(|(part, _)| text.contains(part)).map_or(OF_RECEIVER, |(_, advice)| advice)
}
