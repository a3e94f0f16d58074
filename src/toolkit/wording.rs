//! The words in which arguments and names are refused, alike for every tool.

use std::io::{self, Write};

use serde_json::Value;

use crate::schema::Bounds;
use crate::text::clip;
use crate::text::similar::most_similar;

/// The most bytes of a refused value that a message repeats.
pub(super) const MAX_SHOWN_BYTES: usize = 80;
/// The most values of an enum, or arguments of a tool, that a message lists.
const MAX_LISTED: usize = 20;
/// How alike (0 to 1) a name must be to be suggested.
const MIN_LIKENESS: f64 = 0.7;

/// The known name most like `name`, if one is like it at all.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = cut(name, MAX_SHOWN_BYTES);
    // The first of equals wins, so that the answer does not depend on later additions.
    let best = most_similar(&name, known, |known| known).into_iter().next();
    best.filter(|(likeness, _)| *likeness >= MIN_LIKENESS).map(|(_, known)| known)
}

/// `"serch" (did you mean "search"?)`.
pub(super) fn unknown(name: &str, nearest: Option<&str>) -> String {
    let name = json(&Value::from(name));
    match nearest {
        Some(nearest) => format!("{name} (did you mean \"{nearest}\"?)"),
        None => name,
    }
}

/// What was given, such as `the text "abc"`.
pub(super) fn got(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(flag) => return flag.to_string(),
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    format!("the {kind} {}", json(value))
}

/// What a schema asks for, such as `a whole number from 1 to 100 (default 50)`.
pub(super) fn expected(schema: &Value) -> String {
    let wanted = wanted(schema);
    match schema.get("default") {
        None | Some(Value::Null) => wanted,
        Some(default) => format!("{wanted} (default {})", json(default)),
    }
}

fn wanted(schema: &Value) -> String {
    if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
        return options.iter().map(wanted).collect::<Vec<_>>().join(" or ");
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return format!("one of {}", listed(values));
    }
    match schema.get("type").and_then(Value::as_str).unwrap_or_default() {
        "string" => "text".to_owned(),
        "integer" => format!("a whole number{}", Bounds::of(schema)),
        "number" => format!("a number{}", Bounds::of(schema)),
        "boolean" => "true or false".to_owned(),
        "array" => schema.get("items").map_or_else(|| "a list".to_owned(), list_of),
        "object" => "an object".to_owned(),
        _ => "a value".to_owned(),
    }
}

fn list_of(item: &Value) -> String {
    match item.get("type").and_then(Value::as_str) {
        Some("object") => "a list of objects".to_owned(),
        Some("integer") => "a list of whole numbers".to_owned(),
        Some("string") if item.get("enum").is_none() => "a list of texts".to_owned(),
        _ => format!("a list, each {}", wanted(item)),
    }
}

fn listed(values: &[Value]) -> String {
    let shown: Vec<String> = values.iter().take(MAX_LISTED).map(json).collect();
    let more = values.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Compact JSON, cut.
pub(super) fn json(value: &Value) -> String {
    let mut start = Start(Vec::new());
    // An error only says that the start is full.
    let _ = serde_json::to_writer(&mut start, value);
    let text = String::from_utf8_lossy(&start.0);
    cut(text.trim_end_matches('\u{fffd}'), MAX_SHOWN_BYTES)
}

/// The start of `text`, at most `room` bytes, with `…` if there was more.
pub(super) fn cut(text: &str, room: usize) -> String {
    clip::ellipsize(text, room).into_owned()
}

/// Keeps one byte more than is shown, so that the cut is noticed, and refuses the rest.
struct Start(Vec<u8>);

impl Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = (MAX_SHOWN_BYTES + 4).saturating_sub(self.0.len());
        let kept = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.0.extend_from_slice(kept);
        if kept.is_empty() && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(kept.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;

    #[test]
    fn a_long_value_is_cut_at_a_character() {
        let shown = json(&Value::from("é".repeat(500)));
        assert!(shown.len() <= MAX_SHOWN_BYTES + '…'.len_utf8(), "{shown}");
        assert!(shown.ends_with("é…"), "{shown}");
        let exact = "x".repeat(MAX_SHOWN_BYTES - 2);
        assert_eq!(json(&Value::from(exact.clone())), format!("\"{exact}\""));
    }

    #[test]
    fn every_kind_of_value_has_its_word() {
        let kinds = [
            (value!(null), "null"),
            (value!(true), "true"),
            (value!(2.5), "the number 2.5"),
            (value!("a\nb"), r#"the text "a\nb""#),
            (value!(["a"]), r#"the list ["a"]"#),
            (value!({"a": 1}), r#"the object {"a":1}"#),
        ];
        for (given, said) in kinds {
            assert_eq!(got(&given), said);
        }
    }

    #[test]
    fn every_kind_of_schema_has_its_words() {
        let kinds = [
            (value!({"type": "string"}), "text"),
            (value!({"type": "string", "default": "."}), "text (default \".\")"),
            (value!({"type": "integer", "minimum": 0}), "a whole number of at least 0"),
            (value!({"type": "integer", "maximum": 9}), "a whole number of at most 9"),
            (value!({"type": "integer", "format": "uint8"}), "a whole number from 0 to 255"),
            (value!({"type": "integer"}), "a whole number"),
            (value!({"type": "boolean", "default": true}), "true or false (default true)"),
            (value!({"type": "string", "enum": ["a", "b"]}), "one of \"a\", \"b\""),
            (value!({"type": "array", "items": {"type": "string"}}), "a list of texts"),
            (value!({"type": "array", "items": {"type": "object"}}), "a list of objects"),
            (
                value!({"anyOf": [
                    {"type": "string"},
                    {"type": "array", "items": {"type": "string"}},
                ]}),
                "text or a list of texts",
            ),
            (value!({}), "a value"),
        ];
        for (schema, said) in kinds {
            assert_eq!(expected(&schema), said);
        }
    }

    #[test]
    fn only_a_name_that_is_alike_is_suggested() {
        let known = ["pattern", "path", "max_results"];
        assert_eq!(nearest("patern", known.into_iter()), Some("pattern"));
        assert_eq!(nearest("maxResults", known.into_iter()), Some("max_results"));
        assert_eq!(nearest("zzz", known.into_iter()), None);
    }
}
