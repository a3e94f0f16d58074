//! What a caller expects to find before a file is changed.

use crate::error::{Error, ErrorCode};
use crate::workspace::Version;

/// How a caller says that there must be no file.
const ABSENT: &str = "absent";

/// What must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Nothing.
    Absent,
    /// A file of this content.
    Version(Version),
}

impl Expected {
    /// What the argument `expected_version` says.
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

    /// The same where a file must be there.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for anything but a version.
    pub(crate) fn parse_version(argument: Option<&str>) -> Result<Option<Version>, Error> {
        Expected::parse(argument)?.map(Expected::version).transpose()
    }

    fn version(self) -> Result<Version, Error> {
        match self {
            Expected::Version(version) => Ok(version),
            Expected::Absent => {
                let message = format!("expected_version: {ABSENT:?} is for write_file only");
                Err(Error::new(ErrorCode::InvalidArgument, message))
            }
        }
    }
}
