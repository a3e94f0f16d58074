//! The one mistake that many skills make: a value that needs quotes and has none.

/// Fields whose value is a text, whatever it looks like.
pub(super) const TEXTS: [&str; 5] = ["name", "description", "license", "compatibility", "version"];

/// Front matter in which one more value has quotes.
#[derive(Debug, PartialEq)]
pub(super) struct Repaired {
    /// It has the same lines.
    pub(super) yaml: String,
    /// The key of that value.
    pub(super) key: String,
}

/// Puts quotes round the value at a line that cannot be read, or round the one above it, where
/// the mistake may have begun.
pub(super) fn quote_near(yaml: &str, line: usize) -> Option<Repaired> {
    let fields = fields(yaml);
    let at = fields.iter().position(|field| field.contains(line))?;
    let places = [Some(at), at.checked_sub(1)];
    places.into_iter().flatten().find_map(|at| {
        let field = fields.get(at)?;
        let (key, text) = field.quoted().or_else(|| field.quoted_line(line))?;
        Some(replaced(&fields, at, key, &text))
    })
}

/// Puts quotes round the value of a field of the top level.
pub(super) fn quote_field(yaml: &str, key: &str) -> Option<Repaired> {
    let fields = fields(yaml);
    let at = fields.iter().position(|field| field.key() == Some(key))?;
    let (key, text) = fields.get(at)?.quoted()?;
    Some(replaced(&fields, at, key, &text))
}

fn replaced(fields: &[Field<'_>], at: usize, key: String, text: &str) -> Repaired {
    let texts = fields
        .iter()
        .enumerate()
        .map(|(place, field)| if place == at { text.to_owned() } else { field.lines.concat() });
    Repaired { yaml: texts.collect(), key }
}

/// A key of the top level with all lines of its value.
struct Field<'a> {
    /// The number of its first line, from 1.
    first: usize,
    lines: Vec<&'a str>,
}

fn fields(yaml: &str) -> Vec<Field<'_>> {
    let mut fields: Vec<Field> = Vec::new();
    for (number, line) in (1..).zip(yaml.split_inclusive('\n')) {
        let goes_on = line.starts_with([' ', '\t', '-']) || line.trim().is_empty();
        match fields.last_mut() {
            Some(field) if goes_on => field.lines.push(line),
            _ => fields.push(Field { first: number, lines: vec![line] }),
        }
    }
    fields
}

impl<'a> Field<'a> {
    fn contains(&self, line: usize) -> bool {
        (self.first..self.first + self.lines.len()).contains(&line)
    }

    /// The key without quotes.
    fn key(&self) -> Option<&'a str> {
        let (key, _) = split_key(self.lines.first()?)?;
        Some(key.trim_matches(['"', '\'']))
    }

    /// The key and the field, in as many lines, with quotes round the value; nothing if the value
    /// has some, or is no text.
    fn quoted(&self) -> Option<(String, String)> {
        let key = self.key()?;
        let (raw_key, start) = split_key(self.lines.first()?)?;
        let rest = self.lines.get(1..).unwrap_or_default();
        // What begins on the next line may be a list or a mapping, unless it can only be a text.
        if start.trim().is_empty() && !TEXTS.contains(&key) {
            return None;
        }
        let text = folded(start, rest);
        if !lacks_quotes(&text) {
            return None;
        }
        let ends = "\n".repeat(rest.len());
        Some((key.to_owned(), format!("{raw_key}: {}\n{ends}", in_quotes(&text))))
    }

    /// The same for one line of a value that is a list or a mapping.
    fn quoted_line(&self, line: usize) -> Option<(String, String)> {
        let at = line.checked_sub(self.first).filter(|at| *at > 0)?;
        let content = self.lines.get(at)?;
        let (key, value) = split_key(content)?;
        let text = value.trim();
        if !lacks_quotes(text) {
            return None;
        }
        let quoted = format!("{key}: {}\n", in_quotes(text));
        let lines = self.lines.iter().enumerate();
        let lines = lines.map(|(place, line)| if place == at { quoted.as_str() } else { line });
        Some((key.trim_start_matches([' ', '-']).to_owned(), lines.collect()))
    }
}

/// What stands before and after the first colon that ends a key.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let is_end = |at: usize| {
        let next = line.get(at + 1..).and_then(|rest| rest.chars().next());
        next.is_none_or(char::is_whitespace)
    };
    let (at, _) = line.match_indices(':').find(|(at, _)| is_end(*at))?;
    let key = line.get(..at)?.trim_end();
    let is_key = !key.trim().is_empty() && !key.starts_with('#');
    is_key.then(|| Some((key, line.get(at + 1..)?)))?
}

/// The text of a value over several lines, as YAML reads it without quotes.
fn folded(start: &str, rest: &[&str]) -> String {
    let mut text = start.trim().to_owned();
    let mut blank_lines = 0;
    for line in rest.iter().map(|line| line.trim()) {
        if line.starts_with('#') {
            continue;
        }
        if line.is_empty() {
            blank_lines += 1;
            continue;
        }
        let separator = match blank_lines {
            0 if text.is_empty() => String::new(),
            0 => " ".to_owned(),
            lines => "\n".repeat(lines),
        };
        text.push_str(&separator);
        text.push_str(line);
        blank_lines = 0;
    }
    text
}

/// Whether a value is meant as a text and lacks the quotes that it needs: for a colon, or for how
/// it begins. A quote or a bracket at its beginning closes again before its end.
fn lacks_quotes(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let close = match first {
        '|' | '>' | '#' => return false,
        '"' | '\'' => first,
        '[' => ']',
        '{' => '}',
        '@' | '`' | '%' | '*' | '&' | '!' | ',' => return true,
        _ => {
            let content = text.split(" #").next().unwrap_or(text);
            let is_followed = |mark: &str| content.contains(mark);
            return [": ", ":\t", ":\n"].into_iter().any(is_followed) || content.ends_with(':');
        }
    };
    let rest = text.get(first.len_utf8()..).unwrap_or_default();
    rest.find(close).is_some() && !rest.ends_with(close)
}

/// A text in double quotes; what JSON escapes, YAML reads.
fn in_quotes(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skills::yaml;

    /// Repairs until the text can be read, and returns the value of `a`.
    fn read(yaml: &str) -> Option<String> {
        let mut text = yaml.to_owned();
        for _ in 0..5 {
            match yaml::parse(&text) {
                Ok(document) => {
                    let fields = document.fields.into_iter();
                    let (_, node) = fields.into_iter().find(|(key, _)| key == "description")?;
                    return node.text().map(str::to_owned);
                }
                Err(fault) => text = quote_near(&text, fault.line)?.yaml,
            }
        }
        None
    }

    #[test]
    fn what_people_write_is_read_as_they_mean_it() {
        let texts = [
            ("description: Use when: X", "Use when: X"),
            ("name: a\ndescription: it's b: c\r\nlicense: MIT\r\n", "it's b: c"),
            ("description: ends with:\nname: a", "ends with:"),
            ("description: one\n  two: three\nname: a", "one two: three"),
            ("description: one: a\n  # a comment\n  two", "one: a two"),
            ("description: Use: a\n\n  b: c\nname: a", "Use: a\nb: c"),
            ("description:\n  Use this.\n  Triggers: a, b\n", "Use this. Triggers: a, b"),
            ("description : Use when: X", "Use when: X"),
            ("\"description\": Use when: X", "Use when: X"),
            ("description:\tUse when: X", "Use when: X"),
            ("description: \"Quick\" fix: do it", "\"Quick\" fix: do it"),
            ("description: [Beta] Does X: Y", "[Beta] Does X: Y"),
            ("description: {x} Does", "{x} Does"),
            ("description: @mention use: X", "@mention use: X"),
            ("description: `code` and more", "`code` and more"),
            ("description: %s and more", "%s and more"),
            ("description: *.rs files: all", "*.rs files: all"),
            ("description: Use: C:\\dir \"x\" é", "Use: C:\\dir \"x\" é"),
            ("description: Use when:\n- a\n- b\nname: x", "Use when: - a - b"),
            ("größe x.y: a: b\ndescription: fine", "fine"),
            ("a: b: c\ndescription: d: e\nf: g: h", "d: e"),
            ("metadata:\n  note: Use: it\ndescription: fine", "fine"),
        ];
        for (yaml, wanted) in texts {
            assert_eq!(read(yaml).as_deref(), Some(wanted), "{yaml:?}");
        }
    }

    #[test]
    fn what_nobody_can_mean_stays_broken() {
        for yaml in [
            "description: \"never closed",
            "description: [never closed",
            "description: |\n  a\n b\n",
            "# description: a: b",
            "",
        ] {
            assert_eq!(read(yaml), None, "{yaml:?}");
        }
    }

    #[test]
    fn other_fields_stay_as_they_are() {
        let yaml = "name: foo # see: docs\ndescription: Use when: X\nmetadata: \n  author: me\n";
        let repaired = quote_near(yaml, 2).unwrap();
        assert_eq!(repaired.key, "description");
        let wanted =
            "name: foo # see: docs\ndescription: \"Use when: X\"\nmetadata: \n  author: me\n";
        assert_eq!(repaired.yaml, wanted);
        assert_eq!(quote_near(&repaired.yaml, 2), None);
    }

    #[test]
    fn a_mapping_where_a_text_belongs_can_be_quoted() {
        let repaired = quote_field("description:\n  Use when: asked\n", "description").unwrap();
        assert_eq!(repaired.yaml, "description: \"Use when: asked\"\n\n");
        assert_eq!(quote_field("description: x\n", "other"), None);
    }
}
