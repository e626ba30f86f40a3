//! Following a pull request: what its host says about it, and what follows from that. Pure. Must not know which program asks the host.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::TaskId;
use crate::runs::evidence::{Sha, short};
use crate::runs::publication::task_text::TaskText;
use crate::text::BODY_BYTES;
use crate::text::foreign::{fenced, fenced_end, one_line};
use crate::vocabulary::vocabulary;

/// How often checks and remarks come back as a task before a person has to look.
pub const MAX_SENT_BACK: u32 = 2;
/// Begins a comment in the conversation that a coder shall follow. Other comments are talk among people.
pub const REQUEST_MARK: &str = "/vibe-relay";
/// The parts of logs and of remarks that a task repeats, in characters.
const LOG_CHARACTERS: usize = 6_000;
const REMARK_CHARACTERS: usize = 8_000;
/// Checks and remarks of one task. The others come with the next.
const MAX_IN_A_TASK: usize = 20;
/// Characters of a name that someone outside chose.
const NAME_CHARACTERS: usize = 100;

vocabulary! {
    /// Whether a pull request is open.
    PullRequestState, "state of a pull request" {
        Open = "open",
        Merged = "merged",
        Closed = "closed",
    }
}

/// The state of the pull request of a project, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PullRequestStatus {
    pub state: PullRequestState,
    /// How often its checks and remarks came back as a task since a person looked.
    #[serde(default)]
    pub sent_back: u32,
    /// The task that they came back as last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Why a person has to look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs_you: Option<String>,
    /// The ids of remarks that came back already, and the names of checks with their commits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
}

impl Default for PullRequestStatus {
    fn default() -> Self {
        Self { state: PullRequestState::Open, sent_back: 0, task: None, needs_you: None, seen: Vec::new() }
    }
}

/// The answer of the host about a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequestNews {
    pub state: PullRequestState,
    /// The tip of its branch on the host.
    pub head: Sha,
    /// Whether the host cannot merge it, because the base branch changed the same lines.
    pub has_conflicts: bool,
    pub failed_checks: Vec<FailedCheck>,
    /// Remarks of people who may write to the repository. Those of others lead to no work of an agent.
    pub remarks: Vec<Remark>,
}

/// A check that failed at the tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedCheck {
    pub name: String,
    pub address: String,
    /// The run whose log has the failure, if the host keeps one.
    pub run: Option<String>,
    /// The end of its log.
    pub log: String,
}

/// Returns the text of a comment in the conversation of a pull request if it is a request to the board: it begins with [`REQUEST_MARK`].
pub fn request_in(comment: &str) -> Option<&str> {
    let rest = comment.trim_start().strip_prefix(REQUEST_MARK)?;
    let is_whole = rest.starts_with(|letter: char| letter.is_whitespace() || letter == ':');
    Some(rest.trim_start_matches(':').trim()).filter(|text| is_whole && !text.is_empty())
}

/// A review or a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    pub id: String,
    pub author: String,
    /// The file and line that it is about.
    pub place: Option<String>,
    /// Whether it asks for changes, so that the pull request cannot be merged.
    pub asks_for_changes: bool,
    pub text: String,
}

/// The step that follows from the news.
#[derive(Debug, Clone, PartialEq)]
pub enum NextStep {
    /// Nothing is new, or the last task about it is still open.
    Wait,
    /// Its work is on the base branch of the remote.
    Merged,
    /// Someone closed it without merging.
    Closed,
    /// These checks and remarks, by their keys, come back as a task.
    SendBack { seen: Vec<String>, checks: Vec<FailedCheck>, remarks: Vec<Remark> },
    /// They came back often enough, or it conflicts with its base branch.
    AskPerson { seen: Vec<String>, detail: String },
}

impl PullRequestStatus {
    /// Decides what follows. `pushed` is the tip that was pushed last; checks of another one do not count. `is_waiting` says that the last task
    /// about the pull request is still open.
    pub fn next_step(&self, news: &PullRequestNews, pushed: &Sha, is_waiting: bool) -> NextStep {
        match news.state {
            PullRequestState::Merged => return NextStep::Merged,
            PullRequestState::Closed => return NextStep::Closed,
            PullRequestState::Open => {}
        }
        if is_waiting || self.needs_you.is_some() {
            return NextStep::Wait;
        }
        let is_new = |key: &String| !self.seen.contains(key);
        let checks = news.failed_checks.iter().filter(|check| news.head == *pushed && is_new(&check.key(&news.head)));
        let checks: Vec<FailedCheck> = checks.take(MAX_IN_A_TASK).cloned().collect();
        let remarks: Vec<Remark> = news.remarks.iter().filter(|remark| is_new(&remark.id)).take(MAX_IN_A_TASK).cloned().collect();
        let seen: Vec<String> = checks.iter().map(|check| check.key(&news.head)).chain(remarks.iter().map(|remark| remark.id.clone())).collect();
        if seen.is_empty() {
            let conflict = format!("conflict {}", short(&news.head));
            let is_told = !news.has_conflicts || news.head != *pushed || !is_new(&conflict);
            let detail = "Its host cannot merge it, because it conflicts with its base branch".to_owned();
            return if is_told { NextStep::Wait } else { NextStep::AskPerson { seen: vec![conflict], detail } };
        }
        if self.sent_back < MAX_SENT_BACK {
            return NextStep::SendBack { seen, checks, remarks };
        }
        let what = match (checks.first(), remarks.len()) {
            (Some(check), _) => format!("{} failed", name(&check.name)),
            (None, count) => format!("{count} new {}", if count == 1 { "remark" } else { "remarks" }),
        };
        NextStep::AskPerson { seen, detail: format!("{what}, after its findings came back to a coder {MAX_SENT_BACK} times") }
    }
}

impl FailedCheck {
    /// A check that fails again at another commit is new.
    fn key(&self, head: &Sha) -> String {
        format!("check {} {}", short(head), name(&self.name))
    }
}

/// The task for a coder about failed checks and remarks.
pub fn task_about(address: &str, checks: &[FailedCheck], remarks: &[Remark]) -> TaskText {
    let title = match (checks, remarks) {
        ([check], []) => format!("Fix the check “{}” of the pull request", name(&check.name)),
        (_, []) => "Fix the checks of the pull request".to_owned(),
        ([], _) => "Address the review of the pull request".to_owned(),
        _ => "Fix the checks of the pull request, and address its review".to_owned(),
    };
    let about = format!("This work is under review as {address}. The board pushes it; do not push yourself.");
    let mut parts = vec![about.clone()];
    let share = |characters: usize, count: usize| characters / count.max(1);
    for check in checks {
        let log = if check.log.trim().is_empty() {
            String::new()
        } else {
            format!("\n\n{}", fenced_end("end of its log", &check.log, share(LOG_CHARACTERS, checks.len())))
        };
        parts.push(format!("The check “{}” failed: {}{log}", name(&check.name), one_line(&check.address)));
    }
    for remark in remarks {
        let asks = if remark.asks_for_changes { "asks for changes" } else { "commented" };
        let place = remark.place.as_ref().map(|place| format!(" on {}", name(place))).unwrap_or_default();
        parts.push(format!(
            "{} {asks}{place}.\n\n{}",
            name(&remark.author),
            fenced("comment", &remark.text, share(REMARK_CHARACTERS, remarks.len()))
        ));
    }
    parts.push("If a finding is wrong, say why in your summary instead of changing the code.".to_owned());
    let text = parts.join("\n\n");
    // Letters of four bytes can make it too long.
    let description = if text.len() > BODY_BYTES { format!("{about}\n\nRead its checks and reviews there.") } else { text };
    TaskText { title, description }
}

fn name(given: &str) -> String {
    one_line(given).chars().take(NAME_CHARACTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str) -> FailedCheck {
        FailedCheck { name: name.to_owned(), address: "https://ci.example/1".to_owned(), run: None, log: "error: a\nerror: b\n".to_owned() }
    }

    fn remark(id: &str) -> Remark {
        Remark {
            id: id.to_owned(),
            author: "ann".to_owned(),
            place: Some("src/a.rs:3".to_owned()),
            asks_for_changes: true,
            text: "Use a map.".to_owned(),
        }
    }

    fn news(state: PullRequestState, checks: &[&str], remarks: &[&str]) -> PullRequestNews {
        let (failed_checks, remarks) = (checks.iter().map(|name| check(name)).collect(), remarks.iter().map(|id| remark(id)).collect());
        PullRequestNews { state, head: "a123456789".to_owned(), has_conflicts: false, failed_checks, remarks }
    }

    #[test]
    fn conflict_with_the_base_needs_a_person_once_for_each_commit() {
        let (pushed, other) = ("a123456789".to_owned(), "b1".to_owned());
        let mut known = PullRequestStatus::default();
        let conflicting = PullRequestNews { has_conflicts: true, ..news(PullRequestState::Open, &[], &[]) };
        assert_eq!(known.next_step(&conflicting, &other, false), NextStep::Wait, "a newer commit is on its way");
        let NextStep::AskPerson { seen, detail } = known.next_step(&conflicting, &pushed, false) else { panic!() };
        assert_eq!(
            (seen.as_slice(), detail.as_str()),
            (["conflict a123456".to_owned()].as_slice(), "Its host cannot merge it, because it conflicts with its base branch")
        );
        known.seen = seen;
        assert_eq!(known.next_step(&conflicting, &pushed, false), NextStep::Wait);
        let failed = PullRequestNews { has_conflicts: true, ..news(PullRequestState::Open, &["test"], &[]) };
        assert!(matches!(known.next_step(&failed, &pushed, false), NextStep::SendBack { .. }), "a coder can go on with the rest");
    }

    #[test]
    fn news_come_back_twice_and_then_need_a_person() {
        let pushed = "a123456789".to_owned();
        let mut known = PullRequestStatus::default();
        let open = |checks: &[&str], remarks: &[&str]| news(PullRequestState::Open, checks, remarks);
        assert_eq!(known.next_step(&open(&[], &[]), &pushed, false), NextStep::Wait);
        let NextStep::SendBack { seen, .. } = known.next_step(&open(&["test"], &["R1"]), &pushed, false) else { panic!() };
        assert_eq!(seen, ["check a123456 test", "R1"]);
        assert_eq!(known.next_step(&open(&["test"], &["R1"]), &pushed, true), NextStep::Wait, "the last task is open");
        assert_eq!(known.next_step(&open(&["test"], &[]), &"b1".to_owned(), false), NextStep::Wait, "the check is of another commit");
        known.seen = seen;
        assert_eq!(known.next_step(&open(&["test"], &["R1"]), &pushed, false), NextStep::Wait, "nothing is new");
        known.sent_back = 2;
        let NextStep::AskPerson { detail, .. } = known.next_step(&open(&["lint"], &["R1"]), &pushed, false) else { panic!() };
        assert_eq!(detail, "lint failed, after its findings came back to a coder 2 times");
        for (state, expected) in [(PullRequestState::Merged, NextStep::Merged), (PullRequestState::Closed, NextStep::Closed)] {
            assert_eq!(known.next_step(&news(state, &["lint"], &[]), &pushed, true), expected);
        }
    }

    #[test]
    fn comment_with_the_mark_is_a_request() {
        assert_eq!(request_in(" /vibe-relay Sort the menu.\nBy name."), Some("Sort the menu.\nBy name."));
        assert_eq!(request_in("/vibe-relay: sort it"), Some("sort it"));
        for talk in ["Nice.", "Ask /vibe-relay to sort it", "/vibe-relays", "/vibe-relay", "/vibe-relay  \n"] {
            assert_eq!(request_in(talk), None, "{talk}");
        }
    }

    #[test]
    fn task_repeats_what_others_wrote_between_marks() {
        let task = task_about("https://github.com/ann/site/pull/7", &[check("test\u{202e} (linux)")], &[remark("R1")]);
        assert_eq!(task.title, "Fix the checks of the pull request, and address its review");
        insta::assert_snapshot!(task.description);
        let log = "x".repeat(10_000);
        let long = task_about("", &[FailedCheck { log, ..check("a") }], &[]).description;
        assert!(long.len() < 7_000, "{}", long.len());
        let many: Vec<Remark> = (0..20).map(|_| Remark { author: "😀".repeat(1_000), text: "😀".repeat(10_000), ..remark("R1") }).collect();
        assert!(task_about("", &[], &many).description.len() <= BODY_BYTES);
    }
}
