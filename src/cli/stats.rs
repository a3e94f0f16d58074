//! How much a search or a listing looked at, told on standard error.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Map, Value};

use super::print;

/// Tells what the receipt knows.
pub(super) fn tell(details: &Value, elapsed: Duration) {
    if let Some(text) = text(details, elapsed) {
        print::lines(&text);
    }
}

fn text(details: &Value, elapsed: Duration) -> Option<String> {
    let receipt = details.get("receipt")?.as_object()?;
    let mut text = String::new();
    // Writing to a string does not fail.
    let mut add = |count: &dyn std::fmt::Display, what: &str| {
        let _ = writeln!(text, "{count} {what}");
    };
    if let Some(matches) = details.get("matches").and_then(Value::as_u64) {
        add(&matches, "matches");
    }
    for (name, count) in counts(receipt) {
        add(&count, &name);
    }
    let skipped = receipt.get("skipped").and_then(Value::as_object);
    for (reason, count) in skipped.into_iter().flat_map(counts).filter(|(_, count)| *count > 0) {
        add(&count, &format!("skipped: {reason}"));
    }
    if let Some(excluded) = receipt.get("index").and_then(|index| index.get("excluded")) {
        add(excluded, "files excluded by the index");
    }
    if details.pointer("/receipt/index/asked") == Some(&Value::Bool(false)) {
        add(&"the index could not help:", "the pattern asks nothing of it");
    }
    add(&format_args!("{:.6}", elapsed.as_secs_f64()), "seconds");
    Some(text)
}

fn counts(object: &Map<String, Value>) -> impl Iterator<Item = (String, u64)> {
    object.iter().filter_map(|(name, count)| Some((name.replace('_', " "), count.as_u64()?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_the_receipt_knows_is_told_and_no_more() {
        let details = json!({ "matches": 3, "receipt": {
            "files": 12, "directories": 2, "trouble": ["x"],
            "skipped": { "ignored_files": 4, "hidden": 0, "too_large": 1 },
        } });
        let told = "3 matches\n12 files\n2 directories\n4 skipped: ignored files\n\
            1 skipped: too large\n0.001500 seconds\n";
        assert_eq!(text(&details, Duration::from_micros(1500)).as_deref(), Some(told));
        assert_eq!(text(&json!({ "bytes": 3 }), Duration::ZERO), None);
    }

    #[test]
    fn what_an_index_spared_is_told_and_that_it_could_spare_nothing() {
        let details = |asked: bool| {
            let index = json!({ "excluded": 7, "asked": asked });
            json!({ "receipt": { "files": 9, "skipped": {}, "index": index } })
        };
        let told = "9 files\n7 files excluded by the index\n0.000000 seconds\n";
        assert_eq!(text(&details(true), Duration::ZERO).as_deref(), Some(told));
        let told = "9 files\n7 files excluded by the index\n\
            the index could not help: the pattern asks nothing of it\n0.000000 seconds\n";
        assert_eq!(text(&details(false), Duration::ZERO).as_deref(), Some(told));
    }
}
