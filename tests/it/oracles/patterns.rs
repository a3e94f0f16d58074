//! Any text in place of a pattern: an answer or an error, soon.

use std::fs;
use std::time::{Duration, Instant};

use ripkit::tools::search::{Args, Search};
use ripkit::{Call, ErrorCode};

use super::Choices;
use super::scratch::Scratch;

/// What a call may take.
const DEADLINE: Duration = Duration::from_millis(200);

/// How much later the answer may come, in a slow build on a busy machine.
const PATIENCE: Duration = Duration::from_secs(15);

const PIECES: [&str; 40] = [
    "a",
    "b",
    "é",
    "\u{10ffff}",
    ".",
    r"\w",
    r"\W",
    r"\pL",
    r"\p{Greek}",
    r"\d",
    r"\s",
    r"\b",
    r"\B",
    "^",
    "$",
    r"\z",
    "[a-z]",
    "[^a]",
    "[[:alpha:]]",
    "[a&&b]",
    "[",
    "]",
    "(",
    "(?:",
    "(?i)",
    "(?s-u:",
    ")",
    "|",
    "*",
    "+",
    "?",
    "{2}",
    "{1,50}",
    "{1000}",
    "{",
    r"\x{",
    r"\n",
    r"\",
    "(?P<n>",
    r"\b{start}",
];

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let long = "ab".repeat(20_000) + "c\n";
    let files: [(&str, &[u8]); 4] = [
        ("text", b"a b c\nfoo bar\n\nAB\r\n\xC3\xA9t\xC3\xA9\n"),
        ("long", long.as_bytes()),
        ("broken", b"\xFF\xC3\n\xE2\x82 a\n"),
        ("binary", b"a\n\0b\n"),
    ];
    for (name, content) in files {
        fs::write(scratch.root().join(name), content).unwrap();
    }
    scratch
}

pub fn check(data: &[u8]) {
    thread_local!(static SCRATCH: Scratch = scratch());
    let Some((flags, rest)) = data.split_first() else { return };
    let has = |bit: u8| flags & (1 << bit) != 0;
    let pattern = if has(7) {
        let mut choices = Choices::new(rest);
        let mut pattern = String::new();
        while !choices.is_over() {
            pattern.push_str(choices.pick(&PIECES));
        }
        pattern
    } else {
        String::from_utf8_lossy(rest).into_owned()
    };
    let mut args = Args { pattern, ..Args::default() };
    (args.case_sensitive, args.literal, args.word, args.multiline) =
        (has(0), has(1) && has(2), has(3), has(4));
    SCRATCH.with(|scratch| search(scratch, args));
}

fn search(scratch: &Scratch, args: Args) {
    let (started, told) = (Instant::now(), format!("{args:?}"));
    let call = Call::default().with_timeout(DEADLINE);
    let found = scratch.tools.run::<Search>(args, &call);
    assert!(started.elapsed() < DEADLINE + PATIENCE, "took {:?}: {told}", started.elapsed());
    let Err(error) = found else { return };
    let is_meant = matches!(
        error.code(),
        // The last two: a search that ran out of time is left behind, and there are many of these.
        ErrorCode::InvalidPattern | ErrorCode::Timeout | ErrorCode::ResourceExhausted
    );
    assert!(is_meant, "{error}: {told}");
    assert!(error.to_string().len() <= 2100, "{} bytes: {told}", error.to_string().len());
}
