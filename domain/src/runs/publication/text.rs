//! The text of the pull request of a project, or of one task. Must not know where it is opened.

use crate::board::card::Card;
use crate::board::comment::{AuthorRole, Comment};
use crate::board::project::Project;
use crate::runs::check::CheckState;
use crate::runs::publication::pull_request::REQUEST_MARK;
use crate::text::foreign::visible;

/// The tasks that it names.
const MAX_TASKS: usize = 100;
/// The part of the goal that it repeats, in characters.
const GOAL_CHARACTERS: usize = 4_000;
/// The newest comments of agents that the text of a task repeats, and the part of each, in characters.
const MAX_COMMENTS: usize = 5;
const COMMENT_CHARACTERS: usize = 1_500;

/// Returns the text of the pull request of a project: its goal, the tasks whose work it has, and the issues that it closes.
pub fn pull_request_text(project: &Project, tasks: &[Card], closing: &[String]) -> String {
    let goal = project.description.as_deref().map(beginning);
    let named = tasks.iter().take(MAX_TASKS).map(line);
    let mut list: Vec<String> = named.collect();
    if let Some(more) = tasks.len().checked_sub(MAX_TASKS).filter(|more| *more > 0) {
        list.push(format!("- and {more} more"));
    }
    let tasks = format!("## Tasks\n\n{}", list.join("\n"));
    let end = format!(
        "Each task was reviewed and merged on a vibe-relay board, project {}. Failed checks, reviews, and comments that begin with \
         `{REQUEST_MARK}` go back to its coders.",
        project.id
    );
    let closing = (!closing.is_empty()).then(|| closing.join("\n"));
    goal.into_iter().chain([tasks]).chain(closing).chain([end]).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// Returns the text of the pull request of a task: its description, the last words of its agents, its checks, and the issues that it closes.
pub fn task_pull_request_text(card: &Card, description: Option<&str>, comments: &[Comment], closing: &[String]) -> String {
    let description = description.map(beginning);
    let of_agents = |comment: &&Comment| matches!(comment.author_role, AuthorRole::Coder | AuthorRole::Reviewer | AuthorRole::Agent);
    let mut said: Vec<String> = comments.iter().rev().filter(of_agents).take(MAX_COMMENTS).map(quoted).collect();
    said.reverse();
    let said = (!said.is_empty()).then(|| format!("## From the agents\n\n{}", said.join("\n\n")));
    let reviewed = card.contributors.approved_by.as_ref().map(|name| format!("- reviewed by {name}"));
    let checks = card.checks.iter().map(|checks| format!("- {} checks: {}", checks.stage, checks.state));
    let judged: Vec<String> = reviewed.into_iter().chain(checks).collect();
    let judged = (!judged.is_empty()).then(|| format!("## Review and checks\n\n{}", judged.join("\n")));
    let closing = (!closing.is_empty()).then(|| closing.join("\n"));
    let end = format!(
        "This is {} of project {} on a vibe-relay board. The task is done when this is merged. Failed checks, reviews, and comments that \
         begin with `{REQUEST_MARK}` go back to its coder.",
        card.id, card.project_id
    );
    [description, said, judged, closing, Some(end)].into_iter().flatten().collect::<Vec<String>>().join("\n\n") + "\n"
}

/// The beginning of a text. A block of code that the cut leaves open is closed, or it would hide what follows, such as the issues to close.
fn beginning(text: &str) -> String {
    let text = text.trim();
    let mut kept: String = text.chars().take(GOAL_CHARACTERS).collect();
    if kept.len() == text.len() {
        return kept;
    }
    let mut open: Option<&str> = None;
    for line in text[..kept.len()].lines() {
        let rest = line.trim_start_matches('`');
        let fence = &line[..line.len() - rest.len()];
        match open {
            None if fence.len() >= 3 => open = Some(fence),
            Some(begun) if fence.len() >= begun.len() && rest.trim().is_empty() => open = None,
            _ => {}
        }
    }
    kept.push('…');
    if let Some(fence) = open {
        kept.push('\n');
        kept.push_str(fence);
    }
    kept
}

/// A comment as a quotation, so that its headings and lists stay within it.
fn quoted(comment: &Comment) -> String {
    let text = visible(&comment.content);
    let (mut kept, count) = (text.trim().chars().take(COMMENT_CHARACTERS).collect::<String>(), text.trim().chars().count());
    if count > COMMENT_CHARACTERS {
        kept.push('…');
    }
    let lines: Vec<String> = kept.lines().map(|line| format!("> {line}")).collect();
    format!("{}:\n\n{}", comment.author(), lines.join("\n"))
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
    use crate::id::CommentId;
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

        Each task was reviewed and merged on a vibe-relay board, project PROJ-001. Failed checks, reviews, and comments that begin with `/vibe-relay` go back to its coders.
        ");
        let many: Vec<Card> = (1..=103).map(task).collect();
        let text = pull_request_text(&project(), &many, &[]);
        assert!(text.contains("\n- and 3 more\n") && text.matches("TASK-").count() == MAX_TASKS, "{text}");
    }

    #[test]
    fn cut_block_of_code_is_closed_so_that_the_issue_is_too() {
        let long = format!("Do it.\n\n```` issue 7\n```\n{}\n````\nMore.", "x ".repeat(GOAL_CHARACTERS));
        let text = task_pull_request_text(&card(2, AgentKind::Coder, Status::InReview), Some(&long), &[], &["Closes #7".to_owned()]);
        assert!(text.contains("x…\n````\n\nCloses #7\n") || text.contains(" …\n````\n\nCloses #7\n"), "{}", &text[3_900..]);
        let whole = format!("```\na\n```\n{}", "x ".repeat(GOAL_CHARACTERS));
        assert!(beginning(&whole).ends_with('…'), "no block is open at the cut");
        assert_eq!(beginning(" short\n```\n"), "short\n```");
    }

    #[test]
    fn text_of_a_task_has_what_its_agents_said_as_quotations() {
        let mut task = card(2, AgentKind::Coder, Status::InReview);
        task.contributors.approved_by = Some("reviewer-TASK-002".to_owned());
        let (sha, tree) = ("a1".to_owned(), "b2".to_owned());
        task.checks = vec![TaskChecks { stage: CheckStage::Quick, state: CheckState::Passed, sha, tree, profile_version: 1 }];
        let comment = |author_role, content: &str| Comment {
            id: CommentId::new(1),
            task_id: task.id.clone(),
            author_role,
            author_name: None,
            run_id: None,
            content: content.to_owned(),
            created_at: task.created_at,
            edited_at: None,
        };
        let comments = [
            comment(AuthorRole::Human, "Between us."),
            comment(AuthorRole::Coder, "# Done\n\u{202e}Tests pass."),
            comment(AuthorRole::Reviewer, &"x".repeat(2_000)),
        ];
        let text = task_pull_request_text(&task, Some("Add a menu"), &comments, &["Closes #7".to_owned()]);
        insta::assert_snapshot!(text.replace(&"x".repeat(1_500), "xx"), @r"
        Add a menu

        ## From the agents

        coder:

        > # Done
        > Tests pass.

        reviewer:

        > xx…

        ## Review and checks

        - reviewed by reviewer-TASK-002
        - quick checks: passed

        Closes #7

        This is TASK-002 of project PROJ-001 on a vibe-relay board. The task is done when this is merged. Failed checks, reviews, and comments that begin with `/vibe-relay` go back to its coder.
        ");
        let many: Vec<Comment> = (0..9).map(|number| comment(AuthorRole::Coder, &format!("word {number}"))).collect();
        let text = task_pull_request_text(&task, None, &many, &[]);
        assert!(text.matches("> word").count() == MAX_COMMENTS && text.contains("> word 8"), "{text}");
    }
}
