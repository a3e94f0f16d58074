//! The one list of the standard tools; each tool is one file of this directory.

pub mod copy_file;
pub mod create_directory;
pub mod delete_file;
pub mod edit_file;
pub mod find_files;
pub mod list_directory;
pub mod list_files;
pub mod load_skill;
pub mod move_file;
pub mod read_file;
#[cfg(all(unix, feature = "command"))]
pub mod run_command;
pub mod search;
pub mod write_file;

use crate::tool::Tool;

/// Takes the tools of the list, one after the other.
pub(crate) trait Register {
    /// Adds one tool.
    fn add<T: Tool>(&mut self, tool: T);
}

/// Names every standard tool, in the order in which a model reads them.
pub(crate) fn standard(tools: &mut impl Register) {
    tools.add(search::Search);
    tools.add(list_files::ListFiles);
    tools.add(find_files::FindFiles);
    tools.add(list_directory::ListDirectory);
    tools.add(read_file::ReadFile);
    tools.add(write_file::WriteFile);
    tools.add(edit_file::EditFile);
    tools.add(create_directory::CreateDirectory);
    tools.add(delete_file::DeleteFile);
    tools.add(move_file::MoveFile);
    tools.add(copy_file::CopyFile);
    tools.add(load_skill::LoadSkill::default());
    #[cfg(all(unix, feature = "command"))]
    tools.add(run_command::RunCommand::default());
}
