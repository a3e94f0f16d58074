//! From what the derive emits to the subset of JSON Schema that every provider understands.

use serde_json::{Map, Value, json};

/// Whether absent and `null` may be told apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// A model writes it: optional means absent, and unknown names are refused.
    Arguments,
    /// We write it: a field that can be `null` says so.
    Output,
}

const NULL: &str = "null";
/// Holds the docs of variants until the description that they belong to is known.
const VALUES: &str = "$values";

/// Rewrites `schema` in place: no references, titles, `oneOf`, `const` or unions with null.
pub(super) fn clean(schema: &mut Value, side: Side) {
    rewrite(schema, side);
    describe_values(schema);
}

fn rewrite(schema: &mut Value, side: Side) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Some(node) = schema.as_object_mut() else { return };
    for keyword in ["$schema", "$defs", "$ref", "$id", "title", "unevaluatedProperties"] {
        node.shift_remove(keyword);
    }
    for child in children(node) {
        rewrite(child, side);
    }
    const_to_enum(node);
    one_of_to_any_of(node);
    match side {
        Side::Arguments => remove_null(node),
        Side::Output => split_null(node),
    }
    merge_enums(node);
    if side == Side::Arguments && node.contains_key("properties") {
        node.shift_remove("additionalProperties");
        node.insert("additionalProperties".to_owned(), Value::Bool(false));
        required_first(node);
    }
    fold_description(node);
}

/// Takes away `format`, which providers refuse or ignore.
pub(super) fn remove_formats(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else { return };
    node.shift_remove("format");
    for child in children(node) {
        remove_formats(child);
    }
}

/// Line breaks of a doc comment are no part of what it says, and its examples are for people.
pub(super) fn folded(text: &str) -> String {
    let prose = text.split("```").step_by(2);
    prose.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// The schemas within a schema; names of properties are not keywords.
pub(super) fn children(node: &mut Map<String, Value>) -> Vec<&mut Value> {
    let mut found = Vec::new();
    for (keyword, value) in node {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => found.extend(properties.values_mut()),
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => found.extend(list),
            ("items" | "additionalProperties", value) if !value.is_boolean() => found.push(value),
            _ => {}
        }
    }
    found
}

/// A model writes the properties in their order, and must not get lost before the needed ones.
fn required_first(node: &mut Map<String, Value>) {
    let Some(required) = node.get("required").and_then(Value::as_array).cloned() else { return };
    let Some(properties) = node.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    let (first, others): (Map<_, _>, Map<_, _>) = std::mem::take(properties)
        .into_iter()
        .partition(|(name, _)| required.iter().any(|own| own == name));
    properties.extend(first.into_iter().chain(others));
}

fn const_to_enum(node: &mut Map<String, Value>) {
    if let Some(value) = node.shift_remove("const") {
        node.insert("enum".to_owned(), json!([value]));
    }
}

/// The options of a derived `oneOf` exclude each other anyway.
fn one_of_to_any_of(node: &mut Map<String, Value>) {
    if let Some(options) = node.shift_remove("oneOf") {
        node.entry("anyOf").or_insert(options);
    }
}

fn remove_null(node: &mut Map<String, Value>) {
    if node.get("default").is_some_and(Value::is_null) {
        node.shift_remove("default");
    }
    for list in ["type", "enum"] {
        if let Some(values) = node.get_mut(list).and_then(Value::as_array_mut) {
            values.retain(|value| !value.is_null() && (list == "enum" || value != NULL));
        }
    }
    if let Some([one]) = node.get("type").and_then(Value::as_array).map(Vec::as_slice) {
        let one = one.clone();
        node.insert("type".to_owned(), one);
    }
    if let Some(options) = node.get_mut("anyOf").and_then(Value::as_array_mut) {
        options.retain(|option| option.get("type").is_none_or(|kind| kind != NULL));
    }
    merge_only_option(node);
}

/// `anyOf` of one schema is that schema; what the outer one says goes before it.
fn merge_only_option(node: &mut Map<String, Value>) {
    let options = node.get("anyOf").and_then(Value::as_array).map(Vec::as_slice);
    let Some([Value::Object(only)]) = options else { return };
    let only = only.clone();
    node.shift_remove("anyOf");
    for (keyword, value) in only {
        node.entry(keyword).or_insert(value);
    }
}

/// `"type": ["integer", "null"]` becomes `anyOf` of both, which more readers understand.
fn split_null(node: &mut Map<String, Value>) {
    let Some(kinds) = node.get("type").and_then(Value::as_array) else { return };
    if !kinds.iter().any(|kind| kind == NULL) {
        return;
    }
    let mut option = std::mem::take(node);
    if let Some(description) = option.shift_remove("description") {
        node.insert("description".to_owned(), description);
    }
    remove_null(&mut option);
    node.insert("anyOf".to_owned(), json!([option, { "type": NULL }]));
}

/// Variants become one list of values; what their docs say goes into the description.
fn merge_enums(node: &mut Map<String, Value>) {
    let Some(options) = node.get("anyOf").and_then(Value::as_array) else { return };
    let Some(lists) = options.iter().map(enum_of).collect::<Option<Vec<_>>>() else { return };
    let values: Vec<Value> = lists.into_iter().flatten().cloned().collect();
    let docs: Vec<String> = options.iter().filter_map(variant_docs).collect();
    let kind = options.first().and_then(|option| option.get("type")).cloned();
    node.shift_remove("anyOf");
    if let Some(kind) = kind {
        node.insert("type".to_owned(), kind);
    }
    node.insert("enum".to_owned(), Value::Array(values));
    if !docs.is_empty() {
        node.insert(VALUES.to_owned(), Value::String(docs.join("; ")));
    }
}

/// A property's own description goes before that of its type, so this must come last.
fn describe_values(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else { return };
    if let Some(Value::String(values)) = node.shift_remove(VALUES) {
        let before = node.get("description").and_then(Value::as_str).unwrap_or_default();
        let whole = format!("{before} Values: {values}.").trim_start().to_owned();
        node.insert("description".to_owned(), Value::String(whole));
    }
    for child in children(node) {
        describe_values(child);
    }
}

fn enum_of(option: &Value) -> Option<&Vec<Value>> {
    option.get("enum").and_then(Value::as_array)
}

/// `files: only the paths`, for an option of one documented value.
fn variant_docs(option: &Value) -> Option<String> {
    let docs = option.get("description").and_then(Value::as_str).map(folded)?;
    let [Value::String(value)] = enum_of(option)?.as_slice() else { return None };
    Some(format!("{value}: {}", docs.trim_end_matches('.')))
}

fn fold_description(node: &mut Map<String, Value>) {
    if let Some(Value::String(description)) = node.get_mut("description") {
        *description = folded(description);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(mut schema: Value, side: Side) -> Value {
        clean(&mut schema, side);
        remove_formats(&mut schema);
        schema
    }

    #[test]
    fn an_optional_argument_is_absent_rather_than_null() {
        let given = json!({ "type": ["integer", "null"], "format": "uint32", "default": null });
        assert_eq!(cleaned(given, Side::Arguments), json!({ "type": "integer" }));
        let given = json!({ "type": ["string", "null"], "enum": ["a", "b", null] });
        let wanted = json!({ "type": "string", "enum": ["a", "b"] });
        assert_eq!(cleaned(given, Side::Arguments), wanted);
    }

    #[test]
    fn an_output_that_can_be_null_says_so() {
        let given =
            json!({ "description": "A\nlimit.", "type": ["integer", "null"], "minimum": 0 });
        let wanted = json!({
            "description": "A limit.",
            "anyOf": [{ "type": "integer", "minimum": 0 }, { "type": "null" }],
        });
        assert_eq!(cleaned(given, Side::Output), wanted);
    }

    #[test]
    fn documented_variants_become_one_list() {
        let variants = json!([
            { "type": "string", "const": "content", "description": "The matching\nlines." },
            { "type": "string", "const": "files", "description": "Only the paths." },
        ]);
        let given = json!({
            "description": "What to return.",
            "anyOf": [{ "oneOf": variants }, { "type": "null" }],
        });
        let wanted = json!({
            "description": "What to return. Values: content: The matching lines; \
                files: Only the paths.",
            "type": "string",
            "enum": ["content", "files"],
        });
        assert_eq!(cleaned(given, Side::Arguments), wanted);
    }

    #[test]
    fn required_properties_come_first() {
        let given = json!({
            "type": "object",
            "properties": { "a": {}, "b": {}, "c": {}, "d": {} },
            "required": ["d", "b"],
        });
        let ordered = cleaned(given, Side::Arguments);
        let names: Vec<_> = ordered["properties"].as_object().expect("properties").keys().collect();
        assert_eq!(names, ["b", "d", "a", "c"]);
    }

    #[test]
    fn a_property_may_be_named_like_a_keyword() {
        let given = json!({
            "title": "Args",
            "type": "object",
            "properties": { "title": { "type": "string" }, "format": { "type": "string" } },
        });
        let wanted = json!({
            "type": "object",
            "properties": { "title": { "type": "string" }, "format": { "type": "string" } },
            "additionalProperties": false,
        });
        assert_eq!(cleaned(given, Side::Arguments), wanted);
    }

    #[test]
    fn an_example_in_a_comment_is_for_people() {
        let comment = "Adds\n  numbers.\n\n```\nlet sum = 1;\n```\nAlways.";
        assert_eq!(folded(comment), "Adds numbers. Always.");
    }
}
