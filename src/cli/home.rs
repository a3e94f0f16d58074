//! Whether the home directory may be asked for.

use std::env;

/// Where nobody told the home directory, the standard library asks the name service. A static
/// program then loads that service's libraries, which were made for another C library than its
/// own, and crashes; so it goes without.
pub(super) fn may_be_asked() -> bool {
    let is_static = cfg!(all(target_env = "gnu", target_feature = "crt-static"));
    !is_static || env::var_os("HOME").is_some_and(|home| !home.is_empty())
}
