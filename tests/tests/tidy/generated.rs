//! The pages of `docs/` that are made from the sources. With `UPDATE_DOCS=1` they are written, otherwise compared. It must not hold text
//! that a source could hold.

use domain::event::Event;
use serde_json::Value;

use crate::source::{Source, read, root, rust};

pub(crate) fn check(path: &str, page: &str) {
    let page = page.replacen("\n\n", "\n\n<!-- Made by `UPDATE_DOCS=1 cargo test -p tests --test tidy`. -->\n\n", 1);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(root().join(path), &page).unwrap();
    }
    assert_eq!(read(path), page, "{path} is old: run `UPDATE_DOCS=1 cargo test -p tests --test tidy`");
}

#[test]
fn the_page_of_the_state_machine_is_fresh() {
    let table = domain::board::transition::to_markdown();
    check("docs/state-machine.md", &format!("# Moves of a task\n\nFrom `domain/src/board/transition.rs`. Any other move is refused.\n\n{table}"));
}

/// One event, as its noun declares it.
pub(crate) struct Kind {
    pub(crate) name: String,
    /// `TaskEvent::Moved`
    pub(crate) variant: String,
    fields: String,
    words: String,
}

/// Reads the events of all nouns, in the order in which `domain/src/event.rs` joins them.
pub(crate) fn kinds() -> Vec<Kind> {
    let join = read("domain/src/event.rs");
    let nouns = join.split("\njoin! {\n").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap();
    let sources: Vec<Source> = rust().into_iter().filter(|file| file.path.starts_with("domain/src/")).collect();
    let names = nouns.lines().filter_map(|line| line.split_once('(')?.1.split_once(')')).map(|(name, _)| name);
    names.flat_map(|name| kinds_of(name, declaration(&sources, name))).collect()
}

/// Returns the body of the enum that a noun declares with `events!`.
fn declaration<'a>(sources: &'a [Source], event: &str) -> &'a str {
    let start = format!("\n    {event} {{\n");
    let mut blocks = sources.iter().filter_map(|file| file.text.split("\nevents! {\n").nth(1)?.split("\n    }\n}").next());
    blocks.find_map(|block| Some(block.split_once(&start)?.1)).unwrap_or_else(|| panic!("no noun declares {event}"))
}

fn kinds_of(event: &str, list: &str) -> Vec<Kind> {
    let (mut found, mut words, mut depth): (Vec<Kind>, Vec<&str>, usize) = (Vec::new(), Vec::new(), 0);
    for line in list.lines().map(str::trim) {
        match (depth, line.strip_prefix("/// ")) {
            (0, Some(word)) => words.push(word),
            (0, None) if line.contains('"') => {
                let (variant, name) = (line.split(' ').next().unwrap(), line.split('"').nth(1).unwrap().to_owned());
                let fields = line.split_once('{').map_or("", |(_, rest)| rest.trim_end_matches('}').trim());
                found.push(Kind { name, variant: format!("{event}::{variant}"), fields: fields.to_owned(), words: words.join(" ") });
                words.clear();
            }
            // Fields on lines of their own.
            (_, None) if depth > 0 && line != "}" => found.last_mut().unwrap().fields += line,
            _ => {}
        }
        depth = depth + line.matches('{').count() - line.matches('}').count();
    }
    found
}

#[test]
fn the_page_of_events_is_fresh() {
    let kinds = kinds();
    assert_eq!(kinds.iter().map(|kind| kind.name.as_str()).collect::<Vec<_>>(), Event::kinds());
    let mut page = "# Events\n\nEach noun declares its events below `domain/src/`, and `domain/src/event.rs` joins them in this order. `GET \
        /api/events` and the WebSocket carry them; each envelope also has `seq`, `at`, `actor`, the ids of project, task and run, and the card or project as it was afterwards.\n\n| kind | fields | what happened |\n|---|---|---|\n"
        .to_owned();
    for Kind { name, fields, words, .. } in kinds {
        let fields = if fields.is_empty() { fields } else { format!("`{}`", fields.trim_end_matches(',')) };
        page += &format!("| `{name}` | {fields} | {words} |\n");
    }
    check("docs/events.md", &page);
}

/// The tools as clients are told them: a snapshot that a test of `mcp` compares with the code.
fn tools() -> Vec<Value> {
    let snapshot = read("mcp/src/tests/snapshots/mcp__tests__table__the_tools_on_the_wire.snap");
    snapshot.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The audiences, in the order of the columns, from the other snapshot of that test.
const COLUMNS: [&str; 10] = ["planner", "coder", "reviewer", "orchestrator", "untrusted", "trusted", "lead", "invite", "human", "companion"];

/// The tools of each column.
fn columns() -> Vec<Vec<String>> {
    let test = read("mcp/src/tests/table.rs");
    let row = |column: &str| test.lines().find_map(|line| line.trim().strip_prefix(&format!("{column}: "))).map(str::to_owned);
    COLUMNS.iter().map(|column| row(column).unwrap_or_default().split(' ').map(str::to_owned).collect()).collect()
}

/// The arguments of a tool as a list, those of objects in a list as a list below.
fn arguments(schema: &Value, indent: usize) -> String {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let line = |(name, property): (&String, &Value)| {
        let is_required = required.contains(&Value::from(name.as_str()));
        let optional = if is_required { "" } else { ", optional" };
        let values = property["enum"].as_array().map(|values| {
            let values: Vec<String> = values.iter().filter_map(Value::as_str).map(|value| format!("`{value}`")).collect();
            format!("One of {}.", values.join(", "))
        });
        let explained: Vec<String> = [property["description"].as_str().map(str::to_owned), values].into_iter().flatten().collect();
        let explained = if explained.is_empty() { String::new() } else { format!(": {}", explained.join(" ")) };
        let below = property["items"]["properties"].as_object().map(|_| arguments(&property["items"], indent + 2)).unwrap_or_default();
        format!("{}- `{name}`{optional}{explained}\n{below}", " ".repeat(indent))
    };
    properties.iter().map(line).collect()
}

#[test]
fn the_page_of_tools_is_fresh() {
    let (tools, columns) = (tools(), columns());
    assert!(tools.len() > 30 && columns.iter().all(|column| column.len() > 1), "the snapshots were not read");
    let mut page = format!(
        "# Tools\n\nThe tools of the MCP server `vibe-relay` at `/mcp`, as a client's model reads them.\n\n## Tools by caller\n\nThe first four columns are managed \
        agents. untrusted, trusted and lead are external agents; invite is an agent before it registers, human a person's own client, and companion the coding agent that a person attached. An \
        external agent may also call the tools of the other two kinds; the store refuses those for which it lacks the right. A managed agent sees \
        goal tools once its project has a goal, `ack_handshake` while a handshake is pending, and the other handshake tools while external \
        agents are active.\n\n| tool | {} |\n|---|{}\n",
        COLUMNS.join(" | "),
        "---|".repeat(COLUMNS.len())
    );
    let mut below = "\n## Each tool\n\n`agent_name`, `from_agent` and `creator` may repeat the caller's own name, whole or short; the token alone \
        identifies the caller. Lists of tools omit these and `project` for callers that do not need them; the lists of managed agents also omit \
        other arguments that those agents do not need.\n"
        .to_owned();
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let marks: Vec<&str> = columns.iter().map(|seen| if seen.iter().any(|seen| seen == name) { "yes" } else { "" }).collect();
        assert!(marks.contains(&"yes"), "{name} is never listed");
        page += &format!("| `{name}` | {} |\n", marks.join(" | "));
        let arguments = arguments(&tool["inputSchema"], 0);
        let separator = if arguments.is_empty() { "" } else { "\n" };
        below += &format!("\n### `{name}`\n\n{}\n{separator}{arguments}", tool["description"].as_str().unwrap());
    }
    check("docs/tools.md", &(page + &below));
}
