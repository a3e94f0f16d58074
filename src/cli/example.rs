//! From the JSON arguments of a tool to the line that one types in a shell.

use ripkit::ToolSpec;
use serde_json::{Map, Value};

use super::parameter::{Kind, Parameter, parameters};

/// The command line that stands for these arguments, or `None` if none does.
pub(super) fn line(spec: &ToolSpec, args: &Map<String, Value>) -> Option<String> {
    let words = words(spec, args)?;
    let words = words.iter().map(|word| quoted(word));
    Some(words.fold(format!("ripkit {}", spec.command), |line, word| line + " " + &word))
}

/// The words after the name of the command: what is positional first, then flags as they are in
/// `args`.
fn words(spec: &ToolSpec, args: &Map<String, Value>) -> Option<Vec<String>> {
    let parameters = parameters(spec);
    if args.keys().any(|name| !parameters.iter().any(|parameter| parameter.name == name)) {
        return None;
    }
    let mut words = Vec::new();
    let mut flags = Vec::new();
    for parameter in &parameters {
        match args.get(parameter.name) {
            Some(value) if parameter.positional => words.extend(values(value, parameter)?),
            Some(value) => flags.extend(flag(parameter, value)?),
            None => {}
        }
    }
    // After `--` nothing is a flag, so flags go first where a word looks like one.
    if words.iter().any(|word: &String| word.starts_with('-')) {
        flags.push("--".to_owned());
        flags.append(&mut words);
        return Some(flags);
    }
    words.append(&mut flags);
    Some(words)
}

fn flag(parameter: &Parameter<'_>, value: &Value) -> Option<Vec<String>> {
    let name = format!("--{}", parameter.flag());
    match (&parameter.kind, value, parameter.negation()) {
        (Kind::Flag, Value::Bool(false), Some(negation)) => Some(vec![format!("--{negation}")]),
        (Kind::Flag, Value::Bool(true), _) => Some(vec![name]),
        (Kind::Flag, Value::Bool(false), None) => Some(vec![format!("{name}=false")]),
        (Kind::Flag, ..) => None,
        _ => {
            let values = values(value, parameter)?;
            Some(values.into_iter().flat_map(|value| [name.clone(), value]).collect())
        }
    }
}

/// One word for each value; a list that cannot be repeated is one word of JSON.
fn values(value: &Value, parameter: &Parameter<'_>) -> Option<Vec<String>> {
    match value {
        _ if parameter.kind == Kind::Json => Some(vec![value.to_string()]),
        Value::Array(values) if parameter.repeatable => values.iter().map(word).collect(),
        value => Some(vec![word(value)?]),
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A word as a POSIX shell takes it for one.
fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,=+@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_a_shell_would_change_are_quoted() {
        let cases = [
            ("src/lib.rs", "src/lib.rs"),
            ("", "''"),
            ("*.rs", "'*.rs'"),
            ("fn a(x)", "'fn a(x)'"),
            ("it's", r"'it'\''s'"),
            ("~", "'~'"),
        ];
        for (word, wanted) in cases {
            assert_eq!(quoted(word), wanted);
        }
    }
}
