//! `vibe-relay clean`: offers what is left of finished work for removal: landed project branches, also of deleted projects, and folders of
//! ended runs.
//!
//! Nothing that would be missed is offered. The branch of a project that goes on stays, also when all of it has landed: its runner and the
//! worktrees of its tasks use it. If a finished project gets more work, the runner creates the branch again.
//!
//! The exit code is a failure if something could not be removed, so that a script notices what is left.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use db::RecordedReferences;
use domain::board::project::{Project, ProjectStatus, project_of_branch};
use domain::id::ProjectId;
use domain::runs::folder;
use domain::wire::List;
use repo::Repository;
use runner::run_dir::RunDir;
use serde::Serialize;

use crate::client::Client;
use crate::error::CliError;
use crate::{output, settings, uninstall};

/// How long the end of a run must be over. Its attempt may still be looked at before.
const MIN_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// Something that can go.
#[derive(Debug, Serialize)]
struct Litter {
    what: &'static str,
    place: String,
    removed: bool,
    /// Why it was not removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    #[serde(skip)]
    removal: Removal,
}

#[derive(Debug)]
enum Removal {
    Branch { git_dir: PathBuf, branch: String, base: String },
    Folder(PathBuf),
}

/// Prints what can go, and removes it after consent. The exit code is a failure if something could not be removed.
///
/// # Errors
/// When the board is not running.
pub(crate) async fn run(named: Option<&Path>, yes: bool) -> Result<ExitCode, CliError> {
    let config = settings::config(named)?;
    let client = Client::new(&config)?;
    let mut found = Vec::new();
    for path in ["/api/projects", "/api/projects?archived=true"] {
        let projects: List<Project> = client.get(path).await?;
        found.extend(projects.items.iter().filter_map(landed_branch));
    }
    found.extend(branches_of_deleted(&db::recorded_checkouts(&config.db_path).await?.projects, &db::recorded_references(&config.db_path).await?));
    found.extend(ended_runs(&config.db_path.with_file_name("runs"), MIN_AGE));
    if yes {
        found.iter_mut().for_each(Litter::remove);
    }
    output::list(&found, "There is nothing to remove.", line);
    if !yes && !found.is_empty() {
        output::hint("Nothing was removed. Add --yes to remove all of it. Cards lose the transcripts of runs whose folders are removed.");
    }
    Ok(exit_code(&found))
}

fn exit_code(found: &[Litter]) -> ExitCode {
    if found.iter().any(|litter| litter.problem.is_some()) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn line(litter: &Litter) -> String {
    let state = match (&litter.problem, litter.removed) {
        (Some(problem), _) => format!("kept: {problem}"),
        (None, true) => "removed".to_owned(),
        (None, false) => "can be removed".to_owned(),
    };
    format!("{}: {}  {state}", litter.what, litter.place)
}

/// The branch of a project without work left, if it exists and its base branch has all of it.
fn landed_branch(project: &Project) -> Option<Litter> {
    if project.status != ProjectStatus::Complete && project.archived_at.is_none() {
        return None;
    }
    let tip = project.landed_sha.as_ref().filter(|landed| project.integration_head.as_ref() == Some(*landed))?;
    let git_dir = PathBuf::from(&project.git_dir);
    let repository = Repository::open(&git_dir).ok()?;
    let base = repository.ref_sha(&project.base_branch).ok()??;
    let is_landed = repository.ref_sha(&project.integration_branch).ok()?.as_ref() == Some(tip) && repository.is_ancestor(tip, &base).ok()?;
    is_landed.then(|| Litter {
        what: "landed branch",
        place: format!("{} in {}", project.integration_branch, project.repo_path),
        removed: false,
        problem: None,
        removal: Removal::Branch { git_dir, branch: project.integration_branch.clone(), base: project.base_branch.clone() },
    })
}

/// The branches of projects that are no longer on record. Their base branch is not known, so any branch of the person that has all commits will do.
fn branches_of_deleted(projects: &BTreeSet<ProjectId>, references: &RecordedReferences) -> Vec<Litter> {
    let mut found = Vec::new();
    for (git_dir, names) in references {
        let deleted: Vec<&String> = names.iter().filter(|name| project_of_branch(name).is_some_and(|project| !projects.contains(&project))).collect();
        // A repository that was removed has none.
        let Ok(repository) = Repository::open(git_dir) else { continue };
        for branch in deleted {
            let Ok(Some(base)) = repository.branch_with_all_of(branch) else { continue };
            found.push(Litter {
                what: "branch of a deleted project",
                place: format!("{branch} in {}", uninstall::folder_of(git_dir).display()),
                removed: false,
                problem: None,
                removal: Removal::Branch { git_dir: git_dir.clone(), branch: branch.clone(), base },
            });
        }
    }
    found
}

/// The folders of runs whose end was written down a while ago.
fn ended_runs(root: &Path, min_age: Duration) -> Vec<Litter> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    folders.retain(|path| folder::is_of_run(path) && has_ended(path, min_age));
    folders.sort_unstable();
    let litter = |folder: PathBuf| Litter {
        what: "ended run",
        place: folder.display().to_string(),
        removed: false,
        problem: None,
        removal: Removal::Folder(folder),
    };
    folders.into_iter().map(litter).collect()
}

fn has_ended(folder: &Path, min_age: Duration) -> bool {
    let Ok(run) = RunDir::open(folder) else { return false };
    let is_over = matches!(run.exit(), Ok(Some(_))) && matches!(run.is_alive(), Ok(false));
    let changed = folder.metadata().and_then(|metadata| metadata.modified());
    is_over && changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age >= min_age))
}

impl Litter {
    fn remove(&mut self) {
        let removed = match &self.removal {
            // The repository refuses if commits would be lost, whatever happened since the look.
            Removal::Branch { git_dir, branch, base } => {
                Repository::open(git_dir).and_then(|repository| repository.delete_branch(branch, base)).map(drop).map_err(|error| error.to_string())
            }
            Removal::Folder(folder) => std::fs::remove_dir_all(folder).map_err(|error| error.to_string()),
        };
        self.removed = removed.is_ok();
        self.problem = removed.err();
    }
}

#[cfg(test)]
mod tests {
    use repo::testing::TestRepository;

    use super::*;

    fn branch(sample: &TestRepository) -> Litter {
        let removal = Removal::Branch { git_dir: sample.git_dir(), branch: "vibe-relay/PROJ-001".to_owned(), base: "main".to_owned() };
        Litter { what: "landed branch", place: String::new(), removed: false, problem: None, removal }
    }

    #[test]
    fn branch_goes_only_if_the_base_has_its_commits() {
        let sample = TestRepository::new();
        let head = sample.repository().ref_sha("main").unwrap().unwrap();
        sample.set_branch("vibe-relay/PROJ-001", &head);
        let mut litter = branch(&sample);
        litter.remove();
        assert!(litter.removed && litter.problem.is_none(), "{litter:?}");
        assert_eq!(sample.repository().ref_sha("vibe-relay/PROJ-001").unwrap(), None);

        sample.set_branch("vibe-relay/PROJ-001", &head);
        sample.commit_on("vibe-relay/PROJ-001", &[("new.txt", Some("new"))], "Not landed");
        let mut litter = branch(&sample);
        litter.remove();
        assert!(!litter.removed && line(&litter).contains("kept: "), "{litter:?}");
        assert_eq!(exit_code(&[branch(&sample), litter]), ExitCode::FAILURE);
        assert_eq!(exit_code(&[branch(&sample)]), ExitCode::SUCCESS);
        assert!(sample.repository().ref_sha("vibe-relay/PROJ-001").unwrap().is_some());
    }

    #[test]
    fn landed_branch_is_offered_once_its_project_is_complete_or_archived() {
        let sample = TestRepository::new();
        let head = sample.repository().ref_sha("main").unwrap().unwrap();
        sample.set_branch("vibe-relay/PROJ-001", &head);
        let at = "2026-01-31T09:05:00Z";
        let project = serde_json::json!({
            "id": "PROJ-001", "title": "Site", "status": "active", "repo_path": sample.top(), "git_dir": sample.git_dir(), "base_branch": "main",
            "base_head": head, "integration_branch": "vibe-relay/PROJ-001", "integration_head": head, "landed_sha": head, "plan_approval": "auto",
            "claim_mode": "enforced", "knowledge": "beside", "allowed_access": [], "created_at": at, "updated_at": at,
        });
        let project: Project = serde_json::from_value(project).unwrap();
        assert!(landed_branch(&project).is_none(), "the project goes on");
        let complete = Project { status: ProjectStatus::Complete, ..project.clone() };
        let archived = Project { archived_at: Some(project.updated_at), ..project };
        assert!(landed_branch(&complete).is_some() && landed_branch(&archived).is_some());
    }

    #[test]
    fn branch_of_a_deleted_project_is_offered_once_a_branch_of_the_person_has_it() {
        let sample = TestRepository::new();
        let head = sample.repository().ref_sha("main").unwrap().unwrap();
        let names = ["vibe-relay/PROJ-001", "vibe-relay/PROJ-002", "vibe-relay/PROJ-003", "vr/TASK-001/work"];
        names.iter().for_each(|branch| sample.set_branch(branch, &head));
        sample.commit_on("vibe-relay/PROJ-003", &[("new.txt", Some("new"))], "Not landed");
        let names = BTreeSet::from(names.map(str::to_owned));
        let references = RecordedReferences::from([(sample.git_dir(), names.clone()), (sample.beside("removed/.git"), names)]);
        let [mut litter] = <[Litter; 1]>::try_from(branches_of_deleted(&BTreeSet::from([ProjectId::new(2)]), &references)).unwrap();
        assert!(litter.place.starts_with("vibe-relay/PROJ-001 in ") && !litter.place.ends_with(".git"), "{litter:?}");
        litter.remove();
        assert!(litter.removed && sample.repository().ref_sha("vibe-relay/PROJ-001").unwrap().is_none(), "{litter:?}");
        assert!(sample.repository().ref_sha("vibe-relay/PROJ-003").unwrap().is_some());
    }

    #[test]
    fn folder_without_a_recorded_end_is_not_offered() {
        let root = tempfile::tempdir().unwrap();
        let run = root.path().join("RUN-001-76f9cd1b");
        std::fs::create_dir(&run).unwrap();
        assert!(ended_runs(root.path(), Duration::ZERO).is_empty());
        assert!(ended_runs(&root.path().join("missing"), Duration::ZERO).is_empty());
        std::fs::write(run.join("lock"), "").unwrap();
        let end = r#"{"code":0,"signal":null,"ended_at":"2026-01-31T09:05:00Z","swept":0,"error":null}"#;
        std::fs::write(run.join("exit.json"), end).unwrap();
        assert_eq!(ended_runs(root.path(), Duration::ZERO).len(), 1);
        assert!(ended_runs(root.path(), MIN_AGE).is_empty(), "it ended just now");
    }
}
