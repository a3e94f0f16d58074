//! The toolkit that the global options ask for.

use ripkit::{Error, Toolkit};

use super::globals::Globals;
use super::root::{self, Standing};
use super::{allowance, skills};

/// The toolkit for calling one tool, and where one stands in its workspace.
pub(super) fn open(globals: &Globals, wanted: &str) -> Result<(Toolkit, Standing), Error> {
    let tools = without_skills(globals)?;
    // Looking for skills is spared where another tool is wanted.
    let tools = match tools.spec(wanted) {
        Some(_) => tools,
        None => tools.with_listed_skills(skills::of_here(globals)?),
    };
    Ok((tools, Standing::below(&globals.root())))
}

/// The toolkit, but for the skills.
pub(super) fn without_skills(globals: &Globals) -> Result<Toolkit, Error> {
    let tools = Toolkit::new(root::open_workspace(globals)?).with_limits(globals.limits());
    let tools = if globals.allows_commands { allowance::allow(tools) } else { tools };
    Ok(if globals.read_only { tools.read_only() } else { tools })
}
