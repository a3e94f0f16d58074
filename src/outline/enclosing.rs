//! The definition that encloses a line, as `git grep -p` shows it.
//!
//! git takes the nearest line above that begins with a letter, `_` or `$`. That misses methods, so
//! indentation counts here too. From the line upwards, each line with less indentation than any seen
//! so far is a candidate, because it opens the block around the line:
//! - A line in column 0 is taken if git would take it, but for words such as `else` and `end` that
//!   define nothing, and for labels of C and Go.
//! - An indented line is taken if its first word, after modifiers such as `pub`, is a keyword such
//!   as `fn`, `def` or `class`, or if it is the header of a method without a keyword, as in Java and
//!   TypeScript.
//! - Below a line with a bracket alone, such as `) -> T {` or `{`, the line with the same
//!   indentation above it is a candidate too: there a signature of several lines begins.
//!
//! Comments, attributes, decorators and preprocessor lines are passed over. Lines in column 0 are
//! enclosed by nothing.

use std::ops::Range;

/// The maximum number of lines between a line and its definition.
const MAX_LINES: usize = 10_000;

/// The columns of a tab.
const TAB: usize = 8;

/// Words before the keyword of a definition.
const MODIFIERS: [&str; 30] = [
    "abstract",
    "async",
    "const",
    "constexpr",
    "data",
    "declare",
    "default",
    "explicit",
    "export",
    "extern",
    "final",
    "get",
    "inline",
    "internal",
    "local",
    "open",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "sealed",
    "set",
    "static",
    "suspend",
    "unsafe",
    "virtual",
    "mut",
];

/// Words that begin a definition.
pub(super) const KEYWORDS: [&str; 23] = [
    "fn",
    "def",
    "func",
    "function",
    "fun",
    "class",
    "struct",
    "enum",
    "trait",
    "impl",
    "interface",
    "mod",
    "module",
    "namespace",
    "union",
    "sub",
    "proc",
    "object",
    "record",
    "protocol",
    "extension",
    "macro_rules",
    "constructor",
];

/// Words that begin a statement.
pub(super) const STATEMENTS: [&str; 34] = [
    "if",
    "for",
    "while",
    "switch",
    "match",
    "return",
    "else",
    "catch",
    "do",
    "try",
    "with",
    "elif",
    "unless",
    "until",
    "loop",
    "throw",
    "await",
    "yield",
    "case",
    "when",
    "let",
    "var",
    "new",
    "delete",
    "foreach",
    "using",
    "lock",
    "synchronized",
    "elsif",
    "rescue",
    "except",
    "go",
    "defer",
    "select",
];

/// Words that define nothing in column 0.
const CONTINUATIONS: [&str; 11] =
    ["else", "end", "where", "do", "then", "fi", "done", "begin", "try", "finally", "endif"];

/// Finds definitions in one file, for lines in order.
pub(crate) struct Definitions<'a> {
    text: &'a [u8],
    /// Whether `name:` in column 0 is a label.
    has_labels: bool,
    /// The line that was asked for last, and where it begins.
    number: u64,
    start: usize,
}

/// A line that defines something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Enclosing<'a> {
    pub(crate) number: u64,
    pub(crate) line: &'a [u8],
}

impl<'a> Definitions<'a> {
    pub(crate) fn new(text: &'a [u8], path: &[u8]) -> Definitions<'a> {
        let extension = path.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        let labelled: [&[u8]; 7] = [b"c", b"h", b"cc", b"cpp", b"cxx", b"hpp", b"go"];
        Definitions { text, has_labels: labelled.contains(&extension), number: 1, start: 0 }
    }

    /// The definition around the line with this number; numbers must not fall.
    pub(crate) fn around(&mut self, number: u64) -> Option<Enclosing<'a>> {
        while self.number < number {
            let rest = self.text.get(self.start..)?;
            self.start += memchr::memchr(b'\n', rest)? + 1;
            self.number += 1;
        }
        let line = self.line(self.start..self.text.len());
        let mut limit = indentation(line).map_or(usize::MAX, |(columns, _)| columns);
        let (mut end, mut number) = (self.start, self.number);
        let mut is_opened = false;
        for _ in 0..MAX_LINES {
            end = end.checked_sub(1).filter(|_| limit > 0)?;
            number -= 1;
            let begin = memchr::memrchr(b'\n', self.text.get(..end)?).map_or(0, |at| at + 1);
            let line = self.line(begin..end);
            end = begin;
            let Some((columns, code)) = indentation(line).filter(|(columns, _)| *columns < limit)
            else {
                continue;
            };
            if is_passed_over(code) {
                continue;
            }
            if matches!(code.first(), Some(b')' | b']' | b'}' | b'{')) {
                (limit, is_opened) = (columns + 1, code == b"{");
                continue;
            }
            let is_definition = if columns == 0 {
                self.defines_in_column_0(code)
            } else {
                defines_indented(code, is_opened)
            };
            if is_definition {
                return Some(Enclosing { number, line });
            }
            (limit, is_opened) = (columns.max(1), false);
        }
        None
    }

    /// The first line of a range, without its end.
    fn line(&self, range: Range<usize>) -> &'a [u8] {
        let text = self.text.get(range).unwrap_or_default();
        let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
        let line = text.get(..end).unwrap_or(text);
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    fn defines_in_column_0(&self, code: &[u8]) -> bool {
        let begins = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$');
        let word = word(code);
        let is_label = self.has_labels && code.get(word.len()..) == Some(b":");
        code.first().is_some_and(begins) && !contains(&CONTINUATIONS, word) && !is_label
    }
}

/// The columns before the first character that is not blank, and the line from there; none for a
/// blank line.
pub(super) fn indentation(line: &[u8]) -> Option<(usize, &[u8])> {
    let mut columns = 0;
    for (index, byte) in line.iter().enumerate() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += TAB - columns % TAB,
            b'\r' | b'\x0c' => {}
            _ => return Some((columns, line.get(index..)?.trim_ascii_end())),
        }
    }
    None
}

/// Whether a line is a comment, an attribute, a decorator or for the preprocessor.
pub(super) fn is_passed_over(code: &[u8]) -> bool {
    [&b"#"[..], b"//", b"/*", b"*", b"--", b"@", b"\"\"\""]
        .iter()
        .any(|mark| code.starts_with(mark))
}

/// The letters, digits and `_` at the start.
pub(super) fn word(code: &[u8]) -> &[u8] {
    let is_end = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'_';
    let end = code.iter().position(is_end).unwrap_or(code.len());
    code.get(..end).unwrap_or(code)
}

pub(super) fn contains(words: &[&str], word: &[u8]) -> bool {
    words.iter().any(|known| known.as_bytes() == word)
}

/// The line behind words such as `pub` and `static`.
pub(super) fn after_modifiers(code: &[u8]) -> &[u8] {
    let mut rest = code;
    while contains(&MODIFIERS, word(rest)) {
        rest = rest.get(word(rest).len()..).unwrap_or_default();
        // `pub(crate)`, `extern "C"`.
        for (open, close) in [(b'(', b')'), (b'"', b'"')] {
            let inner = rest.trim_ascii_start().strip_prefix(&[open]);
            if let Some(inner) = inner.filter(|_| open == b'"' || rest.starts_with(b"("))
                && let Some(end) = memchr::memchr(close, inner)
            {
                rest = inner.get(end + 1..).unwrap_or_default();
            }
        }
        rest = rest.trim_ascii_start();
    }
    rest
}

/// Whether an indented line defines something; `is_opened` if `{` stands alone in the next one.
fn defines_indented(code: &[u8], is_opened: bool) -> bool {
    let rest = after_modifiers(code);
    let first = word(rest);
    if contains(&KEYWORDS, first) {
        return true;
    }
    let is_open = code.ends_with(b"{") && is_balanced(code);
    if code.ends_with(b"=> {") {
        return is_open && memchr::memmem::find(code, b" = ").is_some();
    }
    is_method(rest) && !contains(&STATEMENTS, first) && (is_open || is_opened)
}

/// Whether a line has a name before its first parenthesis and only a type before that.
pub(super) fn is_method(code: &[u8]) -> bool {
    let Some(head) = memchr::memchr(b'(', code).and_then(|end| code.get(..end)) else {
        return false;
    };
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$#~ <>:,*&[]?".contains(byte);
    let ends_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$>".contains(byte);
    head.iter().all(is_type) && head.last().is_some_and(ends_name)
}

/// Whether every parenthesis is closed.
fn is_balanced(code: &[u8]) -> bool {
    let count = |wanted| memchr::memchr_iter(wanted, code).count();
    count(b'(') == count(b')')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What encloses each line that has a `?`, by its number.
    fn enclosing(path: &str, text: &str) -> Vec<Option<u64>> {
        let mut definitions = Definitions::new(text.as_bytes(), path.as_bytes());
        let lines = (1..).zip(text.lines()).filter(|(_, line)| line.contains('?'));
        lines.map(|(number, _)| definitions.around(number).map(|found| found.number)).collect()
    }

    #[test]
    fn rust() {
        let text = "use a; // ?
impl<T> Foo<T>
where
    T: Copy, // ?
{
    const A: u8 = 1; // ?

    /// ?
    pub(crate) async fn one(
        &self, // ?
        b: u8,
    ) -> u8 {
        if b == 1 {
            match self.two(b) {
                Some(x) => {
                    ? }
            }
        } else {
            items.map(|item| {
                ?
            });
        }
    }

    pub fn two(&self) { ? }
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_works() {
        ?
    }
}
";
        let expected =
            [None, Some(2), Some(2), Some(2), Some(9), Some(9), Some(9), Some(2), Some(31)];
        assert_eq!(enclosing("a.rs", text), expected);
    }

    #[test]
    fn python() {
        let text = "import os  # ?
class A(B):
    x = ?

    @property
    def one(self):
        # ?
        if self.x:
            for y in z:
                ?
        return [
            ?
        ]

    async def two(
        self,  # ?
    ):
        ?

if __name__ == '__main__':
    ?
";
        let expected = [None, Some(2), Some(6), Some(6), Some(6), Some(15), Some(15), Some(20)];
        assert_eq!(enclosing("a.py", text), expected);
    }

    #[test]
    fn go() {
        let text = "type T struct {
	a int // ?
}

func (t *T) One(a int) error {
outer:
	for {
		go func() {
			?
		}()
	}
	return ?
}
";
        assert_eq!(enclosing("a.go", text), [Some(1), Some(5), Some(5)]);
    }

    #[test]
    fn c() {
        let text = "#include <a.h> // ?
static int
one(struct a *a,
    int b) /* ? */
{
	if (b) {
#ifdef X
		? ;
#endif
	}
out:
	return ?;
}

struct b {
	int ?;
};
";
        assert_eq!(enclosing("a.c", text), [None, Some(3), Some(3), Some(3), Some(15)]);
        // Elsewhere it is a key.
        assert_eq!(enclosing("a.yml", "jobs:\n  build: ?\n"), [Some(1)]);
    }

    #[test]
    fn typescript() {
        let text = "export class A<T> extends B {
  private x = ?;

  constructor(private y: string) {
    ?
  }

  async load<K>(key: K, more = {}): Promise<void> {
    if (key) {
      this.items.forEach((item) => {
        ?
      });
    }
  }

  render = async (a: number) => {
    return (
      ?
    );
  };
}

describe(\"a\", () => {
  it(\"works\", () => {
    ?
  });
});
";
        let found = enclosing("a.ts", text);
        assert_eq!(found, [Some(1), Some(4), Some(8), Some(16), Some(23)]);
    }

    #[test]
    fn java_and_braces_on_their_own() {
        let text = "public class A
{
    @Override
    public List<String> one(int a)
    {
        while (a > 0)
        {
            ?
        }
    }

    int two() throws E {
        foo(a);
        ?
    }
}
";
        assert_eq!(enclosing("A.java", text), [Some(4), Some(12)]);
    }

    #[test]
    fn any_bytes_are_searched_without_a_definition() {
        for text in ["", "\n", "?", "   ?\n", "\t\n\t?", "}\n  ?\n", "{\r\n\r\n ?", "(\n ?"] {
            enclosing("x", text);
        }
        let mut definitions = Definitions::new(b"a\n b\n", b"x");
        assert_eq!(definitions.around(2).map(|found| found.line), Some(&b"a"[..]));
        assert_eq!(definitions.around(9), None);
    }
}
