//! Names that nobody can guess, and by which their maker knows them again.

use std::hash::{BuildHasher, RandomState};

/// Hexadecimal digits of a name.
const DIGITS: usize = 16;

/// A family of names: digits between two texts that all of them have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomNames {
    pub(crate) prefix: &'static str,
    pub(crate) suffix: &'static str,
}

impl RandomNames {
    /// A new name; the keys of the hasher come from the system's source of randomness.
    pub(crate) fn fresh(self) -> Vec<u8> {
        let random = RandomState::new().hash_one(0_u8);
        format!("{}{random:0DIGITS$x}{}", self.prefix, self.suffix).into_bytes()
    }

    /// Tells whether a name is of this family.
    pub(crate) fn include(self, name: &[u8]) -> bool {
        let digits = name
            .strip_prefix(self.prefix.as_bytes())
            .and_then(|name| name.strip_suffix(self.suffix.as_bytes()));
        digits.is_some_and(|digits| {
            digits.len() == DIGITS && digits.iter().all(u8::is_ascii_hexdigit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_its_own_names_and_no_others() {
        let names = RandomNames { prefix: ".", suffix: ".mine~" };
        assert!(names.include(&names.fresh()));
        assert_ne!(names.fresh(), names.fresh());
        assert!(names.include(b".0123456789abcdef.mine~"));
        let others = [
            "0123456789abcdef.mine~",
            ".0123456789abcde.mine~",
            ".0123456789abcdef0.mine~",
            ".0123456789abcdeg.mine~",
            ".0123456789abcdef",
            ".0123456789abcdef.mine",
            "..mine~",
            ".mine~",
            "",
        ];
        for name in others {
            assert!(!names.include(name.as_bytes()), "{name}");
        }
    }
}
