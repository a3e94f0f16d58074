//! Versions: tokens for the content of a file, by which a caller says what it expects to change.

use std::fmt;
use std::io;
use std::str::FromStr;

use crate::error::{Error, ErrorCode};
use crate::hint::Hint;
use crate::os::split_at_count;

/// The value of `expected_version` that means that there must be no file.
const ABSENT: &str = "absent";

/// A token for the content of a file: 128 bits of its BLAKE3 hash.
///
/// Equal content has an equal version, whatever its name and time.
///
/// ```
/// use ripkit::workspace::Version;
///
/// assert_eq!(Version::of(b"one"), Version::of(b"one"));
/// assert_ne!(Version::of(b"one"), Version::of(b"two"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version([u8; 16]);

impl Version {
    /// The version of some content.
    pub fn of(content: &[u8]) -> Version {
        Version::shorten(blake3::hash(content))
    }

    /// The version of content that `read` returns piece by piece, until it returns 0 bytes.
    pub(crate) fn of_stream(
        mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Version> {
        let mut hasher = VersionHasher::default();
        let mut buffer = vec![0; 256 * 1024];
        loop {
            match read(&mut buffer)? {
                0 => return Ok(hasher.finish()),
                count => hasher.update(split_at_count(&buffer, count)?.0),
            }
        }
    }

    fn shorten(hash: blake3::Hash) -> Version {
        let mut bits = [0; 16];
        for (to, from) in bits.iter_mut().zip(hash.as_bytes()) {
            *to = *from;
        }
        Version(bits)
    }
}

impl FromStr for Version {
    type Err = Error;

    /// Reads the 32 hexadecimal digits that `Display` writes.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for anything else.
    fn from_str(text: &str) -> Result<Version, Error> {
        let invalid = || {
            let shown: String = text.chars().take(64).collect();
            let message = format!("{shown:?} is no version: 32 hexadecimal digits are");
            Error::new(ErrorCode::InvalidArgument, message).with_hint(Hint::Tools {
                before: "Take the version from the answer of ".into(),
                names: vec!["read_file", "write_file", "edit_file"],
                after: ".".into(),
            })
        };
        let all_digits = text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = all_digits.then(|| u128::from_str_radix(text, 16).ok()).flatten();
        number.map(|number| Version(number.to_be_bytes())).ok_or_else(invalid)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Computes the version of content that comes in pieces.
#[derive(Debug, Default)]
pub(crate) struct VersionHasher(blake3::Hasher);

impl VersionHasher {
    pub(crate) fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    pub(crate) fn finish(&self) -> Version {
        Version::shorten(self.0.finalize())
    }
}

/// What a caller expects to find before a file is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// No file.
    Absent,
    /// A file with this content.
    Version(Version),
}

impl Expected {
    /// Parses the argument `expected_version`.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for anything but a version and `absent`.
    pub(crate) fn parse(argument: Option<&str>) -> Result<Option<Expected>, Error> {
        let parsed = argument.map(|text| match text {
            ABSENT => Ok(Expected::Absent),
            text => text.parse().map(Expected::Version),
        });
        parsed.transpose()
    }

    /// The same for a tool that changes only files that exist.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for anything but a version.
    pub(crate) fn parse_version(argument: Option<&str>) -> Result<Option<Version>, Error> {
        match Expected::parse(argument)? {
            None => Ok(None),
            Some(Expected::Version(version)) => Ok(Some(version)),
            Some(Expected::Absent) => {
                let message = format!("expected_version: {ABSENT:?} is for write_file only");
                Err(Error::new(ErrorCode::InvalidArgument, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_read_back_and_nothing_else_is() {
        let version = Version::of(b"content");
        assert_eq!(version.to_string().parse::<Version>().unwrap(), version);
        for text in ["", "absent", "+123456789012345678901234567890123", &"g".repeat(32)] {
            assert_eq!(text.parse::<Version>().unwrap_err().code(), ErrorCode::InvalidArgument);
        }
    }
}
