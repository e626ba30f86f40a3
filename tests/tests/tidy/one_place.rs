//! Concerns that belong to one place. Each rule names the place and every exception with its reason.

use regex::Regex;

use crate::source::{Source, none, product};

/// The product's lines with `pattern` outside of the places that may have it.
fn outside(pattern: &str, places: &[&str]) -> Vec<String> {
    let elsewhere = |file: &Source| !places.iter().any(|place| file.path == *place || (place.ends_with('/') && file.path.starts_with(place)));
    product().iter().filter(|file| elsewhere(file)).flat_map(|file| file.lines_with(pattern)).collect()
}

#[test]
fn programs_are_started_in_one_place() {
    let places = [
        "runner/src/process.rs",
        // At build time: the nested cargo of the board.
        "ui/embed/build/compile.rs",
        // At build time: git, for the commit that the version names.
        "cli/build.rs",
        // At build time: rustup, for the target of the board.
        "ui/toolchain/build.rs",
        // Compiled for tests only: git as the other opinion.
        "repo/src/git_program.rs",
    ];
    let found = [outside("Command::new(", &places), outside("posix_spawn", &[]), outside("execv", &[])].concat();
    none("runner/src/process.rs starts programs", found);
}

/// Text of agents must not reach a terminal as it is.
#[test]
fn commands_print_in_one_place() {
    let places = [
        "cli/src/output.rs",
        // Tells cargo what it depends on.
        "cli/build.rs",
        // Imitates an agent program, whose output is a protocol.
        "cli/src/scripted/",
        // Asks a question before anything runs.
        "cli/src/demo/workspace.rs",
        // The log, which replaces the same characters.
        "cli/src/logging.rs",
        "cli/src/logging/",
        // The shim's own errors, in the run's file.
        "runner/src/shim.rs",
    ];
    let found = ["stdout()", "stderr()", "io::stdout", "io::stderr", "println!", "print!("].iter().flat_map(|word| outside(word, &places));
    let is_product = |line: &String| ["cli/", "runner/", "api/", "mcp/", "db/", "repo/"].iter().any(|folder| line.starts_with(folder));
    none("cli/src/output.rs prints", found.filter(is_product).collect());
}

#[test]
fn the_time_is_read_in_one_place() {
    let places = [
        "db/src/lib.rs",
        // A shim outlives the server and writes the end of a run down without it.
        "runner/src/shim.rs",
        "runner/src/shim/",
    ];
    none("the time of an event is db::now()", outside("SystemTime::now(", &places));
}

#[test]
fn domain_asks_the_system_for_nothing() {
    let files: Vec<Source> = product().into_iter().filter(|file| file.path.starts_with("domain/")).collect();
    let asking = ["std::env", "std::fs", "std::io", "std::net", "std::os", "std::process", "std::thread", "SystemTime", "Instant", "now()"];
    none("domain is pure", asking.iter().flat_map(|pattern| files.iter().flat_map(|file| file.lines_with(pattern))).collect());
}

#[test]
fn only_the_store_writes_sql() {
    let words = ["\"SELECT ", "\"INSERT INTO ", "\"DELETE FROM ", "\"PRAGMA "];
    none("SQL is in db", words.iter().flat_map(|word| outside(word, &["db/src/"])).collect());
}

/// Words of SQLite that PostgreSQL does not know.
#[test]
fn the_sql_dialect_is_in_one_place() {
    let words = [
        "PRAGMA",
        "sqlite_master",
        "sqlite_version",
        "SAVEPOINT",
        "BEGIN IMMEDIATE",
        "; COMMIT",
        "rowid",
        "json_each",
        "json_extract",
        "json_array",
        "json_group_",
        "json_object",
        "INSERT OR ",
        "NOCASE",
        "changes()",
        " GLOB ",
        "immutable(",
    ];
    let store = |line: &String| line.starts_with("db/src/");
    let found = words.iter().flat_map(|word| outside(word, &["db/src/engine/dialect.rs", "db/src/engine/dialect/"])).filter(store);
    none("db/src/engine/dialect.rs holds what is true of SQLite only", found.collect());
}

/// PostgreSQL prepares one statement at a time.
#[test]
fn a_query_is_one_statement() {
    let next = Regex::new(r#";\s*(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH)\s"#).unwrap();
    assert!(next.is_match("UPDATE tasks SET round = 1;\n         DELETE FROM tasks WHERE id = $1"));
    let store = product().into_iter().filter(|file| file.path.starts_with("db/src/") && file.path != "db/src/engine/dialect.rs");
    let several = store.flat_map(|file| next.find_iter(file.product()).map(|found| format!("{}: {}", file.path, found.as_str())).collect::<Vec<_>>());
    none("a query is one statement", several.collect());
}

#[test]
fn no_type_of_the_database_library_leaves_the_store() {
    let store: Vec<Source> = product().into_iter().filter(|file| file.path.starts_with("db/src/")).collect();
    let public = ["pub fn ", "pub async fn ", "pub struct ", "pub enum ", "pub use ", "pub type ", "pub trait "];
    let lines = public.iter().flat_map(|begin| store.iter().flat_map(|file| file.lines_with(begin)));
    none("db's interface is free of sqlx", lines.filter(|line| line.contains("sqlx") || line.contains("Sqlite")).collect());
}

#[test]
fn the_status_of_a_failure_is_decided_in_one_file() {
    // Results that report success or no change.
    let good = ["OK", "CREATED", "ACCEPTED", "NO_CONTENT", "NOT_MODIFIED", "SEE_OTHER"];
    let places = [
        "api/src/error.rs",
        // Reads the status that the framework gave to a body that was too large.
        "api/src/extract.rs",
        // A page for a person, not an answer for a program.
        "api/src/routes/sign_in.rs",
        // The transport of MCP in front of all tools has failures of its own, and the bridge reads them.
        "mcp/src/server.rs",
        "mcp/src/server/",
        "mcp/src/bridge/",
    ];
    let is_bad = |line: &String| line.split("StatusCode::").skip(1).any(|rest| !good.iter().any(|word| rest.starts_with(word)));
    let product_lines = outside("StatusCode::", &places).into_iter().filter(|line| !line.starts_with("cli/") && is_bad(line));
    none("api/src/error.rs decides the status of a failure", product_lines.collect());
}

#[test]
fn outcomes_are_worded_for_models_in_one_file() {
    let found = [outside("CallToolResult::", &["mcp/src/reply.rs"]), outside("ContentBlock::", &["mcp/src/reply.rs"])].concat();
    none("mcp/src/reply.rs words outcomes", found);
}

/// A second agent program must fit in below `runner/src/backend/` without a change elsewhere, see decision 0009.
#[test]
fn only_the_backend_knows_the_agent_program() {
    let places = [
        "runner/src/backend/claude.rs",
        "runner/src/backend/claude/",
        // Imitates the program, so it speaks the same format.
        "cli/src/scripted.rs",
        "cli/src/scripted/",
    ];
    let protocol = [
        "stream-json",
        "tool_use\"",
        "tool_result\"",
        "isReplay",
        "api_error_status",
        "terminal_reason",
        "rate_limit_event",
        "can_use_tool",
        "mcp__",
        "PreToolUse",
        "CLAUDE_",
        "ANTHROPIC_",
        "claude-code",
    ];
    let sentences = ["No conversation found", "Not logged in", "already in use\"", "cannot be used with root", "auth status"];
    // The transcript has entries of these kinds, whatever the program calls them.
    let is_our_own = |line: &String| line.starts_with("domain/src/runs/output.rs") && (line.contains("ToolUse =") || line.contains("ToolResult ="));
    let found = protocol.iter().chain(&sentences).flat_map(|word| outside(word, &places)).filter(|line| !is_our_own(line));
    none("runner/src/backend/claude/ knows the agent program's words", found.collect());
}

/// Only `backend.rs` chooses the agent program; the rest of the runner uses what it re-exports.
#[test]
fn runner_names_the_agent_program_in_its_backend_only() {
    let runner = product().into_iter().filter(|file| file.path.starts_with("runner/src/") && !file.path.starts_with("runner/src/backend"));
    let found = runner.flat_map(|file| ["claude", "Claude"].iter().flat_map(|word| file.lines_with(word)).collect::<Vec<_>>());
    none("runner/src/backend.rs chooses the agent program", found.collect());
}

#[test]
fn prompts_are_no_rust_strings() {
    let found = [outside("\"You are ", &[]), outside("../agents/", &["domain/src/prompt.rs"])].concat();
    none("what agents are told is in agents/", found);
}

/// A text that is taken past `Prompts` could not be replaced.
#[test]
fn built_in_prompts_are_copied_by_init_only() {
    none("Prompts::text returns the prompt in use", outside(".built_in()", &["domain/src/prompt.rs", "cli/src/init.rs"]));
}

/// Legality has one table. A component that compares with a status would be a second one.
#[test]
fn the_board_decides_no_move() {
    let words = ["Backlog", "InProgress", "InReview", "Done", "Cancelled"].map(|status| format!(" Status::{status}"));
    let board = product().into_iter().filter(|file| file.path.starts_with("ui/src/") && !file.path.starts_with("ui/src/components/badge"));
    let found = board.flat_map(|file| words.iter().flat_map(|word| file.lines_with(word)).collect::<Vec<_>>());
    none("the board asks domain::board::transition; words and colours of a status are in ui/src/components/badge.rs and below it", found.collect());
}

#[test]
fn a_repository_is_opened_in_one_place() {
    let opening = ["git2::Repository::open", "git2::Repository::init", "open_bare(", "open_from_env"];
    none("repo/src/handle.rs opens repositories", opening.iter().flat_map(|call| outside(call, &["repo/src/handle.rs"])).collect());
}
