//! Projects: created with their planning task, and edited.

pub(crate) mod archive;
mod delete;
mod relocate;
pub(crate) mod row;
pub(crate) mod summary;
mod write;

use domain::board::project::{PlanApproval, Project, ProjectEvent, project_branch, refuse_managed_branch};
use domain::board::status::Status;
use domain::board::task::TaskFields;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{BaseEvidence, RepositoryInfo};
use domain::runs::limit::LimitScope;
use domain::runs::profile::{Profile, PullRequests};
use domain::runs::publication::PublicationRefusal;
use domain::text;
use domain::wire::{NewProject, ProjectPatch};

use crate::board::task::write::{NewTaskRow, insert};
use crate::caller::Caller;
use crate::context::session::write as context;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::runs::limit::write as limit;
use crate::runs::sandbox::write as sandbox;
use crate::warroom::knowledge::write as knowledge;

/// Whether merged work waits to be landed. The index has nothing else.
pub(crate) const UNLANDED: &str = "SELECT EXISTS (SELECT 1 FROM tasks WHERE project_id = $1 AND merged_sha IS NOT NULL AND landing_id IS NULL)";

/// The most coders that a project can ask for, as in the configuration.
const MAX_CODERS: u32 = 64;

impl Db {
    /// Creates a project on a repository that was inspected, and its planning task if a plan is wanted.
    ///
    /// # Errors
    /// When a text is invalid, or a plan is wanted without a goal.
    pub async fn create_project(&self, caller: &Caller, new: NewProject, repository: RepositoryInfo) -> Result<Project> {
        let caller = caller.clone();
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("creating projects")?;
                let title = text::validate_title("title", &new.title)?;
                let description = text::validate_optional_body("description", new.description.as_deref())?;
                let plan = new.plan.unwrap_or(description.is_some());
                if plan && description.is_none() {
                    return Err(Refusal::invalid("description", "a planner needs a goal", "Describe the goal, or create an empty board.").into());
                }
                let profile = new.profile.map(|given| checked_profile(&caller, given)).transpose()?.as_ref().map(serde_json::to_string).transpose()?;
                let id = ProjectId::new(tx.next_number(ProjectId::PREFIX).await?);
                sqlx::query(
                    "INSERT INTO projects (id, title, description, repo_path, git_dir, base_branch, base_head, integration_branch, plan_approval, budget_micro_usd, created_at, updated_at, review, integration_head, profile, allowed_access, issue)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $13, $14,
                             COALESCE($12, (SELECT profile FROM projects WHERE git_dir = $5 ORDER BY length(id) DESC, id DESC LIMIT 1), '{}'),
                             COALESCE((SELECT allowed_access FROM projects WHERE git_dir = $5 ORDER BY length(id) DESC, id DESC LIMIT 1), '[]'), $15)",
                )
                .bind(id.as_str())
                .bind(&title)
                .bind(&description)
                .bind(&repository.repo_path)
                .bind(&repository.git_dir)
                .bind(&repository.base_branch)
                .bind(&repository.base_sha)
                .bind(project_branch(&id))
                .bind(new.plan_approval.unwrap_or(PlanApproval::Auto).as_str())
                .bind(checked_budget(new.budget_micro_usd)?)
                .bind(tx.now.to_string())
                .bind(profile)
                .bind(new.review.unwrap_or_default().as_str())
                // A branch that is recorded but does not exist is made at its record.
                .bind(&repository.start)
                .bind(&new.issue)
                .execute(&mut tx.connection)
                .await?;
                context::insert_own(tx, &caller, &id, None, &title).await?;
                tx.record_for_project(&caller, &id, ProjectEvent::Created {});
                if plan {
                    let task = NewTaskRow {
                        project: id.clone(),
                        parent: None,
                        fields: TaskFields { title, description, ..TaskFields::default() },
                        phase: AgentKind::Planner,
                        status: Status::InProgress,
                        held_by: None,
                        round: None,
                    };
                    insert(tx, &caller, task).await?;
                }
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Lists all projects, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn projects(&self) -> Result<Vec<Project>> {
        sqlx::query(row::ALL).fetch_all(&self.readers).await?.iter().map(row::project_of).collect()
    }

    /// # Errors
    /// When the project does not exist.
    pub async fn project(&self, id: &ProjectId) -> Result<Project> {
        let mut connection = self.readers.acquire().await?;
        row::read(&mut connection, id).await
    }

    /// Returns the profile of the newest project on a repository.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn repository_profile(&self, git_dir: &str) -> Result<Option<Profile>> {
        let found: Option<String> = sqlx::query_scalar("SELECT profile FROM projects WHERE git_dir = $1 ORDER BY length(id) DESC, id DESC LIMIT 1")
            .bind(git_dir)
            .fetch_optional(&self.readers)
            .await?;
        Ok(found.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// Edits a project. Agents that start later read the new goal. `base` holds the facts about the branch that `patch` names.
    ///
    /// # Errors
    /// When a text is invalid, or the base branch is one of this program or nobody read it.
    pub async fn edit_project(&self, caller: &Caller, id: &ProjectId, patch: ProjectPatch, base: Option<BaseEvidence>) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("editing projects")?;
                let before = row::read(&mut tx.connection, &id).await?;
                let title =
                    patch.title.as_deref().map(|title| text::validate_title("title", title)).transpose()?.unwrap_or_else(|| before.title.clone());
                let description = match &patch.description {
                    Some(given) => text::validate_optional_body("description", Some(given))?,
                    None => before.description.clone(),
                };
                let approval = patch.plan_approval.unwrap_or(before.plan_approval);
                let claim_mode = patch.claim_mode.unwrap_or(before.claim_mode);
                let review = patch.review.filter(|review| *review != before.review);
                let moved = patch.knowledge.filter(|place| *place != before.knowledge);
                let budget = if patch.budget_micro_usd.is_some() { checked_budget(patch.budget_micro_usd)? } else { before.budget_micro_usd };
                let max_coders = if patch.max_coders.is_some() { checked_coders(patch.max_coders)? } else { before.max_coders };
                let allowed = patch.allowed_access.filter(|allowed| *allowed != before.allowed_access);
                let profile = patch.profile.filter(|given| sets_profile(given, &before.profile));
                let profile = profile.map(|given| checked_profile(&caller, given)).transpose()?;
                let is_task = |profile: &Profile| profile.pull_requests == PullRequests::Task;
                if profile.as_ref().is_some_and(is_task) && !is_task(&before.profile) {
                    refuse_unlanded(tx, &id).await?;
                }
                let base = replacement_of(&before, patch.base_branch.as_deref(), base)?;
                let is_unchanged = title == before.title && description == before.description && approval == before.plan_approval;
                let is_unchanged = is_unchanged && claim_mode == before.claim_mode && budget == before.budget_micro_usd;
                let is_unchanged = is_unchanged && max_coders == before.max_coders && review.is_none();
                if is_unchanged && allowed.is_none() && base.is_none() && profile.is_none() && moved.is_none() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(before);
                }
                sqlx::query(
                    "UPDATE projects SET title = $2, description = $3, plan_approval = $4, budget_micro_usd = $6, claim_mode = $7, max_coders = $8,
                       profile = $9, profile_version = profile_version + $10, updated_at = $5 WHERE id = $1",
                )
                .bind(id.as_str())
                .bind(title)
                .bind(description)
                .bind(approval.as_str())
                .bind(tx.now.to_string())
                .bind(budget)
                .bind(claim_mode.as_str())
                .bind(max_coders)
                .bind(serde_json::to_string(profile.as_ref().unwrap_or(&before.profile))?)
                .bind(i64::from(profile.is_some()))
                .execute(&mut tx.connection)
                .await?;
                if budget != before.budget_micro_usd {
                    limit::reset(tx, &caller, LimitScope::Project, id.as_str()).await?;
                }
                if let Some(review) = review {
                    write::set_review(tx, &caller, &id, review).await?;
                }
                if let Some(place) = moved {
                    caller.require_owner("choosing where knowledge is kept")?;
                    knowledge::set_place(tx, &id, place).await?;
                }
                if let Some(allowed) = allowed {
                    sandbox::replace_allowed(tx, &caller, &before, &allowed).await?;
                }
                if let Some(base) = base {
                    write::replace_base(tx, &caller, &id, base).await?;
                }
                tx.record_for_project(&caller, &id, ProjectEvent::Edited {});
                row::read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// Returns the branch that replaces the base branch, or none if `wanted` changes nothing.
fn replacement_of(before: &Project, wanted: Option<&str>, evidence: Option<BaseEvidence>) -> Result<Option<BaseEvidence>> {
    let Some(wanted) = wanted.filter(|wanted| *wanted != before.base_branch) else { return Ok(None) };
    refuse_managed_branch("base_branch", wanted)?;
    match evidence.filter(|evidence| evidence.branch == wanted) {
        Some(evidence) => Ok(Some(evidence)),
        None => Err(Refusal::invalid("base_branch", "it was not read in the repository", "Repeat the request.").into()),
    }
}

/// Checks a number of coders. Zero stands for no limit.
fn checked_coders(given: Option<u32>) -> Result<Option<u32>> {
    match given {
        Some(most) if most > MAX_CODERS => {
            let hint = "Enter a smaller number, or 0 for what the configuration allows.";
            Err(Refusal::invalid("max_coders", format!("{most} is more than {MAX_CODERS}"), hint).into())
        }
        most => Ok(most.filter(|most| *most > 0)),
    }
}

/// Whether a given profile changes something. One with checks always does: set again, it makes results of earlier checks void.
fn sets_profile(given: &Profile, before: &Profile) -> bool {
    given != before || !given.checks.is_default()
}

/// Refuses to change which pull requests there are while merged work waits to be landed: that of the next task would bring it too.
async fn refuse_unlanded(tx: &mut Tx, project: &ProjectId) -> Result<()> {
    let waits: bool = sqlx::query_scalar(UNLANDED).bind(project.as_str()).fetch_one(&mut tx.connection).await?;
    if waits { Err(PublicationRefusal::NotLanded { project: project.clone() }.into()) } else { Ok(()) }
}

/// Checks a profile. Its commands run as the owner does, so nobody else sets them.
fn checked_profile(caller: &Caller, given: Profile) -> Result<Profile> {
    caller.require_owner("setting how checkouts are prepared")?;
    Ok(given.checked().map_err(Refusal::from)?)
}

/// Checks a budget. Zero stands for none.
fn checked_budget(given: Option<i64>) -> Result<Option<i64>> {
    match given {
        Some(amount) if amount < 0 => {
            Err(Refusal::invalid("budget_micro_usd", format!("{amount} is below zero"), "Enter an amount, or 0 for the configured budget.").into())
        }
        amount => Ok(amount.filter(|amount| *amount > 0)),
    }
}
