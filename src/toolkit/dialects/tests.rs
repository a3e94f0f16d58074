use super::*;
use crate::toolkit::{Entry, arguments, standard_entries};

/// Calls as other tool sets define them, with the call of ours that does the same. An expected text
/// that is not JSON is the error message.
const CALLS: &[(&str, &str, &str, &str)] = &[
    // Claude Code
    ("Read", r#"{"file_path": "a"}"#, "read_file", r#"{"path": "a"}"#),
    (
        "Read",
        r#"{"file_path": "a", "offset": 5, "limit": 9}"#,
        "read_file",
        r#"{"path": "a", "offset": 5, "limit": 9}"#,
    ),
    (
        "Read",
        r#"{"file_path": "a.pdf", "pages": "1-2"}"#,
        "read_file",
        "pages is not supported: use offset and limit",
    ),
    ("Grep", r#"{"pattern": "x"}"#, "search", r#"{"pattern": "x"}"#),
    (
        "Grep",
        r#"{"pattern": "x", "path": "src", "glob": "*.rs"}"#,
        "search",
        r#"{"pattern": "x", "path": "src", "include": "*.rs"}"#,
    ),
    (
        "Grep",
        r#"{"pattern": "x", "output_mode": "files_with_matches"}"#,
        "search",
        r#"{"pattern": "x", "output": "files"}"#,
    ),
    (
        "Grep",
        r#"{"pattern": "x", "output_mode": "content", "-n": true}"#,
        "search",
        r#"{"pattern": "x", "output": "content"}"#,
    ),
    (
        "Grep",
        r#"{"pattern": "x", "output_mode": "count"}"#,
        "search",
        r#"{"pattern": "x", "output": "count"}"#,
    ),
    (
        "Grep",
        r#"{"pattern": "x", "-i": true}"#,
        "search",
        r#"{"pattern": "x", "case_sensitive": false}"#,
    ),
    (
        "Grep",
        r#"{"pattern": "x", "-A": 3, "-B": 1}"#,
        "search",
        r#"{"pattern": "x", "after": 3, "before": 1}"#,
    ),
    ("Grep", r#"{"pattern": "x", "-C": 2}"#, "search", r#"{"pattern": "x", "context": 2}"#),
    (
        "Grep",
        r#"{"pattern": "x", "type": "rust"}"#,
        "search",
        r#"{"pattern": "x", "file_type": "rust"}"#,
    ),
    (
        "Grep",
        r#"{"pattern": "x", "head_limit": 20}"#,
        "search",
        r#"{"pattern": "x", "max_results": 20}"#,
    ),
    ("Grep", r#"{"pattern": "x", "head_limit": 0}"#, "search", r#"{"pattern": "x"}"#),
    (
        "Grep",
        r#"{"pattern": "x", "multiline": true}"#,
        "search",
        r#"{"pattern": "x", "multiline": true}"#,
    ),
    ("Grep", r#"{"pattern": "x", "offset": 20}"#, "search", "offset is not supported: use cursor"),
    ("Grep", r#"{"pattern": "x", "offset": 0, "head_limit": 0}"#, "search", r#"{"pattern": "x"}"#),
    ("Read", r#"{"file_path": "a", "pages": ""}"#, "read_file", r#"{"path": "a"}"#),
    (
        "Bash",
        r#"{"command": "make", "dangerouslyDisableSandbox": false}"#,
        "run_command",
        r#"{"command": "make"}"#,
    ),
    (
        "Glob",
        r#"{"pattern": "**/*.rs", "path": "src"}"#,
        "find_files",
        r#"{"pattern": "**/*.rs", "path": "src"}"#,
    ),
    ("LS", r#"{"path": "src"}"#, "list_directory", r#"{"path": "src"}"#),
    (
        "LS",
        r#"{"path": "src", "ignore": ["*.o"]}"#,
        "list_directory",
        "ignore is not supported: use exclude of list_files",
    ),
    (
        "Edit",
        r#"{"file_path": "a", "old_string": "x", "new_string": "y"}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y"}"#,
    ),
    (
        "Edit",
        r#"{"file_path": "a", "old_string": "x", "new_string": "", "replace_all": true}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "", "replace_all": true}"#,
    ),
    (
        "MultiEdit",
        r#"{"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}"#,
        "edit_file",
        r#"{"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]}"#,
    ),
    (
        "MultiEdit",
        r#"{"file_path": "a", "edits": [{"old_string": "x", "new_string": "y", "replace_all": true}]}"#,
        "edit_file",
        r#"{"path": "a", "edits": [{"old_text": "x", "new_text": "y"}], "replace_all": true}"#,
    ),
    (
        "Write",
        r#"{"file_path": "a", "content": "x"}"#,
        "write_file",
        r#"{"path": "a", "content": "x"}"#,
    ),
    (
        "Bash",
        r#"{"command": "make", "description": "Build", "timeout": 120000}"#,
        "run_command",
        r#"{"command": "make", "timeout_ms": 120000}"#,
    ),
    (
        "Bash",
        r#"{"command": "make", "run_in_background": false}"#,
        "run_command",
        r#"{"command": "make"}"#,
    ),
    ("Skill", r#"{"skill": "pdf"}"#, "load_skill", r#"{"name": "pdf"}"#),
    ("Skill", r#"{"skill": "pdf", "args": "a b"}"#, "load_skill", r#"{"name": "pdf"}"#),
    // Codex
    (
        "shell",
        r#"{"command": ["bash", "-lc", "make all"], "workdir": "src", "timeout_ms": 5000}"#,
        "run_command",
        r#"{"command": "make all", "cwd": "src", "timeout_ms": 5000}"#,
    ),
    (
        "shell",
        r#"{"command": ["git", "log", "-n 1"], "justification": "see"}"#,
        "run_command",
        r#"{"command": "git log '-n 1'"}"#,
    ),
    (
        "exec_command",
        r#"{"cmd": "ls", "workdir": "src", "yield_time_ms": 1000, "max_output_tokens": 100}"#,
        "run_command",
        r#"{"command": "ls", "cwd": "src", "timeout_ms": 1000}"#,
    ),
    (
        "grep_files",
        r#"{"pattern": "x", "include": "*.rs", "path": "src", "limit": 10}"#,
        "search",
        r#"{"pattern": "x", "include": "*.rs", "path": "src", "max_results": 10}"#,
    ),
    (
        "read_file",
        r#"{"file_path": "a", "offset": 1, "limit": 10, "mode": "slice"}"#,
        "read_file",
        r#"{"path": "a", "offset": 1, "limit": 10}"#,
    ),
    (
        "list_dir",
        r#"{"dir_path": "src", "offset": 1, "limit": 25}"#,
        "list_directory",
        r#"{"path": "src", "max_results": 25}"#,
    ),
    (
        "list_dir",
        r#"{"dir_path": "src", "offset": 26, "limit": 25}"#,
        "list_directory",
        "offset is not supported: use cursor",
    ),
    (
        "shell_command",
        r#"{"command": "make", "login": true, "sandbox_permissions": "use_default", "prefix_rule": ["make"]}"#,
        "run_command",
        r#"{"command": "make"}"#,
    ),
    (
        "list_dir",
        r#"{"dir_path": "src", "depth": 2}"#,
        "list_files",
        r#"{"path": "src", "max_depth": 2}"#,
    ),
    ("view_image", r#"{"path": "a.png"}"#, "read_file", r#"{"path": "a.png"}"#),
    // Gemini CLI
    (
        "read_file",
        r#"{"absolute_path": "a", "offset": 9, "limit": 2}"#,
        "read_file",
        r#"{"path": "a", "offset": 9, "limit": 2}"#,
    ),
    (
        "read_file",
        r#"{"file_path": "a", "start_line": 3, "end_line": 7}"#,
        "read_file",
        r#"{"path": "a", "offset": 3, "limit": 5}"#,
    ),
    (
        "list_directory",
        r#"{"dir_path": "src", "ignore": []}"#,
        "list_directory",
        r#"{"path": "src"}"#,
    ),
    (
        "list_directory",
        r#"{"path": "src", "file_filtering_options": {"respect_git_ignore": true}}"#,
        "list_directory",
        r#"{"path": "src"}"#,
    ),
    (
        "write_file",
        r#"{"file_path": "a", "content": "x"}"#,
        "write_file",
        r#"{"path": "a", "content": "x"}"#,
    ),
    (
        "glob",
        r#"{"pattern": "*.rs", "dir_path": "src", "case_sensitive": false}"#,
        "find_files",
        r#"{"pattern": "*.rs", "path": "src"}"#,
    ),
    (
        "glob",
        r#"{"pattern": "*.rs", "respect_git_ignore": true}"#,
        "find_files",
        r#"{"pattern": "*.rs"}"#,
    ),
    (
        "search_file_content",
        r#"{"pattern": "x", "include": "*.rs", "dir_path": "src"}"#,
        "search",
        r#"{"pattern": "x", "include": "*.rs", "path": "src"}"#,
    ),
    (
        "grep_search",
        r#"{"pattern": "x", "dir_path": "src", "include_pattern": "*.rs", "names_only": true}"#,
        "search",
        r#"{"pattern": "x", "path": "src", "include": "*.rs", "output": "files"}"#,
    ),
    (
        "grep_search",
        r#"{"pattern": "x", "total_max_matches": 9, "max_matches_per_file": 2}"#,
        "search",
        r#"{"pattern": "x", "max_results": 9, "max_per_file": 2}"#,
    ),
    (
        "grep_search",
        r#"{"pattern": "x", "exclude_pattern": "*.md", "fixed_strings": true}"#,
        "search",
        r#"{"pattern": "x", "exclude": "*.md", "literal": true}"#,
    ),
    (
        "grep_search",
        r#"{"pattern": "x", "context": 1, "after": 2, "before": 3, "no_ignore": true}"#,
        "search",
        r#"{"pattern": "x", "context": 1, "after": 2, "before": 3, "no_ignore": true}"#,
    ),
    (
        "replace",
        r#"{"file_path": "a", "instruction": "change", "old_string": "x", "new_string": "y"}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y"}"#,
    ),
    (
        "replace",
        r#"{"file_path": "a", "old_string": "x", "new_string": "y", "expected_replacements": 1}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y"}"#,
    ),
    (
        "replace",
        r#"{"file_path": "a", "old_string": "x", "new_string": "y", "expected_replacements": 3}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y", "replace_all": true}"#,
    ),
    (
        "replace",
        r#"{"file_path": "a", "old_string": "x", "new_string": "y", "allow_multiple": true}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y", "replace_all": true}"#,
    ),
    (
        "run_shell_command",
        r#"{"command": "make", "description": "Build", "dir_path": "src", "is_background": false}"#,
        "run_command",
        r#"{"command": "make", "cwd": "src"}"#,
    ),
    ("activate_skill", r#"{"name": "pdf"}"#, "load_skill", r#"{"name": "pdf"}"#),
    // Cursor
    (
        "read_file",
        r#"{"target_file": "a", "should_read_entire_file": true, "explanation": "see"}"#,
        "read_file",
        r#"{"path": "a"}"#,
    ),
    (
        "read_file",
        r#"{"target_file": "a", "start_line_one_indexed": 10, "end_line_one_indexed_inclusive": 19}"#,
        "read_file",
        r#"{"path": "a", "offset": 10, "limit": 10}"#,
    ),
    (
        "list_dir",
        r#"{"relative_workspace_path": "src", "explanation": "see"}"#,
        "list_directory",
        r#"{"path": "src"}"#,
    ),
    ("list_dir", r#"{"target_directory": "src"}"#, "list_directory", r#"{"path": "src"}"#),
    (
        "grep_search",
        r#"{"query": "x", "include_pattern": "*.rs", "exclude_pattern": "*.md", "case_sensitive": true}"#,
        "search",
        r#"{"pattern": "x", "include": "*.rs", "exclude": "*.md", "case_sensitive": true}"#,
    ),
    (
        "grep",
        r#"{"pattern": "x", "path": "src", "glob": "*.rs", "-i": false, "head_limit": 5}"#,
        "search",
        r#"{"pattern": "x", "path": "src", "include": "*.rs", "case_sensitive": true, "max_results": 5}"#,
    ),
    (
        "file_search",
        r#"{"query": "*lib*", "explanation": "see"}"#,
        "find_files",
        r#"{"pattern": "*lib*"}"#,
    ),
    (
        "glob_file_search",
        r#"{"glob_pattern": "*.rs", "target_directory": "src"}"#,
        "find_files",
        r#"{"pattern": "*.rs", "path": "src"}"#,
    ),
    (
        "search_replace",
        r#"{"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": false}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y", "replace_all": false}"#,
    ),
    (
        "write",
        r#"{"file_path": "a", "contents": "x"}"#,
        "write_file",
        r#"{"path": "a", "content": "x"}"#,
    ),
    (
        "delete_file",
        r#"{"target_file": "a", "explanation": "old"}"#,
        "delete_file",
        r#"{"path": "a"}"#,
    ),
    (
        "run_terminal_cmd",
        r#"{"command": "make", "is_background": false, "require_user_approval": true}"#,
        "run_command",
        r#"{"command": "make"}"#,
    ),
    (
        "edit_file",
        r#"{"target_file": "a", "instructions": "x", "code_edit": "y"}"#,
        "edit_file",
        "code_edit is not supported: use old_text and new_text",
    ),
    // VS Code
    (
        "read_file",
        r#"{"filePath": "a", "startLine": 3, "endLine": 4}"#,
        "read_file",
        r#"{"path": "a", "offset": 3, "limit": 2}"#,
    ),
    (
        "read_file",
        r#"{"filePath": "a", "startLineNumberBaseZero": 0, "endLineNumberBaseZero": 9}"#,
        "read_file",
        r#"{"path": "a", "offset": 1, "limit": 10}"#,
    ),
    (
        "read_file",
        r#"{"filePath": "a", "offset": 5, "limit": 10}"#,
        "read_file",
        r#"{"path": "a", "offset": 5, "limit": 10}"#,
    ),
    ("list_dir", r#"{"path": "src"}"#, "list_directory", r#"{"path": "src"}"#),
    ("copilot_listDirectory", r#"{"path": "src"}"#, "list_directory", r#"{"path": "src"}"#),
    (
        "copilot_findTextInFiles",
        r#"{"query": "x", "isRegexp": true}"#,
        "search",
        r#"{"pattern": "x", "literal": false}"#,
    ),
    (
        "multi_replace_string_in_file",
        r#"{"explanation": "z", "replacements": [
            {"filePath": "a", "oldString": "x", "newString": "y"},
            {"filePath": "a", "oldString": "v", "newString": "w"}]}"#,
        "edit_file",
        r#"{"path": "a", "edits": [{"old_text": "x", "new_text": "y"}, {"old_text": "v", "new_text": "w"}]}"#,
    ),
    (
        "multi_replace_string_in_file",
        r#"{"explanation": "z", "replacements": [
            {"filePath": "a", "oldString": "x", "newString": "y"},
            {"filePath": "b", "oldString": "v", "newString": "w"}]}"#,
        "edit_file",
        "edits: one call edits one file; make a call for each",
    ),
    (
        "insert_edit_into_file",
        r#"{"explanation": "z", "filePath": "a", "code": "x"}"#,
        "edit_file",
        "code is not supported: use old_text and new_text",
    ),
    (
        "file_search",
        r#"{"query": "**/*.ts", "maxResults": 9}"#,
        "find_files",
        r#"{"pattern": "**/*.ts", "max_results": 9}"#,
    ),
    (
        "grep_search",
        r#"{"query": "a.b", "isRegexp": false, "includePattern": "src/**"}"#,
        "search",
        r#"{"pattern": "a.b", "literal": true, "include": "src/**"}"#,
    ),
    (
        "grep_search",
        r#"{"query": "a|b", "isRegexp": true, "maxResults": 9}"#,
        "search",
        r#"{"pattern": "a|b", "literal": false, "max_results": 9}"#,
    ),
    (
        "grep_search",
        r#"{"query": "x", "isRegexp": true, "includeIgnoredFiles": true}"#,
        "search",
        r#"{"pattern": "x", "literal": false, "no_ignore": true}"#,
    ),
    (
        "create_file",
        r#"{"filePath": "a", "content": "x"}"#,
        "write_file",
        r#"{"path": "a", "content": "x"}"#,
    ),
    ("create_directory", r#"{"dirPath": "src"}"#, "create_directory", r#"{"path": "src"}"#),
    (
        "replace_string_in_file",
        r#"{"filePath": "a", "oldString": "x", "newString": "y", "explanation": "z"}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y"}"#,
    ),
    (
        "run_in_terminal",
        r#"{"command": "make", "explanation": "x", "goal": "y", "isBackground": false, "timeout": 60000}"#,
        "run_command",
        r#"{"command": "make", "timeout_ms": 60000}"#,
    ),
    ("view_image", r#"{"filePath": "a.png"}"#, "read_file", r#"{"path": "a.png"}"#),
    // Cline
    ("read_file", r#"{"path": "a", "task_progress": "x"}"#, "read_file", r#"{"path": "a"}"#),
    (
        "write_to_file",
        r#"{"path": "a", "content": "x"}"#,
        "write_file",
        r#"{"path": "a", "content": "x"}"#,
    ),
    (
        "search_files",
        r#"{"path": "src", "regex": "x", "file_pattern": "*.rs"}"#,
        "search",
        r#"{"path": "src", "pattern": "x", "include": "*.rs"}"#,
    ),
    (
        "list_files",
        r#"{"path": "src", "recursive": false}"#,
        "list_files",
        r#"{"path": "src", "max_depth": 1}"#,
    ),
    (
        "list_files",
        r#"{"path": "src", "recursive": "true"}"#,
        "list_files",
        r#"{"path": "src", "max_depth": 4294967295}"#,
    ),
    (
        "replace_in_file",
        r#"{"path": "a", "diff": "x"}"#,
        "edit_file",
        "diff is not supported: use old_text and new_text",
    ),
    (
        "search_and_replace",
        r#"{"path": "a", "search": "x", "replace": "y"}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y"}"#,
    ),
    (
        "execute_command",
        r#"{"command": "make", "requires_approval": "false"}"#,
        "run_command",
        r#"{"command": "make"}"#,
    ),
    ("use_skill", r#"{"skill_name": "pdf"}"#, "load_skill", r#"{"name": "pdf"}"#),
    ("skills", r#"{"skill": "pdf", "args": null}"#, "load_skill", r#"{"name": "pdf"}"#),
    ("search_codebase", r#"{"queries": ["x"]}"#, "search", r#"{"pattern": "x"}"#),
    ("run_commands", r#"{"commands": ["make"]}"#, "run_command", r#"{"command": "make"}"#),
    (
        "editor",
        r#"{"path": "a", "old_text": "x", "new_text": "y", "insert_line": null}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y"}"#,
    ),
    // opencode
    (
        "read",
        r#"{"filePath": "a", "offset": 10, "limit": 20}"#,
        "read_file",
        r#"{"path": "a", "offset": 10, "limit": 20}"#,
    ),
    (
        "write",
        r#"{"filePath": "a", "content": "x"}"#,
        "write_file",
        r#"{"path": "a", "content": "x"}"#,
    ),
    (
        "edit",
        r#"{"filePath": "a", "oldString": "x", "newString": "y", "replaceAll": true}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y", "replace_all": true}"#,
    ),
    (
        "grep",
        r#"{"pattern": "x", "path": "src", "include": "*.{ts,tsx}"}"#,
        "search",
        r#"{"pattern": "x", "path": "src", "include": "*.{ts,tsx}"}"#,
    ),
    (
        "glob",
        r#"{"pattern": "*.rs", "path": "src"}"#,
        "find_files",
        r#"{"pattern": "*.rs", "path": "src"}"#,
    ),
    (
        "bash",
        r#"{"command": "make", "timeout": 5000, "workdir": "src", "description": "x"}"#,
        "run_command",
        r#"{"command": "make", "timeout_ms": 5000, "cwd": "src"}"#,
    ),
    ("skill", r#"{"name": "pdf"}"#, "load_skill", r#"{"name": "pdf"}"#),
    (
        "list",
        r#"{"path": "src", "ignore": ["*.o"]}"#,
        "list_files",
        r#"{"path": "src", "exclude": ["*.o"]}"#,
    ),
    // pi
    (
        "read",
        r#"{"path": "a", "offset": 10, "limit": 20}"#,
        "read_file",
        r#"{"path": "a", "offset": 10, "limit": 20}"#,
    ),
    (
        "edit",
        r#"{"path": "a", "oldText": "x", "newText": "y"}"#,
        "edit_file",
        r#"{"path": "a", "old_text": "x", "new_text": "y"}"#,
    ),
    (
        "edit",
        r#"{"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}"#,
        "edit_file",
        r#"{"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]}"#,
    ),
    (
        "edit",
        r#"{"path": "a", "edits": "[{\"oldText\": \"x\", \"newText\": \"y\"}]"}"#,
        "edit_file",
        r#"{"path": "a", "edits": [{"old_text": "x", "new_text": "y"}]}"#,
    ),
    (
        "bash",
        r#"{"command": "make", "timeout": 30}"#,
        "run_command",
        r#"{"command": "make", "timeout_ms": 30000}"#,
    ),
    (
        "grep",
        r#"{"pattern": "x", "glob": "*.rs", "ignoreCase": true, "literal": true, "context": 2, "limit": 9}"#,
        "search",
        r#"{"pattern": "x", "include": "*.rs", "case_sensitive": false, "literal": true, "context": 2, "max_results": 9}"#,
    ),
    (
        "find",
        r#"{"pattern": "*.rs", "path": "src", "limit": 9}"#,
        "find_files",
        r#"{"pattern": "*.rs", "path": "src", "max_results": 9}"#,
    ),
    (
        "ls",
        r#"{"path": "src", "limit": 9}"#,
        "list_directory",
        r#"{"path": "src", "max_results": 9}"#,
    ),
    // The official filesystem server
    ("read_text_file", r#"{"path": "a", "head": 5}"#, "read_file", r#"{"path": "a", "limit": 5}"#),
    (
        "read_text_file",
        r#"{"path": "a", "tail": 5}"#,
        "read_file",
        r#"{"path": "a", "offset": -5}"#,
    ),
    ("read_media_file", r#"{"path": "a.png"}"#, "read_file", r#"{"path": "a.png"}"#),
    (
        "edit_file",
        r#"{"path": "a", "edits": [{"oldText": "x", "newText": "y"}], "dryRun": true}"#,
        "edit_file",
        r#"{"path": "a", "edits": [{"old_text": "x", "new_text": "y"}], "dry_run": true}"#,
    ),
    (
        "list_directory_with_sizes",
        r#"{"path": "src", "sortBy": "name"}"#,
        "list_directory",
        r#"{"path": "src"}"#,
    ),
    (
        "list_directory_with_sizes",
        r#"{"path": "src", "sortBy": "size"}"#,
        "list_directory",
        r#"{"path": "src"}"#,
    ),
    (
        "directory_tree",
        r#"{"path": "src", "excludePatterns": []}"#,
        "list_files",
        r#"{"path": "src", "exclude": []}"#,
    ),
    ("read_multiple_files", r#"{"paths": ["a"]}"#, "read_file", r#"{"path": ["a"]}"#),
    (
        "move_file",
        r#"{"source": "a", "destination": "b"}"#,
        "move_file",
        r#"{"source": "a", "destination": "b"}"#,
    ),
    (
        "search_files",
        r#"{"path": "src", "pattern": "**/*.rs", "excludePatterns": ["*.o"]}"#,
        "find_files",
        r#"{"path": "src", "pattern": "**/*.rs", "exclude": ["*.o"]}"#,
    ),
    // Common slips
    (
        "search",
        r#"{"pattern": "x", "include": "[\"*.rs\", \"*.toml\"]"}"#,
        "search",
        r#"{"pattern": "x", "include": ["*.rs", "*.toml"]}"#,
    ),
    (
        "search",
        r#"{"pattern": "x", "path": "", "include": "", "cursor": "", "max_results": 0}"#,
        "search",
        r#"{"pattern": "x"}"#,
    ),
    (
        "rename",
        r#"{"from": "a", "to": "b"}"#,
        "move_file",
        r#"{"source": "a", "destination": "b"}"#,
    ),
    (
        "view",
        r#"{"path": "a", "view_range": [3, 8]}"#,
        "read_file",
        r#"{"path": "a", "offset": 3, "limit": 6}"#,
    ),
    (
        "view",
        r#"{"path": "a", "view_range": [3, -1]}"#,
        "read_file",
        r#"{"path": "a", "offset": 3}"#,
    ),
    ("READ_FILE", r#"{"Path": "a"}"#, "read_file", r#"{"path": "a"}"#),
];

fn entry(name: &str, args: &Value) -> Entry {
    let own = |wanted: &str| {
        let entries = standard_entries();
        entries.iter().find(|entry| entry.is_called(wanted)).map(|entry| (**entry).clone())
    };
    let ours = args.as_object().and_then(|args| dialect_tool(name, args)).unwrap_or(name);
    own(ours).or_else(|| own(tool(name).unwrap_or(""))).unwrap_or_else(|| panic!("no tool {name}"))
}

#[test]
fn calls_of_other_tool_sets_do_what_the_original_would_do() {
    let mut same = 0;
    for (name, given, tool, wanted) in CALLS {
        if cfg!(not(all(unix, feature = "command"))) && *tool == "run_command" {
            continue;
        }
        let given: Value = serde_json::from_str(given).expect("JSON");
        let entry = entry(name, &given);
        assert_eq!(entry.name, *tool, "{name} {given}");
        let checked = arguments::check(entry.arguments(), entry.dialect(), given.clone());
        match (checked, serde_json::from_str::<Value>(wanted)) {
            (Ok((args, notes)), Ok(wanted)) => {
                assert_eq!(args, wanted, "{name} {given}");
                assert!(
                    notes.iter().filter(|note| note.contains(" as ")).count() <= 2,
                    "{notes:?}"
                );
                same += 1;
            }
            (Err(error), Err(_)) => assert_eq!(error.to_string(), *wanted, "{name} {given}"),
            (Ok((args, _)), Err(_)) => panic!("{name} {given} became {args}"),
            (Err(error), Ok(_)) => panic!("{name} {given}: {error}"),
        }
    }
    assert!(same * 100 >= CALLS.len() * 90 || cfg!(not(feature = "command")), "{same}");
}

#[test]
fn every_argument_of_the_table_maps_to_an_argument_of_a_tool() {
    let entries = standard_entries();
    for (tools, names, meaning) in ARGUMENTS {
        let Some(ours) = meaning.argument() else { continue };
        // Arguments that not all tools of a row have.
        let has = |entry: &Entry| entry.arguments()["properties"].get(ours).is_some();
        let planned = ["invert", "exclude"].contains(&ours);
        let named = |entry: &Entry| tools.is_empty() || tools.contains(&entry.name.as_str());
        let fits = entries.iter().any(|entry| named(entry) && has(entry));
        let is_built = cfg!(all(unix, feature = "command")) || !tools.contains(&"run_command");
        assert!(fits || planned || !is_built, "{names} becomes {ours}");
    }
}

#[test]
fn two_names_of_one_argument_may_agree_and_not_differ() {
    let entry = entry("read_file", &Value::Null);
    let check = |args| arguments::check(entry.arguments(), entry.dialect(), args);
    let same = serde_json::json!({ "path": "a", "file_path": "a" });
    assert_eq!(check(same).expect("arguments").0, serde_json::json!({ "path": "a" }));
    let other = serde_json::json!({ "path": "a", "file_path": "b" });
    let error = check(other).expect_err("two paths").to_string();
    assert_eq!(error, "file_path: the same argument as path, which is given too; give only path");
}
