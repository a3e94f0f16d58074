//! The version of a file's content.

use std::fmt;
use std::io;

/// A token for the content of a file: 128 bits of its BLAKE3 hash.
///
/// Equal content has an equal version, whatever its name and time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version([u8; 16]);

impl Version {
    /// The version of some content.
    pub fn of(content: &[u8]) -> Version {
        Version::shorten(blake3::hash(content))
    }

    /// The version of content that is read piece by piece, by `read` until it gives 0 bytes.
    pub(crate) fn of_stream(
        mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Version> {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; 256 * 1024];
        loop {
            match read(&mut buffer)? {
                0 => return Ok(Version::shorten(hasher.finalize())),
                count => hasher.update(buffer.get(..count).unwrap_or_default()),
            };
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

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
