//! The range that a schema sets for a number.

use std::fmt;

use serde_json::{Number, Value};

/// The least and the greatest value, from `minimum`, `maximum` and the width in `format`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Bounds {
    least: Option<Number>,
    greatest: Option<Number>,
}

impl Bounds {
    /// What `schema` says of a number.
    pub(crate) fn of(schema: &Value) -> Bounds {
        let stated = |key| schema.get(key).and_then(Value::as_number).cloned();
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let width = width(format);
        let least = stated("minimum").or_else(|| width.map(|(least, _)| least.into()));
        let greatest = stated("maximum").or_else(|| width.map(|(_, greatest)| greatest.into()));
        Bounds { least, greatest }
    }

    /// Tells whether `number` is within the range.
    pub(crate) fn allow(&self, number: &Number) -> bool {
        let low = self.least.as_ref().is_some_and(|least| less(number, least));
        let high = self.greatest.as_ref().is_some_and(|greatest| less(greatest, number));
        !low && !high
    }
}

/// Whole numbers are compared exactly; a double would round those of 64 bits.
fn less(one: &Number, other: &Number) -> bool {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64() < other.as_f64(),
    }
}

/// The formats of 64 bits are left out: their limits mean nothing to a reader.
fn width(format: &str) -> Option<(i64, i64)> {
    match format {
        "uint8" => Some((0, u8::MAX.into())),
        "uint16" => Some((0, u16::MAX.into())),
        "uint32" => Some((0, u32::MAX.into())),
        "int8" => Some((i8::MIN.into(), i8::MAX.into())),
        "int16" => Some((i16::MIN.into(), i16::MAX.into())),
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        _ => None,
    }
}

impl fmt::Display for Bounds {
    /// In words, after a noun: ` from 1 to 9`, ` of at least 1`, ` of at most 9`, or nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.least, &self.greatest) {
            (Some(least), Some(greatest)) => write!(f, " from {least} to {greatest}"),
            (Some(least), None) => write!(f, " of at least {least}"),
            (None, Some(greatest)) => write!(f, " of at most {greatest}"),
            (None, None) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn stated_limits_win_over_the_width() {
        let bounds = Bounds::of(&json!({ "format": "uint32", "minimum": 0, "maximum": 9 }));
        assert_eq!(bounds.to_string(), " from 0 to 9");
        assert!(bounds.allow(&9.into()));
        assert!(!bounds.allow(&10.into()));
        assert!(!bounds.allow(&(-1).into()));
    }

    #[test]
    fn great_numbers_are_compared_exactly() {
        let bounds = Bounds::of(&json!({ "maximum": u64::MAX - 1 }));
        assert!(bounds.allow(&(u64::MAX - 1).into()));
        assert!(!bounds.allow(&u64::MAX.into()));
    }
}
