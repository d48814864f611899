//! The pages of `docs/` and the README: their code compiles as it is pasted. A page needs the
//! features of the items that it shows. The guide `your-framework.md` quotes the files of its
//! example instead.

#[cfg(feature = "record")]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(feature = "tokio")]
#[doc = include_str!("../docs/announcements.md")]
mod announcements {}

#[cfg(feature = "record")]
#[doc = include_str!("../docs/contexts.md")]
mod contexts {}

#[cfg(feature = "record")]
#[doc = include_str!("../docs/crawler.md")]
mod crawler {}

#[cfg(feature = "record")]
#[doc = include_str!("../docs/keeping.md")]
mod keeping {}

#[cfg(all(feature = "record", feature = "winnow"))]
#[doc = include_str!("../docs/parsers.md")]
mod parsers {}

#[cfg(feature = "record")]
#[doc = include_str!("../docs/processes.md")]
mod processes {}

#[cfg(feature = "tracing")]
#[doc = include_str!("../docs/resources.md")]
mod resources {}

#[cfg(feature = "sample")]
#[doc = include_str!("../docs/sampling.md")]
mod sampling {}

#[cfg(feature = "tracing")]
#[doc = include_str!("../docs/spans.md")]
mod spans {}

#[cfg(feature = "tokio")]
#[doc = include_str!("../docs/watching.md")]
mod watching {}
