//! The text of the pull request of a project. Must not know where it is opened.

use crate::board::card::Card;
use crate::board::project::Project;

/// The tasks that it names.
const MAX_TASKS: usize = 100;
/// The part of the goal that it repeats, in characters.
const GOAL_CHARACTERS: usize = 4_000;

/// Returns the text of the pull request of a project: its goal, and the tasks whose work it has.
pub fn pull_request_text(project: &Project, tasks: &[Card]) -> String {
    let goal = project.description.as_deref().map(|goal| goal.trim().chars().take(GOAL_CHARACTERS).collect());
    let named = tasks.iter().take(MAX_TASKS).map(|task| format!("- {} ({})", task.title, task.id));
    let mut list: Vec<String> = named.collect();
    if let Some(more) = tasks.len().checked_sub(MAX_TASKS).filter(|more| *more > 0) {
        list.push(format!("- and {more} more"));
    }
    let tasks = format!("## Tasks\n\n{}", list.join("\n"));
    let end = format!("Each task was reviewed and merged on the board of vibe-relay, project {}.", project.id);
    goal.into_iter().chain([tasks, end]).collect::<Vec<_>>().join("\n\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::project::tests::{card, project};
    use crate::board::status::Status;
    use crate::runs::agent_kind::AgentKind;

    #[test]
    fn text_names_the_goal_and_the_tasks() {
        let task = |number| card(number, AgentKind::Coder, Status::Done);
        insta::assert_snapshot!(pull_request_text(&project(), &[task(2), task(3)]), @r"
        Say hello

        ## Tasks

        - Task 2 (TASK-002)
        - Task 3 (TASK-003)

        Each task was reviewed and merged on the board of vibe-relay, project PROJ-001.
        ");
        let many: Vec<Card> = (1..=103).map(task).collect();
        let text = pull_request_text(&project(), &many);
        assert!(text.contains("\n- and 3 more\n") && text.matches("TASK-").count() == MAX_TASKS, "{text}");
    }
}
