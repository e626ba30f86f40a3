//! Requests about projects, plans, tasks, comments, review gates and goals.

mod activity;
mod review;

pub(crate) use activity::ActivityFilter;

use domain::board::goal::{Goal, NewGoal};
use domain::board::needs_you::NeedsYouList;
use domain::board::order::NewPlace;
use domain::board::project::Project;
use domain::board::project::summary::ProjectSummary;
use domain::board::report::Report;
use domain::board::review_round::ReviewRound;
use domain::board::search::SearchHit;
use domain::board::status::Status;
use domain::board::task::retry::RetryOptions;
use domain::board::task::{NewTask, TaskPatch};
use domain::id::{CommentId, GoalId, ProjectId, TaskId};
use domain::runs::diff::Diff;
use domain::runs::evidence::{RepositoryInfo, Sha, UncommittedFiles};
use domain::runs::publication::issue::IssueImport;
use domain::time::Timestamp;
use domain::wire::PlanView;
use domain::wire::{
    Approval, BoardView, Cancel, CardPage, CommentView, LinkGoal, List, NewProject, Notes, OpenCards, ProjectDeletion, ProjectPatch, Relocation,
    TaskView, TextBody,
};
use gloo_net::http::{Method, Request};
use serde::Deserialize;
use serde::de::IgnoredAny;
use web_sys::AbortSignal;

use super::{Client, Empty, Failure, project_path, task_path};
use crate::components::badge::UNSTARTED;

/// The part of a changed task's view that a change needs to know. The rest arrives as an event.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct ChangedTask {
    pub(crate) id: TaskId,
    pub(crate) project_id: ProjectId,
    pub(crate) status: Status,
    /// A further effect of the change.
    #[serde(default)]
    pub(crate) note: Option<String>,
}

/// The answers that a question offers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct OfferedAnswers {
    pub(crate) options: Vec<String>,
    pub(crate) default: Option<String>,
}

#[derive(Deserialize)]
struct AskingTask {
    question: Option<OfferedAnswers>,
}

impl Client {
    pub(crate) async fn projects(self) -> Result<List<ProjectSummary>, Failure> {
        self.get("/api/projects").await
    }

    /// The decisions that wait for the reader, on all projects.
    pub(crate) async fn needs_you(self) -> Result<NeedsYouList, Failure> {
        self.get("/api/needs-you").await
    }

    /// Texts of all projects with these words, the best match first.
    pub(crate) async fn search(self, words: &str) -> Result<List<SearchHit>, Failure> {
        self.finish(Request::get("/api/search").query([("q", words)])).await
    }

    /// The report of the time since `since`.
    pub(crate) async fn report(self, since: Timestamp) -> Result<Report, Failure> {
        self.finish(Request::get("/api/report").query([("since", since.to_string())])).await
    }

    pub(crate) async fn create_project(self, new: NewProject) -> Result<Project, Failure> {
        self.send(Method::POST, "/api/projects", &new).await
    }

    pub(crate) async fn edit_project(self, project: ProjectId, patch: ProjectPatch) -> Result<Project, Failure> {
        self.send(Method::PATCH, &project_path(&project, ""), &patch).await
    }

    pub(crate) async fn archived_projects(self) -> Result<List<ProjectSummary>, Failure> {
        self.get("/api/projects?archived=true").await
    }

    /// Archives a project, or restores it.
    pub(crate) async fn set_archived(self, project: ProjectId, archived: bool) -> Result<Project, Failure> {
        self.send(Method::POST, &project_path(&project, if archived { "/archive" } else { "/restore" }), &Empty {}).await
    }

    /// Deletes a project. The title proves that this one is meant.
    pub(crate) async fn delete_project(self, project: ProjectId, title: String) -> Result<Project, Failure> {
        self.send(Method::DELETE, &project_path(&project, ""), &ProjectDeletion { title }).await
    }

    /// Names the folder that the repository of a project was moved to.
    pub(crate) async fn relocate_project(self, project: ProjectId, to: Relocation) -> Result<Project, Failure> {
        self.send(Method::POST, &project_path(&project, "/relocate"), &to).await
    }

    /// Inspects the repository at `path`. With `make_base`, `base_branch` may be a branch of a remote, from which a local one would be made.
    pub(crate) async fn probe(self, path: &str, base_branch: Option<&str>, make_base: bool) -> Result<RepositoryInfo, Failure> {
        let mut query = vec![("path", path), ("make_base", if make_base { "true" } else { "false" })];
        query.extend(base_branch.map(|branch| ("base_branch", branch)));
        self.finish(Request::get("/api/repository").query(query)).await
    }

    /// Counts the uncommitted files of the checkout at `path`. The server stops counting when the request is aborted.
    pub(crate) async fn uncommitted(self, path: &str, abort: Option<&AbortSignal>) -> Result<UncommittedFiles, Failure> {
        self.finish(Request::get("/api/repository/uncommitted").query([("path", path)]).abort_signal(abort)).await
    }

    pub(crate) async fn board(self, project: &ProjectId) -> Result<BoardView, Failure> {
        self.get(&project_path(project, "/board")).await
    }

    /// A page of the open cards of all projects.
    pub(crate) async fn open_cards(self, after: Option<ProjectId>) -> Result<OpenCards, Failure> {
        self.finish(Request::get("/api/board").query(after.map(|after| ("after", after.to_string())))).await
    }

    /// The page of finished cards that follows the cursor `before`, newest first.
    pub(crate) async fn finished_cards(self, project: ProjectId, status: Status, before: String) -> Result<CardPage, Failure> {
        let path = project_path(&project, "/cards");
        self.finish(Request::get(&path).query([("status", status.as_str()), ("before", &before)])).await
    }

    /// Stops the agent of a task, so that the reader continues by hand.
    pub(crate) async fn take_over(self, task: TaskId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/take-over"), &Empty {}).await
    }

    /// Lets agents continue a task that was taken over.
    pub(crate) async fn give_back(self, task: TaskId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/give-back"), &Empty {}).await
    }

    /// The plan that awaits approval.
    pub(crate) async fn plan(self, project: ProjectId) -> Result<PlanView, Failure> {
        self.get(&project_path(&project, "/plan")).await
    }

    pub(crate) async fn approve_plan(self, project: ProjectId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/plan/approve"), &Empty {}).await
    }

    /// Sends the plan back to the planner with feedback.
    pub(crate) async fn revise_plan(self, project: ProjectId, content: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/plan/revise"), &TextBody { content }).await
    }

    /// Makes an issue a task.
    pub(crate) async fn import_issue(self, project: ProjectId, import: IssueImport) -> Result<ChangedTask, Failure> {
        self.send(Method::POST, &project_path(&project, "/issues"), &import).await
    }

    pub(crate) async fn create_task(self, project: ProjectId, new: NewTask) -> Result<ChangedTask, Failure> {
        self.send(Method::POST, &project_path(&project, "/tasks"), &new).await
    }

    /// The project of a task.
    pub(crate) async fn project_of(self, task: TaskId) -> Result<ProjectId, Failure> {
        let task: ChangedTask = self.get(&task_path(&task, "")).await?;
        Ok(task.project_id)
    }

    /// The answers that the open question of a task offers.
    pub(crate) async fn offered_answers(self, task: TaskId) -> Result<Option<OfferedAnswers>, Failure> {
        let task: AskingTask = self.get(&task_path(&task, "")).await?;
        Ok(task.question)
    }

    pub(crate) async fn task(self, task: TaskId) -> Result<TaskView, Failure> {
        self.get(&task_path(&task, "")).await
    }

    pub(crate) async fn patch_task(self, task: TaskId, patch: TaskPatch) -> Result<ChangedTask, Failure> {
        self.send(Method::PATCH, &task_path(&task, ""), &patch).await
    }

    /// Puts a task before or after another one of its column.
    pub(crate) async fn reorder(self, task: TaskId, place: NewPlace) -> Result<ChangedTask, Failure> {
        self.send(Method::POST, &task_path(&task, "/reorder"), &place).await
    }

    /// Takes back the removal of a task.
    pub(crate) async fn restore(self, task: TaskId) -> Result<ChangedTask, Failure> {
        self.patch_task(task, TaskPatch { status: Some(UNSTARTED), ..TaskPatch::default() }).await
    }

    pub(crate) async fn start(self, task: TaskId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/start"), &Empty {}).await
    }

    /// Stops the agent of a task and holds the task.
    pub(crate) async fn hold(self, task: TaskId) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/stop"), &Empty {}).await
    }

    pub(crate) async fn retry(self, task: TaskId, options: RetryOptions) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/retry"), &options).await
    }

    pub(crate) async fn cancel(self, task: TaskId, reason: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/cancel"), &Cancel { reason }).await
    }

    /// Answers the open question of a task.
    pub(crate) async fn answer(self, task: TaskId, content: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/answer"), &TextBody { content }).await
    }

    pub(crate) async fn comments(self, task: TaskId) -> Result<List<CommentView>, Failure> {
        self.get(&task_path(&task, "/comments")).await
    }

    pub(crate) async fn comment(self, task: TaskId, content: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/comments"), &TextBody { content }).await
    }

    pub(crate) async fn edit_comment(self, comment: CommentId, content: String) -> Result<CommentView, Failure> {
        self.send(Method::PATCH, &format!("/api/comments/{comment}"), &TextBody { content }).await
    }

    pub(crate) async fn remove_comment(self, comment: CommentId) -> Result<IgnoredAny, Failure> {
        self.send(Method::DELETE, &format!("/api/comments/{comment}"), &Empty {}).await
    }

    pub(crate) async fn diff(self, task: TaskId) -> Result<Diff, Failure> {
        self.get(&task_path(&task, "/diff")).await
    }

    pub(crate) async fn review_rounds(self, task: TaskId) -> Result<List<ReviewRound>, Failure> {
        self.get(&task_path(&task, "/rounds")).await
    }

    pub(crate) async fn review_round_diff(self, task: TaskId, number: u32) -> Result<Diff, Failure> {
        self.get(&task_path(&task, &format!("/rounds/diff?number={number}"))).await
    }

    /// Approves a submission. `sha` is the commit that the person read; work without a branch has none.
    pub(crate) async fn approve(self, task: TaskId, notes: Option<String>, sha: Option<Sha>) -> Result<ChangedTask, Failure> {
        self.send(Method::POST, &task_path(&task, "/approve"), &Approval { notes, sha }).await
    }

    pub(crate) async fn verify(self, task: TaskId, notes: Option<String>) -> Result<ChangedTask, Failure> {
        self.send(Method::POST, &task_path(&task, "/verify"), &Notes { notes }).await
    }

    pub(crate) async fn goals(self, project: ProjectId) -> Result<List<Goal>, Failure> {
        self.get(&project_path(&project, "/goals")).await
    }

    pub(crate) async fn create_goal(self, project: ProjectId, new: NewGoal) -> Result<Goal, Failure> {
        self.send(Method::POST, &project_path(&project, "/goals"), &new).await
    }

    /// Signs off a goal.
    pub(crate) async fn verify_goal(self, goal: GoalId, notes: Option<String>) -> Result<Goal, Failure> {
        self.send(Method::POST, &format!("/api/goals/{goal}/verify"), &Notes { notes }).await
    }

    pub(crate) async fn link_goal(self, task: TaskId, goal_id: Option<GoalId>) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/goal"), &LinkGoal { goal_id }).await
    }
}
