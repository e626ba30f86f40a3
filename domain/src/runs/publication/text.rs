//! The text of the pull request of a project. Must not know where it is opened.

use crate::board::card::Card;
use crate::board::project::Project;
use crate::runs::check::CheckState;
use crate::runs::publication::pull_request::REQUEST_MARK;

/// The tasks that it names.
const MAX_TASKS: usize = 100;
/// The part of the goal that it repeats, in characters.
const GOAL_CHARACTERS: usize = 4_000;

/// Returns the text of the pull request of a project: its goal, the tasks whose work it has, and the issues that it closes.
pub fn pull_request_text(project: &Project, tasks: &[Card], closing: &[String]) -> String {
    let goal = project.description.as_deref().map(|goal| goal.trim().chars().take(GOAL_CHARACTERS).collect());
    let named = tasks.iter().take(MAX_TASKS).map(line);
    let mut list: Vec<String> = named.collect();
    if let Some(more) = tasks.len().checked_sub(MAX_TASKS).filter(|more| *more > 0) {
        list.push(format!("- and {more} more"));
    }
    let tasks = format!("## Tasks\n\n{}", list.join("\n"));
    let end = format!(
        "Each task was reviewed and merged on the board of vibe-relay, project {}. Failed checks, reviews, and comments that begin with \
         `{REQUEST_MARK}` go back to its coders.",
        project.id
    );
    let closing = (!closing.is_empty()).then(|| closing.join("\n"));
    goal.into_iter().chain([tasks]).chain(closing).chain([end]).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// A task with who reviewed it and how its checks ended.
fn line(task: &Card) -> String {
    let reviewer = task.contributors.approved_by.as_ref().map(|name| format!(", reviewed by {name}"));
    let passed = task.checks.iter().any(|checks| checks.state == CheckState::Passed).then(|| ", checks passed".to_owned());
    format!("- {} ({}){}{}", task.title, task.id, reviewer.unwrap_or_default(), passed.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::project::tests::{card, project};
    use crate::board::status::Status;
    use crate::runs::agent_kind::AgentKind;
    use crate::runs::check::{CheckStage, TaskChecks};

    #[test]
    fn text_names_the_goal_and_the_tasks() {
        let task = |number| card(number, AgentKind::Coder, Status::Done);
        let mut reviewed = task(2);
        reviewed.contributors.approved_by = Some("reviewer-TASK-002".to_owned());
        let (sha, tree) = ("a1".to_owned(), "b2".to_owned());
        reviewed.checks = vec![TaskChecks { stage: CheckStage::Full, state: CheckState::Passed, sha, tree, profile_version: 1 }];
        insta::assert_snapshot!(pull_request_text(&project(), &[reviewed, task(3)], &["Closes #7".to_owned()]), @r"
        Say hello

        ## Tasks

        - Task 2 (TASK-002), reviewed by reviewer-TASK-002, checks passed
        - Task 3 (TASK-003)

        Closes #7

        Each task was reviewed and merged on the board of vibe-relay, project PROJ-001. Failed checks, reviews, and comments that begin with `/vibe-relay` go back to its coders.
        ");
        let many: Vec<Card> = (1..=103).map(task).collect();
        let text = pull_request_text(&project(), &many, &[]);
        assert!(text.contains("\n- and 3 more\n") && text.matches("TASK-").count() == MAX_TASKS, "{text}");
    }
}
