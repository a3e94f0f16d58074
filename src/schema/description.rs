//! Defaults and limits in the words of a description, for those who drop the keywords.

use serde_json::{Map, Value};

use super::portable::children;

/// What comes before and after the number of a limit.
const LIMITS: &[(&str, &str, &str)] = &[
    ("minimum", "at least ", ""),
    ("maximum", "at most ", ""),
    ("exclusiveMinimum", "more than ", ""),
    ("exclusiveMaximum", "less than ", ""),
    ("multipleOf", "a multiple of ", ""),
    ("minLength", "at least ", " characters"),
    ("maxLength", "at most ", " characters"),
    ("minItems", "at least ", " items"),
    ("maxItems", "at most ", " items"),
];

/// Adds to each description what its schema limits and what holds for an absent value, unless the
/// description says so already.
pub(super) fn tell(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else { return };
    for child in children(node) {
        tell(child);
    }
    for &(keyword, before, after) in LIMITS {
        tell_limit(node, keyword, before, after);
    }
    if let Some(pattern) = node.get("pattern").and_then(Value::as_str) {
        let sentence = format!("Matches the regular expression {pattern}");
        say(node, &sentence);
    }
    tell_default(node);
}

/// Tells whether `keyword` only limits or explains a value, and is told in the description.
pub(super) fn is_told(keyword: &str) -> bool {
    let limits = LIMITS.iter().map(|(limit, _, _)| *limit);
    limits.chain(["pattern", "default"]).any(|told| told == keyword)
}

/// Adds a sentence, without its full stop, to the description of `node`.
pub(super) fn say(node: &mut Map<String, Value>, sentence: &str) {
    let before = description(node).trim_end();
    let stop = if before.is_empty() || before.ends_with(['.', '!', '?']) { "" } else { "." };
    let gap = if before.is_empty() { "" } else { " " };
    let whole = format!("{before}{stop}{gap}{sentence}.");
    node.insert("description".to_owned(), Value::String(whole));
}

/// That a count is not negative goes without saying.
fn tell_limit(node: &mut Map<String, Value>, keyword: &str, before: &str, after: &str) {
    let Some(limit) = node.get(keyword).and_then(Value::as_number) else { return };
    if keyword.starts_with("min") && limit.as_u64() == Some(0) {
        return;
    }
    if limit.as_u64().is_some_and(|limit| is_remote(keyword, limit)) {
        return;
    }
    let limit = limit.to_string();
    if !is_said(description(node), before.trim(), &limit) {
        say(node, &capital(&format!("{before}{limit}{after}")));
    }
}

/// Tells whether a limit is so large that knowing it does not help a model: it only costs tokens,
/// and a call that exceeds the limit is told.
fn is_remote(keyword: &str, limit: u64) -> bool {
    match keyword {
        "maxLength" => limit >= 200,
        "maxItems" => limit >= 50,
        "maximum" => limit >= 1_000_000,
        _ => false,
    }
}

/// `at most 9` and `9 at most` say the same; `at most 90` does not.
fn is_said(description: &str, words: &str, limit: &str) -> bool {
    let description = description.to_lowercase();
    let phrase = format!("{words} {limit}");
    let is_after = description
        .match_indices(&phrase)
        .filter_map(|(at, _)| description.get(at + phrase.len()..))
        .any(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()));
    is_after || description.split('.').any(|part| part.trim() == format!("{limit} {words}"))
}

fn tell_default(node: &mut Map<String, Value>) {
    let Some(default) = node.get("default").filter(|default| !default.is_null()) else { return };
    if description(node).contains("Default:") {
        return;
    }
    let told = match default {
        Value::String(word) if is_word(word) => word.clone(),
        other => other.to_string(),
    };
    say(node, &format!("Default: {told}"));
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_alphanumeric() || letter == '_')
}

fn description(node: &Map<String, Value>) -> &str {
    node.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// The text with an upper-case letter at its beginning.
pub(super) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(mut schema: Value) -> String {
        tell(&mut schema);
        description(schema.as_object().expect("an object")).to_owned()
    }

    #[test]
    fn limits_and_defaults_are_told_once() {
        let table = [
            (json!({ "minimum": 1, "default": 50 }), "At least 1. Default: 50."),
            (json!({ "description": "Lines", "maximum": 9 }), "Lines. At most 9."),
            (json!({ "description": "Lines, at most 9.", "maximum": 9 }), "Lines, at most 9."),
            (json!({ "description": "A. 9 at most.", "maximum": 9 }), "A. 9 at most."),
            (json!({ "description": "At most 90.", "maximum": 9 }), "At most 90. At most 9."),
            (json!({ "description": "A. Default: all.", "default": "." }), "A. Default: all."),
            (json!({ "description": "A.", "default": "." }), "A. Default: \".\"."),
            (json!({ "description": "A.", "default": "safe" }), "A. Default: safe."),
            (json!({ "description": "A.", "default": false }), "A. Default: false."),
            (json!({ "description": "A.", "minimum": 0 }), "A."),
            (json!({ "description": "A.", "maxItems": 3 }), "A. At most 3 items."),
            (json!({ "minLength": 2 }), "At least 2 characters."),
            (json!({ "description": "A.", "maxLength": 64 }), "A. At most 64 characters."),
            (json!({ "description": "A.", "maxLength": 4096 }), "A."),
            (json!({ "description": "A.", "maxItems": 64 }), "A."),
            (json!({ "description": "A.", "maximum": 1_000_000 }), "A."),
        ];
        for (schema, wanted) in table {
            let whole = told(schema);
            assert_eq!(whole, wanted);
        }
    }

    #[test]
    fn what_is_told_twice_is_said_once() {
        let mut schema = json!({ "description": "A.", "minimum": 1, "maxItems": 3, "default": 5 });
        tell(&mut schema);
        let once = schema.clone();
        tell(&mut schema);
        assert_eq!(schema, once);
    }
}
