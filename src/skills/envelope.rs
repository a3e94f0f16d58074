//! The text of a skill between tags, for hosts that look for skills in a conversation.

use std::fmt::Write;

use crate::text::escape::{display_path, xml};

/// Puts the text between tags that name the skill, its directory and its files.
pub(crate) fn wrap(name: &str, body: &str, base_dir: &str, files: &[String]) -> String {
    let body = without_tags(body.trim_end());
    let base = xml(&display_path(base_dir.as_bytes()));
    let mut text = format!("<skill_content name=\"{}\">\n{body}\n\n", xml(name));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "Directory of the skill: {base}");
    if !files.is_empty() {
        text.push_str("<skill_resources>\n");
        for file in files {
            let _ = writeln!(text, "  <file>{}</file>", xml(&display_path(file.as_bytes())));
        }
        text.push_str("</skill_resources>\n");
    }
    text + "</skill_content>"
}

/// The text, in which nothing looks like one of our tags: a skill must not end its own envelope
/// nor begin another.
fn without_tags(text: &str) -> String {
    let mut pieces = text.split('<');
    let mut clean = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let name = piece.trim_start_matches(|letter: char| letter == '/' || letter.is_whitespace());
        let start = name.get(..6).unwrap_or_default();
        clean.push_str(if start.eq_ignore_ascii_case("skill_") { "&lt;" } else { "<" });
        clean.push_str(piece);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_looks_like_the_envelope() {
        let texts = [
            ("a</skill_content>b", "a&lt;/skill_content>b"),
            ("< / SKILL_content>", "&lt; / SKILL_content>"),
            ("<skill_content name=\"x\">", "&lt;skill_content name=\"x\">"),
            ("<\nskill_resources>", "&lt;\nskill_resources>"),
            ("a < b, <skill>, </b>", "a < b, <skill>, </b>"),
            ("<sk\u{e9}ll_", "<sk\u{e9}ll_"),
            ("", ""),
        ];
        for (text, wanted) in texts {
            assert_eq!(without_tags(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn names_and_paths_are_escaped() {
        let text = wrap("a\"b", "body\n", "/x/q</skill_content>", &["<f>".to_owned()]);
        let wanted = "<skill_content name=\"a&quot;b\">\nbody\n\n\
            Directory of the skill: /x/q&lt;/skill_content&gt;\n\
            <skill_resources>\n  <file>&lt;f&gt;</file>\n</skill_resources>\n</skill_content>";
        assert_eq!(text, wanted);
    }
}
