//! Standard input, for an argument given as `-`.

use std::io::{self, Read};

use ripkit::{Error, ErrorCode};

/// All of it, which must be text.
pub(super) fn standard_input() -> Result<String, Error> {
    let mut text = String::new();
    let read = io::stdin().lock().read_to_string(&mut text);
    read.map_err(|reason| {
        let code = match reason.kind() {
            io::ErrorKind::InvalidData => ErrorCode::NotText,
            _ => ErrorCode::IoError,
        };
        let error = Error::new(code, format!("cannot read standard input: {reason}"));
        error.because(reason).with_hint("Only UTF-8 text can be passed on.")
    })?;
    Ok(text)
}
