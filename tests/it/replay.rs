//! Edits with typical mistakes, on the files of `fixtures/replay`; the example `replay` does the same
//! with the commits of any repository.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

// The seed of the context and of the mistakes.
const SEED: u64 = 1;

#[path = "../../examples/replay"]
#[allow(dead_code, reason = "the example uses all of it")]
mod replayed {
    pub(crate) mod dice;
    pub(crate) mod edit;
    pub(crate) mod judge;
    pub(crate) mod mistakes;
    pub(crate) mod report;
    pub(crate) mod run;
    pub(crate) mod states;
    pub(crate) mod texts;
    pub(crate) mod trial;
}

use replayed::edit::Edit;
use replayed::judge::Outcome;
use replayed::mistakes::{Kind, kinds};
use replayed::run::{self, Results};

/// The hunks between the two versions of every file of the fixture.
fn edits() -> Vec<Edit> {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/replay");
    let names = fs::read_dir(fixture.join("before")).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    let mut edits = Vec::new();
    for name in names {
        let version = |version: &str| fs::read(fixture.join(version).join(&name)).unwrap();
        let name = name.to_str().unwrap();
        let made = replayed::edit::between(name, &version("before"), &version("after"), SEED);
        assert_eq!(made.left_out, 0, "{name}");
        edits.extend(made.edits);
    }
    edits
}

/// Every edit with every mistake, made once for all tests.
fn results() -> &'static (Vec<Edit>, Vec<Kind>, Results) {
    static RESULTS: OnceLock<(Vec<Edit>, Vec<Kind>, Results)> = OnceLock::new();
    RESULTS.get_or_init(|| {
        let (edits, kinds) = (edits(), kinds());
        let results = run::run(&edits, &kinds, SEED, |_| {}).unwrap();
        (edits, kinds, results)
    })
}

/// Explains the first edits of this kind with a wrong result.
fn explained(kind: Option<usize>) -> String {
    let (edits, kinds, results) = results();
    let wrong = results.wrong.iter().filter(|(_, other)| *other == kind);
    let explanations = wrong.take(2).filter_map(|(edit, _)| {
        run::explain(&edits[*edit], kind.map(|kind| &kinds[kind]), SEED).unwrap()
    });
    explanations.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_edit_without_a_mistake_gives_exactly_the_bytes_that_are_meant() {
    let (edits, _, results) = results();
    assert!(edits.len() >= 25, "{} edits", edits.len());
    assert_eq!(results.plain.of(Outcome::Right), results.plain.tried(), "{}", explained(None));
}

#[test]
fn no_edit_with_a_typical_mistake_is_applied_wrongly() {
    let (_, kinds, results) = results();
    let kinds = kinds.iter().zip(&results.kinds).enumerate();
    let wrong = kinds.filter(|(_, (_, tally))| tally.of(Outcome::Wrong) > 0);
    let wrong_kinds: String = wrong
        .map(|(place, (kind, tally))| {
            let (wrong, all) = (tally.of(Outcome::Wrong), tally.tried());
            format!("{}: {wrong} of {all} wrong\n{}\n", kind.name, explained(Some(place)))
        })
        .collect::<Vec<_>>()
        .concat();
    assert!(wrong_kinds.is_empty(), "{wrong_kinds}");
}

#[test]
fn every_kind_of_mistake_is_made_in_the_fixture() {
    let (_, kinds, results) = results();
    let unused = kinds.iter().zip(&results.kinds).filter(|(_, tally)| tally.tried() == 0);
    let unused: Vec<&str> = unused.map(|(kind, _)| kind.name.as_str()).collect();
    assert_eq!(unused, Vec::<&str>::new());
}

// Ensures that not all edits are refused. Blocks with another indentation are excluded: if their
// new lines may use other indentation steps than the file, the edit is refused.
#[test]
fn mistakes_that_leave_no_doubt_are_repaired() {
    let (_, kinds, results) = results();
    for (kind, tally) in kinds.iter().zip(&results.kinds) {
        let repaired = [
            "blanks-added-both",
            "lf-to-crlf-both",
            "crlf-to-lf-both",
            "terminator-lost-both",
            "smart-quotes-old",
            "no-break-spaces-both",
            "numbers-read-file-both",
            "other-hunk-first",
        ];
        if repaired.contains(&kind.name.as_str()) {
            let right = tally.of(Outcome::Right) + tally.of(Outcome::Literal);
            assert_eq!(right, tally.tried(), "{}", kind.name);
        }
    }
}
