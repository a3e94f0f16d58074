//! What the character classes of a pattern cost before any limit on its size is asked: folding
//! their case goes one character at a time, and a short pattern can hold a million ranges.

use std::convert::Infallible;

use regex_syntax::ast::{
    self, Ast, ClassPerlKind, ClassSetBinaryOp, ClassSetItem, ClassUnicode, ClassUnicodeKind,
    Visitor,
};
use regex_syntax::hir::{Class, Hir, HirKind};

/// The most characters that the classes of one pattern may hold in all: seventeen classes of every
/// character there is, or some hundred and forty of every letter.
const MAX_CHARACTERS: u64 = 20_000_000;
/// About as many as there are letters.
const LETTERS: u64 = 140_000;
/// As many as there are.
const EVERY_CHARACTER: u64 = 0x11_0000;

/// The most ranges in all classes of one pattern; a third of that compiles to more than is allowed.
const MAX_RANGES: usize = 500_000;

/// Whether the classes of a pattern are too large to be compiled.
pub(crate) fn are_too_large(pattern: &Hir) -> bool {
    ranges(pattern) > MAX_RANGES
}

fn ranges(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => 0,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len(),
        HirKind::Repetition(repetition) => ranges(&repetition.sub),
        HirKind::Capture(capture) => ranges(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().map(ranges).sum(),
    }
}

/// Whether the classes of a pattern hold too many characters to fold their case.
pub(crate) fn are_excessive_to_fold(pattern: &Ast) -> bool {
    let work = Folding { characters: 0, depth: 1 };
    ast::visit(pattern, work).is_ok_and(|characters| characters > MAX_CHARACTERS)
}

/// Adds up the characters of classes, once for each class that a class is nested in, because
/// each is folded by itself.
struct Folding {
    characters: u64,
    depth: u64,
}

impl Visitor for Folding {
    type Output = u64;
    type Err = Infallible;

    fn finish(self) -> Result<u64, Infallible> {
        Ok(self.characters)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), Infallible> {
        if let Ast::ClassUnicode(class) = ast {
            self.add(property_size(class));
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        match item {
            ClassSetItem::Range(range) => {
                let (start, end) = (u32::from(range.start.c), u32::from(range.end.c));
                self.add(u64::from(end.saturating_sub(start)));
            }
            ClassSetItem::Unicode(class) => self.add(property_size(class)),
            ClassSetItem::Perl(class) if class.negated => self.add(EVERY_CHARACTER),
            ClassSetItem::Perl(class) if class.kind == ClassPerlKind::Word => self.add(LETTERS),
            ClassSetItem::Ascii(class) if class.negated => self.add(EVERY_CHARACTER),
            ClassSetItem::Bracketed(_) => self.depth += 1,
            _ => {}
        }
        Ok(())
    }

    fn visit_class_set_item_post(&mut self, item: &ClassSetItem) -> Result<(), Infallible> {
        if let ClassSetItem::Bracketed(_) = item {
            self.depth -= 1;
        }
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ClassSetBinaryOp) -> Result<(), Infallible> {
        self.depth += 1;
        Ok(())
    }

    fn visit_class_set_binary_op_post(&mut self, _: &ClassSetBinaryOp) -> Result<(), Infallible> {
        self.depth -= 1;
        Ok(())
    }
}

impl Folding {
    fn add(&mut self, characters: u64) {
        self.characters += self.depth * characters;
    }
}

/// An estimate that is above the size of every property whose case is worth folding.
fn property_size(class: &ClassUnicode) -> u64 {
    let name = match &class.kind {
        ClassUnicodeKind::OneLetter(_) => return LETTERS,
        ClassUnicodeKind::Named(name) | ClassUnicodeKind::NamedValue { value: name, .. } => name,
    };
    // Names are compared without case, blanks, `-` and `_`.
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    match name.to_ascii_lowercase().as_str() {
        "any" | "assigned" | "isany" | "isassigned" => EVERY_CHARACTER,
        _ => EVERY_CHARACTER / 4,
    }
}

#[cfg(test)]
mod tests {
    use regex_syntax::ast::parse::Parser;

    use super::*;

    #[test]
    fn only_absurd_patterns_are_excessive() {
        let cases = [
            ("[\\s\\S]".repeat(17), false),
            ("[\\s\\S]".repeat(40), true),
            ("\\w\\W.".repeat(800), false),
            ("[^a]".repeat(1000), false),
            ("\\pL".repeat(140), false),
            ("\\pL".repeat(300), true),
            ("\\p{Greek}".repeat(70), false),
            ("\\p{A ny}".repeat(40), true),
            ("[!-\u{10ffff}]".repeat(40), true),
            (format!("{}\\w{}", "[".repeat(100), "]".repeat(100)), false),
            (format!("{}\\W{}", "[".repeat(100), "]".repeat(100)), true),
            ("[\\w--\\d]".repeat(450), true),
        ];
        for (pattern, expected) in cases {
            let ast = Parser::new().parse(&pattern).unwrap();
            assert_eq!(are_excessive_to_fold(&ast), expected, "{pattern}");
        }
    }
}
