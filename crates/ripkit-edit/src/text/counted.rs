//! Numbers with their nouns.

/// "1 file", "12 files".
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
