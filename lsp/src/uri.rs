//! Conversion between paths and `file:` addresses of the protocol.

use std::path::{Path, PathBuf};

use lsp_types::Uri;

/// Returns the path of a `file:` address on this machine, or `None` for any other address.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // The authority may be empty, or the name of this machine.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return None;
    }
    let path = decoded(path)?;
    let path = if cfg!(windows) { path.trim_start_matches('/').replace('/', "\\") } else { path };
    Some(PathBuf::from(path))
}

/// Returns the address of a path, or `None` if the path is not absolute or not Unicode.
pub fn of_path(path: &Path) -> Option<Uri> {
    let text = path.to_str().filter(|_| path.is_absolute())?;
    let text =
        if cfg!(windows) { format!("/{}", text.replace('\\', "/")) } else { text.to_owned() };
    let mut encoded = String::from("file://");
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(byte.into())
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded.parse().ok()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = if first == b'%' { after.split_at_checked(2) } else { None };
        let byte = escaped.and_then(|(digits, after)| {
            let digits =
                std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
            Some((u8::from_str_radix(digits, 16).ok()?, after))
        });
        let (byte, after) = byte.unwrap_or((first, after));
        bytes.push(byte);
        rest = after;
    }
    String::from_utf8(bytes).ok().filter(|path| !path.contains('\0'))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_an_address_and_a_path_again() {
        for path in ["/a/b.rs", "/a b/%41#ö?.rs", "/"] {
            let uri = of_path(Path::new(path)).expect("it is absolute");
            assert_eq!(to_path(uri.as_str()).as_deref(), Some(Path::new(path)), "{}", uri.as_str());
        }
        assert_eq!(to_path("file:///a%3Ab%zz%"), Some("/a:b%zz%".into()));
        assert_eq!(to_path("file://localhost/a"), Some("/a".into()));
        assert_eq!(
            ["untitled:a", "file://host/a", "file:///%00", "file:///%ff"].map(to_path),
            [None, None, None, None]
        );
        assert_eq!(of_path(Path::new("a.rs")), None);
    }
}
