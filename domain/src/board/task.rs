//! Tasks with all their fields, and the arguments that create and change them.
//!
//! Must not know legal moves, which are in `transition`, nor how a task is stored.

pub mod event;
pub mod refusal;
pub mod retry;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::planned_files::PlannedFiles;
use crate::board::stage::Stage;
use crate::board::status::Status;
use crate::id::{GoalId, TaskId};
use crate::refusal::Refusal;
use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::team::role::Role;
use crate::text;
use crate::time::Timestamp;

/// A task with all its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Task {
    // Flattened, so that the JSON object has all fields at the top.
    #[serde(flatten)]
    pub card: Card,
    pub description: Option<String>,
    pub worktree_path: Option<String>,
    pub branch: Option<String>,
    /// The session of the task's own kind of agent, which later attempts resume.
    pub session_id: Option<String>,
    /// The model for this task, if it differs from the configuration.
    pub model: Option<String>,
    /// The commit that was merged into the project branch.
    pub merged_sha: Option<Sha>,
    /// How often a review or a conflict sent it back.
    pub review_rounds: u32,
    /// The files that it is planned to change.
    #[serde(default, skip_serializing_if = "PlannedFiles::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub files: PlannedFiles,
    /// The participant that created it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    /// The submission of its assignee: text, or JSON with summary, files and test results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<Timestamp>,
    /// The branch of the repository whose tip its work begins at, instead of that of the project branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_branch: Option<String>,
}

/// The fields of a task that people and planners set, validated. All others follow from what happens to the task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFields {
    pub title: String,
    pub description: Option<String>,
    pub model: Option<String>,
    pub priority: i64,
    pub files: PlannedFiles,
    /// Only a new task has it set; it is not changed afterwards.
    pub from_branch: Option<String>,
}

impl TaskFields {
    /// Returns the names of the fields that differ.
    pub fn changed_since(&self, before: &Self) -> Vec<&'static str> {
        [
            ("title", self.title != before.title),
            ("description", self.description != before.description),
            ("model", self.model != before.model),
            ("priority", self.priority != before.priority),
            ("files", self.files != before.files),
        ]
        .into_iter()
        .filter_map(|(name, changed)| changed.then_some(name))
        .collect()
    }
}

impl From<&Task> for TaskFields {
    fn from(task: &Task) -> Self {
        Self {
            title: task.card.title.clone(),
            description: task.description.clone(),
            model: task.model.clone(),
            priority: task.card.priority,
            files: task.files.clone(),
            from_branch: task.from_branch.clone(),
        }
    }
}

/// The arguments for a new task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTask {
    #[schema(value_type = crate::text_schema::Title)]
    pub title: String,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub description: Option<String>,
    /// The default is coder.
    #[serde(default)]
    pub phase: Option<AgentKind>,
    #[serde(default)]
    pub parent_task_id: Option<TaskId>,
    #[serde(default)]
    pub depends_on: Vec<TaskId>,
    #[serde(default)]
    pub priority: Option<i64>,
    /// The files and folders that it is planned to change, such as `src/parser/`.
    #[serde(default)]
    pub files: Vec<String>,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub model: Option<String>,
    /// Whether the runner can start it at once. Otherwise a task that the human creates is held until they press Start.
    #[serde(default)]
    pub start: bool,
    /// The assignee, an external agent.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::ParticipantName>)]
    pub assigned_to: Option<String>,
    /// The hat of the assignee.
    #[serde(default)]
    pub role_hat: Option<Role>,
    #[serde(default)]
    pub goal_id: Option<GoalId>,
    /// A local branch of the repository whose tip the work begins at; default: the project branch. Its commits are reviewed and merged with the
    /// work.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub from_branch: Option<String>,
}

impl NewTask {
    /// # Errors
    /// When a text is invalid.
    pub fn fields(&self) -> Result<TaskFields, Refusal> {
        Ok(TaskFields {
            title: text::validate_title("title", &self.title)?,
            description: text::validate_optional_body("description", self.description.as_deref())?,
            model: text::validate_optional_body("model", self.model.as_deref())?,
            priority: self.priority.unwrap_or_default(),
            files: PlannedFiles::parse(&self.files)?,
            from_branch: text::validate_optional_body("from_branch", self.from_branch.as_deref())?,
        })
    }
}

/// The refusal of a new task that begins at a branch which the repository lacks.
pub fn unknown_branch(branch: &str) -> Refusal {
    Refusal::invalid("from_branch", format!("the repository has no local branch {branch}"), "Name a branch that `git branch` lists, or omit it.")
}

/// `PATCH /api/tasks/{id}`: omitted fields stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskPatch {
    #[serde(default)]
    pub status: Option<Status>,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::Title>)]
    pub title: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub description: Option<String>,
    /// The reason of the move. To cancel: failed, abandoned, obsolete or duplicate. To send back: the needed change, stored as a comment.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub reason: Option<String>,
    #[serde(default)]
    pub depends_on: Option<Vec<TaskId>>,
    #[serde(default)]
    pub priority: Option<i64>,
    #[serde(default)]
    pub files: Option<Vec<String>>,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub model: Option<String>,
    /// `false` with a move to done closes the task without a merge.
    #[serde(default)]
    pub merge: Option<bool>,
    /// The commit that the person read, with a move to done. If it is given, another one is refused. Without it, as a script sends it, the
    /// newest commit of the branch is approved.
    #[serde(default)]
    pub sha: Option<Sha>,
}

impl TaskPatch {
    /// Returns the fields of a task after this patch.
    ///
    /// # Errors
    /// When a text is invalid.
    pub fn apply(&self, before: &TaskFields) -> Result<TaskFields, Refusal> {
        let mut fields = before.clone();
        if let Some(title) = &self.title {
            fields.title = text::validate_title("title", title)?;
        }
        if let Some(description) = &self.description {
            fields.description = text::validate_optional_body("description", Some(description))?;
        }
        if let Some(model) = &self.model {
            fields.model = text::validate_optional_body("model", Some(model))?;
        }
        if let Some(files) = &self.files {
            fields.files = PlannedFiles::parse(files)?;
        }
        fields.priority = self.priority.unwrap_or(fields.priority);
        Ok(fields)
    }
}

/// One task of a list that a planner or orchestrator creates.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSubtask {
    pub title: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub phase: Option<AgentKind>,
    /// The tasks that it depends on.
    #[serde(default)]
    pub depends_on: Vec<Dependency>,
    /// The files and folders that it is planned to change.
    #[serde(default)]
    pub files: Vec<String>,
}

impl NewSubtask {
    /// # Errors
    /// When a text is invalid.
    pub fn fields(&self) -> Result<TaskFields, Refusal> {
        Ok(TaskFields {
            title: text::validate_title("title", &self.title)?,
            description: text::validate_optional_body("description", self.description.as_deref())?,
            files: PlannedFiles::parse(&self.files)?,
            ..TaskFields::default()
        })
    }
}

/// A task by its id, or by its index in the same list, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Dependency {
    Index(u32),
    Task(TaskId),
}

/// A change that an agent requests. Omitted fields stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskUpdate {
    #[serde(default)]
    pub stage: Option<Stage>,
    /// The new assignee.
    #[serde(default)]
    pub assigned_to: Option<String>,
    /// The result of the work, or the notes of a verdict.
    #[serde(default)]
    pub result: Option<String>,
}

/// An assignee's submission, stored as the result of the task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    pub summary: String,
    #[serde(default, rename = "files", alias = "files_changed")]
    pub files_changed: Option<String>,
    #[serde(default)]
    pub test_results: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patch_changes_only_the_fields_it_names() {
        let before = NewTask { title: " One ".to_owned(), description: Some("Text".to_owned()), ..NewTask::default() }.fields().unwrap();
        assert_eq!(before.title, "One");
        assert_eq!(TaskPatch::default().apply(&before).unwrap(), before);
        let patch = TaskPatch { description: Some(String::new()), priority: Some(2), ..TaskPatch::default() };
        let after = patch.apply(&before).unwrap();
        assert_eq!(after, TaskFields { title: "One".to_owned(), priority: 2, ..TaskFields::default() });
        assert_eq!(after.changed_since(&before), ["description", "priority"]);
        assert!(TaskPatch { title: Some(" ".to_owned()), ..TaskPatch::default() }.apply(&before).is_err());
    }
}
