//! Checks and repairs the JSON arguments of a call against the tool's schema.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::wording::{self, expected, got};
use crate::arguments::too_many;
use crate::error::{Error, ErrorCode};
use crate::schema::Bounds;
use crate::text::similar::most_similar;

/// The most unknown names that one message repeats.
const MAX_UNKNOWN: usize = 5;
/// Whole floats up to here are exact, so that one of them can be taken for an integer.
const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// Other names of arguments, as (other, ours).
type Aliases<'a> = &'a [(&'static str, &'static str)];

/// Returns the arguments as the tool takes them, and a sentence for each repair.
///
/// # Errors
/// `INVALID_ARGUMENT` naming the argument, what was given and what is expected.
pub(super) fn check(
    schema: &Value,
    aliases: Aliases<'_>,
    args: Value,
) -> Result<(Value, Vec<String>), Error> {
    let args = object(args)?;
    let mut check = Check { aliases, notes: Vec::new() };
    let args = check.object("", schema, args)?;
    Ok((Value::Object(args), check.notes))
}

/// The arguments as an object, be they given as one, as the text of one, or not at all.
fn object(args: Value) -> Result<Map<String, Value>, Error> {
    let args = match args {
        Value::String(text) if text.trim().is_empty() => Value::Null,
        Value::String(text) => serde_json::from_str(&text).map_err(|reason| {
            invalid(format!("the arguments are not JSON: {reason}")).because(reason)
        })?,
        args => args,
    };
    match args {
        Value::Object(args) => Ok(args),
        Value::Null => Ok(Map::new()),
        other => Err(invalid(format!("expected the arguments as one object, got {}", got(&other)))),
    }
}

struct Check<'a> {
    aliases: Aliases<'a>,
    notes: Vec<String>,
}

impl Check<'_> {
    /// `at` is the name of the argument that holds the object; the outermost has none.
    fn object(
        &mut self,
        at: &str,
        schema: &Value,
        given: Map<String, Value>,
    ) -> Result<Map<String, Value>, Error> {
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
            return Ok(given);
        };
        let given = self.own_names(at, properties, given)?;
        if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
            self.all_known(at, properties, &given)?;
        }
        all_there(at, schema, properties, &given)?;
        let mut checked = Map::new();
        for (name, value) in given {
            let value = match properties.get(&name) {
                Some(property) => self.value(&inside(at, &name), property, value)?,
                None => value,
            };
            checked.insert(name, value);
        }
        Ok(checked)
    }

    /// `null` is absent, and a name of another dialect is ours.
    fn own_names(
        &self,
        at: &str,
        properties: &Map<String, Value>,
        given: Map<String, Value>,
    ) -> Result<Map<String, Value>, Error> {
        let (own, other): (Vec<_>, Vec<_>) = given
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .partition(|(name, _)| properties.contains_key(name));
        let mut named: Map<String, Value> = own.into_iter().collect();
        for (name, value) in other {
            let ours = self
                .aliases
                .iter()
                .find(|(other, ours)| *other == name && properties.contains_key(*ours));
            let ours = ours.map_or(name.as_str(), |(_, ours)| ours);
            if named.contains_key(ours) {
                let name = inside(at, &name);
                let message = format!(
                    "{name}: the same argument as {ours}, which is given too; give only {ours}"
                );
                return Err(invalid(message));
            }
            named.insert(ours.to_owned(), value);
        }
        Ok(named)
    }

    fn all_known(
        &self,
        at: &str,
        properties: &Map<String, Value>,
        given: &Map<String, Value>,
    ) -> Result<(), Error> {
        let unknown = given.keys().filter(|name| !properties.contains_key(*name));
        let named: Vec<String> =
            unknown.take(MAX_UNKNOWN).map(|name| self.unknown(properties, name)).collect();
        if named.is_empty() {
            return Ok(());
        }
        let noun = if named.len() == 1 { "argument" } else { "arguments" };
        let of = if at.is_empty() { String::new() } else { format!("{at}: ") };
        let known: Vec<&str> = properties.keys().map(String::as_str).collect();
        let known = match known.as_slice() {
            [] => "there are none".to_owned(),
            [only] => format!("the only one is {only}"),
            all => format!("the arguments are {}", all.join(", ")),
        };
        Err(invalid(format!("{of}unknown {noun} {}; {known}", named.join(", "))))
    }

    fn unknown(&self, properties: &Map<String, Value>, name: &str) -> String {
        let others = self.aliases.iter().filter(|(_, ours)| properties.contains_key(*ours));
        let names = properties.keys().map(String::as_str).chain(others.map(|(other, _)| *other));
        let near = wording::nearest(name, names);
        let ours =
            self.aliases.iter().find(|(other, _)| Some(*other) == near).map(|(_, ours)| *ours);
        let near = near.filter(|near| properties.contains_key(*near)).or(ours);
        wording::unknown(name, near)
    }

    fn value(&mut self, at: &str, schema: &Value, value: Value) -> Result<Value, Error> {
        check_size(at, schema, &value)?;
        if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
            return self.any_of(at, schema, options, &value);
        }
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
        let value = match kind {
            "" => value,
            "array" => return self.list(at, schema, value),
            _ => self.single(at, value),
        };
        check_size(at, schema, &value)?;
        match (kind, value) {
            ("object", Value::Object(given)) => self.object(at, schema, given).map(Value::Object),
            ("object", Value::String(text)) => self.written(at, schema, text),
            ("string", value @ Value::String(_)) | ("boolean", value @ Value::Bool(_)) => {
                listed(at, schema, value)
            }
            ("boolean", Value::String(text)) => self.flag(at, schema, text),
            ("integer", value) => self.whole(at, schema, value),
            ("number", value @ Value::Number(_)) => in_range(at, schema, value),
            ("", value) => listed(at, schema, value),
            (_, value) => Err(wrong(at, schema, &value)),
        }
    }

    /// A list of one where one value is expected is that value.
    fn single(&mut self, at: &str, value: Value) -> Value {
        match value {
            Value::Array(list) if list.len() == 1 => {
                let list = Value::Array(list);
                self.note(format!("{at}: took {} as its one value", got(&list)));
                list.get(0).cloned().unwrap_or_default()
            }
            value => value,
        }
    }

    /// One value where a list is expected is a list of one.
    fn list(&mut self, at: &str, schema: &Value, value: Value) -> Result<Value, Error> {
        let item = schema.get("items").unwrap_or(&Value::Null);
        let mut known = HashSet::new();
        let values = match value {
            Value::Array(values) => values,
            Value::String(text) if holds_objects(schema) => return self.written(at, schema, text),
            one => {
                let note = format!("{at}: took {} as a list of one", got(&one));
                let mut trial = Check { aliases: self.aliases, notes: Vec::new() };
                let item =
                    trial.value(at, item, one.clone()).map_err(|_| wrong(at, schema, &one))?;
                self.note(note);
                self.notes.append(&mut trial.notes);
                return Ok(Value::Array(vec![item]));
            }
        };
        let numbered = values.into_iter().enumerate().filter(|(_, value)| match value {
            // A path or a glob that is given twice says nothing more.
            Value::String(text) => known.insert(text.clone()),
            _ => true,
        });
        numbered.map(|(index, value)| self.value(&format!("{at}[{index}]"), item, value)).collect()
    }

    /// Objects and lists of objects may come as the JSON text of them.
    fn written(&mut self, at: &str, schema: &Value, text: String) -> Result<Value, Error> {
        let parsed = serde_json::from_str(&text).ok();
        let Some(value @ (Value::Object(_) | Value::Array(_))) = parsed else {
            return Err(wrong(at, schema, &Value::String(text)));
        };
        self.note(format!("{at}: took the text as the JSON in it"));
        self.value(at, schema, value)
    }

    fn flag(&mut self, at: &str, schema: &Value, text: String) -> Result<Value, Error> {
        let flag = match text.trim() {
            "true" => true,
            "false" => false,
            _ => return Err(wrong(at, schema, &Value::String(text))),
        };
        self.note(format!("{at}: took the text {} as {flag}", wording::json(&Value::String(text))));
        Ok(Value::Bool(flag))
    }

    fn whole(&mut self, at: &str, schema: &Value, value: Value) -> Result<Value, Error> {
        let number = match &value {
            Value::Number(number) if number.is_f64() => number.as_f64().and_then(whole_float),
            Value::String(digits) => whole_text(digits.trim()),
            Value::Number(_) => return in_range(at, schema, value),
            _ => None,
        };
        let Some(number) = number else { return Err(wrong(at, schema, &value)) };
        let checked = in_range(at, schema, number).map_err(|_| wrong(at, schema, &value))?;
        self.note(format!("{at}: took {} as the number {checked}", got(&value)));
        Ok(checked)
    }

    /// A value that fits as it is goes before one that must be repaired.
    fn any_of(
        &mut self,
        at: &str,
        schema: &Value,
        options: &[Value],
        value: &Value,
    ) -> Result<Value, Error> {
        let mut repaired = None;
        let mut refused = None;
        for option in options {
            let mut trial = Check { aliases: self.aliases, notes: Vec::new() };
            match trial.value(at, option, value.clone()) {
                Ok(fitting) if trial.notes.is_empty() => return Ok(fitting),
                Ok(fitting) => repaired = repaired.or(Some((fitting, trial.notes))),
                Err(error) if is_kind(option, value) => refused = refused.or(Some(error)),
                Err(_) => {}
            }
        }
        let Some((fitting, notes)) = repaired else {
            return Err(refused.unwrap_or_else(|| wrong(at, schema, value)));
        };
        for note in notes {
            self.note(note);
        }
        Ok(fitting)
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

fn all_there(
    at: &str,
    schema: &Value,
    properties: &Map<String, Value>,
    given: &Map<String, Value>,
) -> Result<(), Error> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let missing = required.filter_map(Value::as_str).filter(|name| !given.contains_key(*name));
    let named: Vec<String> = missing
        .map(|name| {
            let property = properties.get(name).unwrap_or(&Value::Null);
            format!("{} ({})", inside(at, name), expected(property))
        })
        .collect();
    match named.as_slice() {
        [] => Ok(()),
        [one] => Err(invalid(format!("missing the required argument {one}"))),
        many => Err(invalid(format!("missing the required arguments {}", many.join(", ")))),
    }
}

/// Refuses a text or a list that is longer than the schema allows, before anything is done for each
/// of its parts. Of texts in a list only the different ones count.
fn check_size(at: &str, schema: &Value, value: &Value) -> Result<(), Error> {
    let limit = |key: &str| {
        let options = schema.get("anyOf").and_then(Value::as_array);
        let mut schemas = std::iter::once(schema).chain(options.into_iter().flatten());
        let limit = schemas.find_map(|schema| schema.get(key))?.as_u64()?;
        usize::try_from(limit).ok()
    };
    match value {
        Value::String(text) => {
            let Some(most) = limit("maxLength") else { return Ok(()) };
            // Each character has at least one byte, and those behind the limit need no count.
            if text.len() > most && text.chars().nth(most).is_some() {
                let bytes = text.len();
                let message =
                    format!("{at}: at most {most} characters are taken, got {bytes} bytes");
                return Err(invalid(message));
            }
        }
        Value::Array(values) => {
            let Some(most) = limit("maxItems") else { return Ok(()) };
            let (mut known, mut different) = (HashSet::new(), 0);
            for value in values {
                different += usize::from(value.as_str().is_none_or(|text| known.insert(text)));
                if different > most {
                    return Err(too_many(at, values.len(), most));
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// A value of an `enum` must be one of its list.
fn listed(at: &str, schema: &Value, value: Value) -> Result<Value, Error> {
    match schema.get("enum").and_then(Value::as_array) {
        Some(values) if !values.contains(&value) => {
            Err(wrong(at, &nearest_first(schema, values, &value), &value))
        }
        _ => Ok(value),
    }
}

/// The schema with the values of its `enum` in the order of likeness to what was given, so that
/// the right one is named even if the list is cut.
fn nearest_first(schema: &Value, values: &[Value], given: &Value) -> Value {
    let given = wording::cut(given.as_str().unwrap_or(""), wording::MAX_SHOWN_BYTES);
    let scored = most_similar(&given, values, |value| value.as_str().unwrap_or(""));
    let mut schema = schema.clone();
    if let Some(list) = schema.get_mut("enum") {
        *list = scored.into_iter().map(|(_, value)| value.clone()).collect();
    }
    schema
}

fn in_range(at: &str, schema: &Value, value: Value) -> Result<Value, Error> {
    let bounds = Bounds::of(schema);
    let fits = value.as_number().is_none_or(|number| bounds.allow(number));
    if fits { listed(at, schema, value) } else { Err(wrong(at, schema, &value)) }
}

fn whole_float(float: f64) -> Option<Value> {
    let exact = float.fract() == 0.0 && float.abs() <= MAX_EXACT_FLOAT;
    if exact { whole_text(&format!("{float:.0}")) } else { None }
}

fn whole_text(digits: &str) -> Option<Value> {
    let signed = digits.parse::<i64>().map(Value::from);
    signed.or_else(|_| digits.parse::<u64>().map(Value::from)).ok()
}

fn holds_objects(schema: &Value) -> bool {
    schema.pointer("/items/type").is_some_and(|kind| kind == "object")
}

fn is_kind(schema: &Value, value: &Value) -> bool {
    let kind = match value {
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Number(_) => {
            return schema.get("type").is_some_and(|kind| kind == "integer" || kind == "number");
        }
        Value::Null => return false,
    };
    schema.get("type").is_some_and(|own| own == kind)
}

fn inside(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn wrong(at: &str, schema: &Value, value: &Value) -> Error {
    invalid(format!("{at}: expected {}, got {}", expected(schema), got(value)))
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidArgument, message)
}

#[cfg(test)]
mod tests;
