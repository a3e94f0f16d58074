//! The properties of a tool's arguments, as a command line sees them.

use ripkit::ToolSpec;
use serde_json::{Map, Value};

/// One property of a tool's input schema.
pub(super) struct Parameter<'a> {
    pub(super) name: &'a str,
    pub(super) schema: &'a Value,
    pub(super) required: bool,
    pub(super) positional: bool,
    pub(super) kind: Kind,
    /// Whether it may be given more than once.
    pub(super) repeatable: bool,
    /// Whether even a single value is a list.
    pub(super) always_list: bool,
}

/// What one value looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Integer,
    Number,
    Flag,
    Choice(Vec<String>),
    /// Objects, and lists of them, are typed as JSON.
    Json,
}

/// The properties in schema order: the required ones are positional, then `path`.
pub(super) fn parameters(spec: &ToolSpec) -> Vec<Parameter<'_>> {
    let required = spec.input_schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = spec.input_schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flat_map(Map::iter);
    let mut parameters: Vec<Parameter<'_>> = properties
        .map(|(name, schema)| Parameter::new(name, schema, required.contains(&name.as_str())))
        .collect();
    // Optional ones come last, or a shell could not tell which one was given.
    parameters.sort_by_key(|parameter| !parameter.required);
    keep_repeatable_last(&mut parameters);
    parameters
}

/// Only the last positional can be repeated; any other such one needs its flag.
fn keep_repeatable_last(parameters: &mut [Parameter<'_>]) {
    let last = parameters.iter().rposition(|parameter| parameter.positional);
    for (index, parameter) in parameters.iter_mut().enumerate() {
        if parameter.repeatable && Some(index) != last {
            parameter.positional = false;
        }
    }
}

impl<'a> Parameter<'a> {
    fn new(name: &'a str, schema: &'a Value, required: bool) -> Parameter<'a> {
        let options = schema.get("anyOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let list = std::iter::once(schema).chain(options).find(|option| is(option, "array"));
        let single = options.iter().find(|option| !is(option, "array"));
        let single = single.or(list.and_then(|list| list.get("items"))).unwrap_or(schema);
        let kind = Kind::of(single);
        let repeatable = list.is_some() && kind != Kind::Json;
        let positional = (required || name == "path") && !matches!(kind, Kind::Flag | Kind::Json);
        let always_list = is(schema, "array");
        Parameter { name, schema, required, positional, kind, repeatable, always_list }
    }

    /// The flag without its hyphens, such as `max-results`.
    pub(super) fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The flag that turns off what is on by default, and the id of its argument.
    pub(super) fn negation(&self) -> Option<String> {
        let on = self.schema.get("default") == Some(&Value::Bool(true));
        (self.kind == Kind::Flag && on).then(|| format!("no-{}", self.flag()))
    }

    /// Whether its values are paths, which are taken from where one stands.
    pub(super) fn is_path(&self) -> bool {
        matches!(self.name, "path" | "source" | "destination")
    }

    /// Whether `-` stands for standard input.
    pub(super) fn reads_input(&self) -> bool {
        self.name == "content" && self.kind == Kind::Text
    }
}

impl Kind {
    fn of(schema: &Value) -> Kind {
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let texts: Option<Vec<_>> = values.iter().map(Value::as_str).collect();
            return texts.map_or(Kind::Json, |texts| {
                Kind::Choice(texts.into_iter().map(str::to_owned).collect())
            });
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Kind::Text,
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Flag,
            _ => Kind::Json,
        }
    }
}

fn is(schema: &Value, kind: &str) -> bool {
    schema.get("type").is_some_and(|own| own == kind)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_last_positional_can_be_repeated() {
        let list = json!({ "type": "array", "items": { "type": "string" } });
        let text = json!({ "type": "string" });
        let made = |first| {
            let mut made =
                [Parameter::new("names", first, true), Parameter::new("path", &text, false)];
            keep_repeatable_last(&mut made);
            made.map(|parameter| parameter.positional)
        };
        assert_eq!(made(&list), [false, true]);
        assert_eq!(made(&text), [true, true]);
        let mut alone = [Parameter::new("names", &list, true)];
        keep_repeatable_last(&mut alone);
        assert!(alone[0].positional && alone[0].always_list);
    }

    #[test]
    fn a_kind_follows_from_the_schema() {
        let kinds = [
            (json!({ "type": "integer" }), Kind::Integer),
            (json!({ "type": "boolean" }), Kind::Flag),
            (json!({ "type": "string", "enum": ["a"] }), Kind::Choice(vec!["a".into()])),
            (json!({ "type": "array", "items": { "type": "integer" } }), Kind::Integer),
            (json!({ "type": "array", "items": { "type": "object" } }), Kind::Json),
            (json!({}), Kind::Json),
        ];
        for (schema, kind) in kinds {
            assert_eq!(Parameter::new("x", &schema, false).kind, kind, "{schema}");
        }
    }
}
