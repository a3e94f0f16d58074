//! Text that is kept until the end of a call: in memory, and beyond a few megabytes in a temporary file.

use std::collections::hash_map::RandomState;
use std::env;
use std::fmt;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::path::PathBuf;
use std::process;

/// How many bytes are kept in memory.
const MAX_MEMORY: usize = 4 << 20;

/// A text that grows. The first error is kept until it is read.
pub(super) struct Spool {
    /// What is not in the file.
    tail: Vec<u8>,
    file: Option<TemporaryFile>,
    may_use_file: bool,
    is_escaped: bool,
    /// A line feed that ends what was written so far.
    ends_line: bool,
    error: Option<io::Error>,
}

struct TemporaryFile {
    file: File,
    path: PathBuf,
}

impl Spool {
    /// An empty text. If it `is_escaped`, what is written becomes part of a JSON string, without the
    /// line feed at its end.
    pub(super) fn new(is_escaped: bool) -> Spool {
        Spool {
            tail: Vec::new(),
            file: None,
            may_use_file: true,
            is_escaped,
            ends_line: false,
            error: None,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tail.is_empty() && self.file.is_none() && !self.ends_line
    }

    fn add(&mut self, text: &str) -> io::Result<()> {
        if !self.is_escaped {
            self.tail.extend_from_slice(text.as_bytes());
        } else if !text.is_empty() {
            let (line_end, text) = match text.strip_suffix('\n') {
                Some(text) => (true, text),
                None => (false, text),
            };
            if std::mem::replace(&mut self.ends_line, line_end) {
                self.tail.extend_from_slice(b"\\n");
            }
            let quoted = serde_json::to_string(text)?;
            self.tail.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
        }
        if self.tail.len() > MAX_MEMORY {
            if self.file.is_none() && self.may_use_file {
                // Without a directory for temporary files, all of it stays in memory.
                self.file = TemporaryFile::new().ok();
                self.may_use_file = self.file.is_some();
            }
            if let Some(file) = &mut self.file {
                file.file.write_all(&self.tail)?;
                self.tail.clear();
            }
        }
        Ok(())
    }

    /// Copies the text.
    pub(super) fn copy_to(&mut self, to: &mut impl Write) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if let Some(file) = &mut self.file {
            file.file.seek(SeekFrom::Start(0))?;
            let mut buffer = vec![0; 64 << 10];
            loop {
                match file.file.read(&mut buffer)? {
                    0 => break,
                    count => to.write_all(&buffer[..count])?,
                }
            }
        }
        to.write_all(&self.tail)
    }
}

impl fmt::Write for Spool {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.error.is_none() {
            self.error = self.add(text).err();
        }
        if self.error.is_some() { Err(fmt::Error) } else { Ok(()) }
    }
}

impl TemporaryFile {
    fn new() -> io::Result<TemporaryFile> {
        // A random name, since others may write in a directory for temporary files.
        let random = RandomState::new().build_hasher().finish();
        let path = env::temp_dir().join(format!("ripkit-{}-{random:016x}.json", process::id()));
        let mut options = File::options();
        // It fails if anything has that name.
        options.read(true).write(true).create_new(true);
        // What is found is for its user only.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        // Where a name can go before its file is closed, nothing is left behind by a kill.
        #[cfg(unix)]
        fs::remove_file(&path)?;
        Ok(TemporaryFile { file, path })
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if cfg!(not(unix)) {
            // What is left behind is in a directory for temporary files.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    fn text(spool: &mut Spool) -> String {
        let mut bytes = Vec::new();
        spool.copy_to(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn an_escaped_text_is_the_inside_of_a_json_string_without_its_last_line_end() {
        let mut spool = Spool::new(true);
        assert!(spool.is_empty());
        for piece in ["a\"\n", "", "b\\\n\n", "c\u{7}", "d\n"] {
            spool.write_str(piece).unwrap();
        }
        let json = format!("\"{}\"", text(&mut spool));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), "a\"\nb\\\n\nc\u{7}d");
    }

    #[test]
    fn without_a_temporary_file_everything_stays_in_memory() {
        let mut spool = Spool { may_use_file: false, ..Spool::new(false) };
        let piece = "0123456789abcdef".repeat(1 << 16);
        for _ in 0..9 {
            spool.write_str(&piece).unwrap();
        }
        assert!(spool.file.is_none());
        assert!(text(&mut spool) == piece.repeat(9));
    }

    #[test]
    fn what_is_more_than_stays_in_memory_comes_back_from_a_file() {
        let mut spool = Spool::new(false);
        let piece = "0123456789abcdef".repeat(1 << 16);
        for _ in 0..9 {
            spool.write_str(&piece).unwrap();
        }
        assert!(spool.file.is_some() && spool.tail.len() <= MAX_MEMORY);
        assert!(text(&mut spool) == piece.repeat(9));
    }
}
