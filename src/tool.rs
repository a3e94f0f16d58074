//! What an author of a tool writes: one trait, its context, and the description that follows.

use std::time::Duration;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::arguments::impl_wire_names;
use crate::context::{Call, Limits};
use crate::error::Error;
use crate::index::Index;
use crate::output::Output;
use crate::pool::Pool;
use crate::walk::CacheView;
use crate::workspace::Workspace;

/// A tool: a name, arguments, an answer, and a function from one to the other.
///
/// The doc comment of `Args` is the description that a model reads, the doc comments of its
/// fields are those of the parameters; examples in them, between fences, are left out. The JSON
/// schema, the command line, the listing for every protocol and the typed Rust call all follow
/// from this one implementation.
///
/// ```
/// use ripkit::{Effect, Error, Output, Tool, ToolContext, Toolkit, Workspace};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Greets somebody.
/// #[derive(Debug, Deserialize, JsonSchema)]
/// struct Args {
///     /// Whom to greet.
///     name: String,
/// }
///
/// #[derive(Debug, Serialize, JsonSchema)]
/// struct Greeting(String);
///
/// impl std::fmt::Display for Greeting {
///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
///         write!(f, "Hello, {}!", self.0)
///     }
/// }
///
/// impl Output for Greeting {}
///
/// #[derive(Debug)]
/// struct Greet;
///
/// impl Tool for Greet {
///     const NAME: &'static str = "greet";
///     const EFFECT: Effect = Effect::Read;
///     const EXAMPLES: &'static [&'static str] = &[r#"{"name": "Ada"}"#, r#"{"name": "Bo"}"#];
///     type Args = Args;
///     type Output = Greeting;
///
///     fn run(&self, _: &ToolContext<'_>, args: Args) -> Result<Greeting, Error> {
///         Ok(Greeting(args.name))
///     }
/// }
///
/// # fn main() -> Result<(), Error> {
/// let tools = Toolkit::new(Workspace::open(".")?).with(Greet);
/// let answer = tools.call("greet", serde_json::json!({ "name": "Ada" }), &Default::default());
/// assert_eq!(answer.text(), "Hello, Ada!");
/// # Ok(())
/// # }
/// ```
pub trait Tool: Send + Sync + 'static {
    /// The name on the wire: lower case, words joined by `_`.
    const NAME: &'static str;
    /// The name of its command in a shell. Default: the name on the wire.
    const COMMAND: &'static str = Self::NAME;
    /// What its command does, for people: one short line in the imperative, without a full stop.
    /// Default: none; a front end then shows the beginning of the description.
    const SUMMARY: &'static str = "";
    /// Other names under which it is found. Default: none.
    const ALIASES: &'static [&'static str] = &[];
    /// What it does to the world.
    const EFFECT: Effect;
    /// Whether a second call with the same arguments changes nothing more. Default: whether it
    /// only reads.
    const IDEMPOTENT: bool = matches!(Self::EFFECT, Effect::Read);
    /// Arguments of typical calls, each the text of a JSON object, for models and for people. Texts
    /// that do not fit the schema are left out. Default: none.
    const EXAMPLES: &'static [&'static str] = &[];
    /// Other names of arguments, as (other, ours). Default: none.
    const ARGUMENT_ALIASES: &'static [(&'static str, &'static str)] = &[];
    /// Whether a call may take long because it looks at a tree or runs a program. A server gives
    /// the calls of other tools, which look only at what they name, places of their own, so that
    /// they never wait for long ones. Default: it does not.
    const LONG: bool = false;
    /// The arguments; the doc comments are what a model reads. A call runs on another thread than
    /// that of its caller.
    type Args: DeserializeOwned + JsonSchema + Send;
    /// The answer.
    type Output: Output;

    /// Tells whether there is anything to work with: a toolkit leaves the tool out otherwise.
    /// Default: there is.
    fn is_available(&self) -> bool {
        true
    }

    /// Narrows the schema of the arguments that a model sees by what only this value knows, such
    /// as the names that can be asked for. What is passed is checked against the type alone, so
    /// that the tool can answer a wrong name in its own words. Default: as the type says.
    fn narrow_schema(&self, _schema: &mut Value) {}

    /// The time that a call with these arguments may take, if they say so; the limit of the host
    /// stays in force. Default: the limit of the host alone.
    fn time_limit(&self, _args: &Self::Args) -> Option<Duration> {
        None
    }

    /// Does the work.
    ///
    /// It runs on a thread that its caller leaves shortly after the deadline or a cancellation if
    /// it has not returned by then. A tool that changes something calls [`Call::commit`] before.
    ///
    /// # Errors
    /// Those of the tool. Finding nothing, or only a part, is not an error.
    fn run(&self, context: &ToolContext<'_>, args: Self::Args) -> Result<Self::Output, Error>;
}

/// What a tool works with: the workspace, the limits, the threads and the call's conditions.
#[derive(Debug)]
#[non_exhaustive]
pub struct ToolContext<'a> {
    /// The files, behind their path policy.
    pub workspace: &'a Workspace,
    /// The bounds set by the host.
    pub limits: &'a Limits,
    /// Cancel flag, deadline and progress of this call.
    pub call: &'a Call,
    /// The threads for searching and listing.
    pub(crate) pool: &'a Pool,
    /// What is remembered of the workspace.
    pub(crate) index: Option<&'a Index>,
}

impl ToolContext<'_> {
    /// What earlier walks saw, for a walk that begins now.
    pub(crate) fn cache_view(&self) -> Option<CacheView> {
        self.index.map(Index::begin)
    }

    /// The call's conditions, with a time limit of its own in milliseconds.
    pub fn within(&self, timeout_ms: u64) -> Call {
        self.call.clone().with_timeout(Duration::from_millis(timeout_ms))
    }
}

/// What a tool does to the world; protocol hints and read-only toolkits follow from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds something new and never replaces what is there.
    Create,
    /// Replaces or removes what is there.
    Change,
    /// Runs programs, which may do anything.
    Execute,
}

impl_wire_names!(Effect; parse);

/// The description of a tool, from which every provider's form is rendered.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name on the wire.
    pub name: String,
    /// The name of its command in a shell.
    pub command: &'static str,
    /// What its command does, in one short line for people; may be empty.
    pub summary: &'static str,
    /// Other names under which it is found.
    pub aliases: &'static [&'static str],
    /// What it does, for a model.
    pub description: String,
    /// JSON Schema of the arguments, in the order of the fields.
    pub input_schema: Value,
    /// JSON Schema of the structured answer.
    pub output_schema: Value,
    /// What it does to the world.
    pub effect: Effect,
    /// Whether a second call with the same arguments changes nothing more.
    pub is_idempotent: bool,
    /// Whether a call may take long, as [`Tool::LONG`] says.
    pub is_long: bool,
    /// Arguments of typical calls, each of which fits the schema.
    pub examples: Vec<Value>,
}

impl ToolSpec {
    /// Tells whether `name` is one of its names on the wire, in a shell, or among its aliases; `-`
    /// and `_` are the same.
    pub fn is_called(&self, name: &str) -> bool {
        let names = [self.name.as_str(), self.command].into_iter();
        names.chain(self.aliases.iter().copied()).any(|own| same_name(own, name))
    }
}

/// `list-files` is `list_files`.
pub(crate) fn same_name(own: &str, asked: &str) -> bool {
    let fold = |byte: u8| if byte == b'-' { b'_' } else { byte };
    own.bytes().map(fold).eq(asked.bytes().map(fold))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hyphens_and_underscores_are_the_same() {
        assert!(same_name("list_files", "list-files"));
        assert!(same_name("list_files", "list_files"));
        assert!(!same_name("list_files", "listfiles"));
        assert!(!same_name("list_files", "list_file"));
    }
}
