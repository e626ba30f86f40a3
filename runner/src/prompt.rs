//! What an agent reads first: its role as the system prompt, its task as the first message.
//!
//! Pure. The words of the roles are in `agents/`, not here; people's words are fenced so that they cannot pretend to be ours.

pub mod inbox;

use domain::board::comment::Comment;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::run::Run;
use domain::team::message::Inbox;

/// The built-in prompt of a phase.
pub fn role(phase: AgentKind) -> &'static str {
    match phase {
        AgentKind::Planner => include_str!("../../agents/planner.md"),
        AgentKind::Coder => include_str!("../../agents/coder.md"),
        AgentKind::Reviewer => include_str!("../../agents/reviewer.md"),
        AgentKind::Orchestrator => include_str!("../../agents/orchestrator.md"),
    }
}

/// What a prompt is made of.
#[derive(Debug)]
pub struct Material<'a> {
    pub project: &'a Project,
    pub task: &'a Task,
    /// The phase of this run, which is the reviewer's for a task of a coder.
    pub phase: AgentKind,
    /// The branch that the work is on, or that the checkout shows.
    pub branch: &'a str,
    pub worktree: &'a str,
    /// What the work is compared with.
    pub base: &'a str,
    /// The whole thread, oldest first.
    pub comments: &'a [Comment],
    /// Earlier runs of the task in this phase, oldest first.
    pub attempts: &'a [Run],
    /// What others wrote to the agent.
    pub inbox: &'a Inbox,
    /// Present when the session of an earlier attempt is resumed.
    pub resumes: bool,
}

/// The tags that structure a prompt. Content that holds one of them is not taken for structure.
const TAGS: &[&str] = &["issue", "comments", "attempts", "inbox", "message", "reminder"];

/// Characters without a width: between a `<` and a name they hide from us what a model reads.
const INVISIBLE: [char; 5] = ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{feff}'];

/// What an agent is asked to do about messages that reach it while it works.
const ANSWER: &str = include_str!("../../agents/reminder/inbox.md");
/// What stands below messages when they are not all.
const MORE: &str = include_str!("../../agents/reminder/more.md");

/// The first message of a run.
pub fn prompt(material: &Material<'_>) -> String {
    let card = &material.task.card;
    let mut text = String::from("<issue>\n");
    let parent = card.round_of.as_ref().or(card.parent_task_id.as_ref());
    let fields = [
        ("Title", card.title.as_str()),
        ("Description", material.task.description.as_deref().unwrap_or("")),
        ("Phase", material.phase.as_str()),
        ("Branch", material.branch),
        ("Worktree", material.worktree),
        ("Task", card.id.as_str()),
        ("Base", material.base),
        ("Project", &format!("{} {}", material.project.id, material.project.title)),
        ("Parent", parent.map_or("", |parent| parent.as_str())),
    ];
    for (name, value) in fields.iter().filter(|(name, value)| !(value.is_empty() && *name == "Parent")) {
        text += format!("{name}: {}", indented(value)).trim_end();
        text.push('\n');
    }
    text += "</issue>\n\n<comments>\n";
    for comment in material.comments {
        let name = comment.author_name.as_ref().map(|name| format!(" {name}")).unwrap_or_default();
        text += &format!("[{}{name}] {}: {}\n", comment.author_role, comment.created_at, indented(&comment.content));
    }
    text += "</comments>\n";
    let attempts: String = material.attempts.iter().filter_map(attempt).collect();
    if !attempts.is_empty() {
        text += &format!("\n<attempts>\n{attempts}</attempts>\n");
    }
    if !material.inbox.messages.is_empty() {
        text.push('\n');
        text += &inbox::block(material.inbox);
    }
    if material.resumes {
        text.push('\n');
        text += include_str!("../../agents/reminder/resume.md");
    }
    text
}

/// The line about an attempt that failed. One that was parked says nothing about the task.
fn attempt(run: &Run) -> Option<String> {
    let failure = run.failure.filter(|_| run.end_class == Some(EndClass::Failed))?;
    let error = run.error.as_deref().map(|error| format!(": {}", indented(error))).unwrap_or_default();
    Some(format!("Attempt {}: {}{error}\n", run.attempt, failure.sentence()))
}

/// What is said to an agent that ended its turn and left its card where it was.
pub fn nudge(phase: AgentKind, task: &Task) -> String {
    let next = match phase {
        AgentKind::Planner => include_str!("../../agents/reminder/planner.md"),
        AgentKind::Coder => include_str!("../../agents/reminder/coder.md"),
        AgentKind::Reviewer => include_str!("../../agents/reminder/reviewer.md"),
        AgentKind::Orchestrator => include_str!("../../agents/reminder/orchestrator.md"),
    };
    let words = include_str!("../../agents/reminder/unmoved.md").trim_end().replace("{next}", next.trim_end());
    words.replace("{task}", task.card.id.as_str())
}

/// What a coder is told whose branch cannot be merged. `paths` is a list in Markdown.
pub fn conflict(sha: &str, branch: &str, paths: &str) -> String {
    let words = include_str!("../../agents/reminder/conflict.md").trim_end();
    words.replace("{sha}", sha).replace("{branch}", branch).replace("{paths}", paths)
}

/// A person's message to a running agent.
pub fn message(content: &str) -> String {
    format!("<message from=\"human\">\n{}\n</message>", fenced(content))
}

/// The person's words in what [`message`] made of them; nothing when the agent was told something else.
pub fn words(told: &str) -> Option<&str> {
    told.strip_prefix("<message from=\"human\">\n")?.strip_suffix("\n</message>")
}

/// Content within a field: no line of it begins where a field or a comment begins.
fn indented(content: &str) -> String {
    fenced(content).replace('\n', "\n  ")
}

/// `content` with the `<` of our own tags written as `&lt;`, every line break as a newline, and without control characters, which
/// a program's error output may hold.
fn fenced(content: &str) -> String {
    let content = content.replace("\r\n", "\n");
    let mut text = String::with_capacity(content.len());
    for (place, character) in content.char_indices() {
        match character {
            '<' if names_our_tag(&content[place + 1..]) => text += "&lt;",
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => text.push('\n'),
            '\n' | '\t' => text.push(character),
            _ if character.is_control() => {}
            _ => text.push(character),
        }
    }
    text
}

/// Whether what follows a `<` is the name of one of our tags, as a lenient reader sees it.
fn names_our_tag(rest: &str) -> bool {
    let ignored = |next: char| next == '/' || next.is_whitespace() || next.is_control() || INVISIBLE.contains(&next);
    let rest = rest.trim_start_matches(ignored);
    TAGS.iter().any(|tag| {
        rest.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
            && !rest[tag.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == '-')
    })
}

#[cfg(test)]
mod tests;
