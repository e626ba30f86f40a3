//! Builds what an agent reads first: its role as the system prompt and its task as the first message.
//!
//! Pure. The texts are those of [`Prompts`]. Foreign content is escaped, so it cannot imitate the structure of a prompt.

mod attempt;
mod checks;
mod context;
mod handover;
pub mod inbox;
mod oracle;
mod traps;

use domain::board::comment::Comment;
use domain::board::project::Project;
use domain::board::task::Task;
use domain::context::handoff::Handoff;
use domain::id::TaskId;
use domain::prompt::{Prompt, Prompts};
use domain::runs::agent_kind::AgentKind;
use domain::runs::check::StageResults;
use domain::runs::hand_over::HandOverReason;
use domain::runs::limit::LimitMeasure;
use domain::runs::protected_paths::ProtectedChange;
use domain::runs::run::Run;
use domain::runs::sandbox::SandboxTier;
use domain::team::message::Inbox;
use domain::warroom::oracle::briefing::OracleBriefing;
use repo::Commit;

/// The system prompt of an agent.
pub fn system_prompt(prompts: &Prompts, phase: AgentKind, sandbox: SandboxTier) -> String {
    let (role, jail) = (prompts.text(phase), prompts.text(Prompt::Jail));
    match sandbox {
        SandboxTier::None => role.to_owned(),
        SandboxTier::Jail => format!("{role}\n{jail}"),
        SandboxTier::JailNet => format!("{role}\n{jail}{}", prompts.text(Prompt::JailNet)),
    }
}

/// The content of a prompt.
#[derive(Debug)]
pub struct PromptInput<'a> {
    /// The texts in use.
    pub prompts: &'a Prompts,
    pub project: &'a Project,
    pub task: &'a Task,
    /// The goal of the whole, for an agent whose own task does not say it.
    pub goal: Option<&'a Task>,
    /// The run to be started. For a coder's task it may be the reviewer's.
    pub run: &'a Run,
    /// The branch of the work, or the branch that the checkout shows.
    pub branch: &'a str,
    pub worktree: &'a str,
    /// The folder of the instructions to follow, if they are not those of the worktree.
    pub rules: Option<&'a str>,
    /// The commit that the work is compared with, and its branch.
    pub base: &'a str,
    pub base_branch: &'a str,
    /// The whole thread, oldest first.
    pub comments: &'a [Comment],
    /// Earlier runs of the task of this agent kind, oldest first.
    pub attempts: &'a [Run],
    /// The newest unmerged commits of the branch, if attempts are told.
    pub commits: &'a [Commit],
    /// The handoff of earlier agents, the most relevant finding first.
    pub handoff: &'a Handoff,
    /// Unread messages for the agent.
    pub inbox: &'a Inbox,
    /// Whether the run resumes the session of an earlier attempt.
    pub resumes: bool,
    /// How the worktree was prepared, if it was.
    pub setup: &'a str,
    /// The questions to an oracle, and their zone.
    pub oracle: Option<&'a OracleBriefing>,
    /// The checks of the task so far.
    pub checks: &'a [StageResults],
}

/// The tags that structure a prompt. They are escaped in content.
const TAGS: &[&str] = &["issue", "comments", "attempts", "context", "handover", "traps", "questions", "knowledge", "inbox", "message", "reminder"];

/// Characters without a width. Between a `<` and a name they would hide a tag from the escaping, but not from a model.
const INVISIBLE: [char; 5] = ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{feff}'];

/// The first message of a run.
pub fn prompt(input: &PromptInput<'_>) -> String {
    let card = &input.task.card;
    let mut text = String::from("<issue>\n");
    let parent = card.round_of.as_ref().or(card.parent_task_id.as_ref());
    let goal = input.goal.map(|goal| [goal.card.title.as_str(), goal.description.as_deref().unwrap_or_default()].join("\n"));
    let last_failure = attempt::last_failure(input.attempts);
    let protected = card.protected_paths.as_ref().filter(|_| input.run.phase == AgentKind::Reviewer).map(ProtectedChange::named);
    let checks = match input.run.phase {
        AgentKind::Coder => checks::announced(input.prompts, &input.project.profile.checks),
        AgentKind::Reviewer => checks::results(input.prompts, input.checks, input.run.sha.as_deref()),
        AgentKind::Planner | AgentKind::Orchestrator | AgentKind::Oracle => String::new(),
    };
    let fields = [
        ("Title", card.title.as_str()),
        ("Description", input.task.description.as_deref().unwrap_or("")),
        ("Phase", input.run.phase.as_str()),
        ("Branch", input.branch),
        ("Worktree", input.worktree),
        ("Rules", input.rules.unwrap_or("")),
        ("Setup", input.setup),
        ("Checks", &checks),
        ("Task", card.id.as_str()),
        ("Base", input.base),
        ("Base branch", input.base_branch),
        ("Project", &format!("{} {}", input.project.id, input.project.title)),
        ("Parent", parent.map_or("", |parent| parent.as_str())),
        ("Changes protected paths", protected.as_deref().unwrap_or_default()),
        ("Goal", goal.as_deref().unwrap_or_default()),
        ("Attempt", &input.run.attempt.to_string()),
        ("Last failure", last_failure.as_deref().unwrap_or_default()),
    ];
    for (name, value) in fields.iter().filter(|(name, value)| !value.is_empty() || *name == "Description") {
        text += format!("{name}: {}", indented(value)).trim_end();
        text.push('\n');
    }
    text += "</issue>\n\n<comments>\n";
    for comment in input.comments {
        text += &format!("[{}] {}: {}\n", comment.author(), comment.created_at, indented(&comment.content));
    }
    text += "</comments>\n";
    let attempts = attempt::lines(input.attempts, input.commits);
    if !attempts.is_empty() {
        text += &format!("\n<attempts>\n{attempts}</attempts>\n");
    }
    let handover = handover::block(input.prompts, input.handoff);
    if !handover.is_empty() {
        text.push('\n');
        text += &handover;
    }
    let traps = traps::block(input.prompts, &input.handoff.traps);
    if !traps.is_empty() {
        text.push('\n');
        text += &traps;
    }
    let context = context::block(input.prompts, input.handoff);
    if !context.is_empty() {
        text.push('\n');
        text += &context;
    }
    if let Some(briefing) = input.oracle {
        text.push('\n');
        text += &oracle::blocks(briefing);
    }
    if !input.inbox.messages.is_empty() {
        text.push('\n');
        text += &inbox::block(input.prompts, input.inbox);
    }
    if input.resumes {
        text.push('\n');
        text += input.prompts.text(if input.oracle.is_some() { Prompt::ResumeOracle } else { Prompt::Resume });
    }
    text
}

/// The reminder for an agent that ended its turn without moving its card.
pub fn reminder(prompts: &Prompts, phase: AgentKind, task: &Task) -> String {
    let next = match phase {
        AgentKind::Planner => Prompt::PlannerOutcome,
        AgentKind::Coder => Prompt::CoderOutcome,
        AgentKind::Reviewer => Prompt::ReviewerOutcome,
        AgentKind::Orchestrator => Prompt::OrchestratorOutcome,
        // It has no card to move.
        AgentKind::Oracle => return prompts.text(Prompt::OracleOutcome).trim_end().to_owned(),
    };
    let text = prompts.text(Prompt::NoOutcome).trim_end().replace("{next}", prompts.text(next).trim_end());
    text.replace("{task}", task.card.id.as_str())
}

/// The request to an agent to hand over, because a limit is reached or because of an order.
pub fn hand_over(prompts: &Prompts, task: &TaskId, reason: &HandOverReason) -> String {
    let prompt = match reason {
        HandOverReason::Limit { limit } if limit.measure == LimitMeasure::Context => Prompt::NewSession,
        HandOverReason::Limit { .. } => Prompt::HandOver,
        HandOverReason::Ordered { .. } => Prompt::Ordered,
    };
    let text = prompts.text(prompt).trim_end().replace("{limit}", &reason.sentence()).replace("{order}", &reason.sentence());
    text.replace("{task}", task.as_str())
}

/// The result of a tool that the human denied.
pub fn denial(prompts: &Prompts, tool: &str, reason: Option<&str>) -> String {
    let reason = reason.map(|reason| format!(" They say: {reason}")).unwrap_or_default();
    prompts.text(Prompt::Denied).trim_end().replace("{tool}", tool).replace("{reason}", &reason)
}

/// The comment for a coder whose branch cannot be merged. `conflicts` is Markdown.
pub fn conflict(prompts: &Prompts, sha: &str, branch: &str, conflicts: &str) -> String {
    let text = prompts.text(Prompt::Conflict).trim_end();
    // The conflicts last, because they may contain anything.
    text.replace("{sha}", sha).replace("{branch}", branch).replace("{conflicts}", conflicts)
}

/// The description of the task that brings the base branch at `sha` and the project branch `branch` together. `details` is Markdown.
pub fn sync(prompts: &Prompts, base_branch: &str, sha: &str, branch: &str, problem: &str, details: &str) -> String {
    let text = prompts.text(Prompt::Sync).trim_end();
    let text = text.replace("{base_branch}", base_branch).replace("{sha}", sha).replace("{branch}", branch).replace("{problem}", problem);
    text.replace("{details}", details)
}

/// The comment for a coder whose work failed checks. `branch` is that into which it was merged, and `results` is Markdown.
pub fn failed_checks(prompts: &Prompts, sha: &str, branch: Option<&str>, results: &str) -> String {
    let text = match branch {
        Some(branch) => prompts.text(Prompt::FailedMergeChecks).replace("{branch}", branch),
        None => prompts.text(Prompt::FailedChecks).to_owned(),
    };
    // The results last, because they may contain anything.
    text.trim_end().replace("{sha}", sha).replace("{results}", results)
}

/// A human's message to a running agent.
pub fn message(content: &str) -> String {
    format!("<message from=\"human\">\n{}\n</message>", escape_tags(content))
}

/// The human's text in a message from [`message`]; `None` for any other input.
pub fn human_message_text(input: &str) -> Option<&str> {
    input.strip_prefix("<message from=\"human\">\n")?.strip_suffix("\n</message>")
}

/// Content within a field. Its lines are indented, so none of them looks like a field or a comment.
fn indented(content: &str) -> String {
    escape_tags(content).replace('\n', "\n  ")
}

/// Writes the `<` of our own tags as `&lt;` and every line break as a newline, and removes control characters, which a program's error
/// output may contain.
fn escape_tags(content: &str) -> String {
    let content = content.replace("\r\n", "\n");
    let mut text = String::with_capacity(content.len());
    for (place, character) in content.char_indices() {
        match character {
            '<' if is_reserved_tag(&content[place + 1..]) => text += "&lt;",
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => text.push('\n'),
            '\n' | '\t' => text.push(character),
            _ if character.is_control() => {}
            _ => text.push(character),
        }
    }
    text
}

/// Whether the text after a `<` begins with the name of one of our tags, as a lenient reader sees it.
fn is_reserved_tag(rest: &str) -> bool {
    let ignored = |next: char| next == '/' || next.is_whitespace() || next.is_control() || INVISIBLE.contains(&next);
    let rest = rest.trim_start_matches(ignored);
    TAGS.iter().any(|tag| {
        rest.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag))
            && !rest[tag.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_' || next == '-')
    })
}

#[cfg(test)]
mod tests;
