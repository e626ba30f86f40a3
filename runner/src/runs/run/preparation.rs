//! How the checkout of a run is prepared by the profile of its project: files are copied here, and the shim runs the commands.
//!
//! It must not run a command itself: setup takes minutes, and has to survive a restart of the server.

use std::path::{Path, PathBuf};

use domain::board::project::Project;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::Sha;
use domain::runs::profile::Profile;
use repo::Repository;
use sha2::{Digest, Sha256};

use crate::runs::checkout::{self, CheckoutError, CheckoutPlan, checkout_head, checkout_name, with_files};
use crate::setup::{Reuse, SetupCommand, SetupSpec};

/// The file in the checkout's own folder of the repository that says how it was set up.
const STAMP: &str = "vibe-relay-setup";
/// The folder of kept setups beside the checkouts of a project.
pub(crate) const CACHE: &str = ".setup";
pub(in crate::runs) const SHELL: &str = "/bin/sh";
/// The most files that a prompt names.
const MAX_NAMES: usize = 10;

/// The files and the setup of a checkout.
#[derive(Debug, Clone, Default)]
pub(crate) struct Preparation {
    profile: Profile,
    /// The files that were copied now or earlier, from the root of the checkout.
    copied: Vec<PathBuf>,
    stamp: PathBuf,
    key: String,
    reuse: Option<Reuse>,
}

/// Fills the submodules of the checkout, copies files into it and plans its setup. Planners and oracles build nothing, so they need neither files
/// nor setup.
pub(crate) async fn plan(project: &Project, plan: &CheckoutPlan, phase: AgentKind) -> Result<Preparation, CheckoutError> {
    if project.profile.submodules {
        let (path, trusted, exact) = (plan.path.clone(), project.base_head.clone(), plan.branch.is_none());
        with_files(&plan.git_dir, move |repository| repository.fill_submodules(&checkout_name(&path), &path, &trusted, exact)).await?;
    }
    if matches!(phase, AgentKind::Planner | AgentKind::Oracle) {
        return Ok(Preparation::default());
    }
    let (profile, source) = (project.profile.clone(), PathBuf::from(&project.repo_path));
    let (path, start) = (plan.path.clone(), plan.sha.clone());
    let (copied, head, locks) = with_files(&plan.git_dir, move |repository| {
        let copied = if profile.copy.is_empty() { Vec::new() } else { copy(repository, &profile, &source, &path)? };
        let head = checkout_head(repository, &path)?.unwrap_or(start);
        let locks = if profile.setup.is_empty() { Vec::new() } else { repository.lock_files(&head)? };
        Ok((copied, head, locks))
    })
    .await?;
    let profile = project.profile.clone();
    let key = key(&profile, &locks);
    let folders: Vec<PathBuf> = profile.reuse.iter().map(PathBuf::from).collect();
    let reuse = plan.path.parent().filter(|_| !folders.is_empty()).map(|parent| Reuse {
        cache: parent.join(CACHE).join(&key),
        folders,
        // An orchestrator looks at merged work. Everything else that was merged is the base of the work.
        keep: phase == AgentKind::Orchestrator || head == plan.base,
    });
    Ok(Preparation { profile, copied, stamp: checkout::admin_folder(plan).join(STAMP), key, reuse })
}

fn copy(repository: &Repository, profile: &Profile, from: &Path, to: &Path) -> Result<Vec<PathBuf>, repo::RepoError> {
    let found = repository.ignored_files(from, |path| profile.copies(path))?;
    if found.left_out > 0 {
        tracing::warn!(files = found.left_out, checkout = %to.display(), "files were not copied into a checkout, because they are too many or too large");
    }
    repository.copy_files(from, to, &found.paths)?;
    Ok(found.paths)
}

/// Identifies the commands with everything that decides their result.
fn key(profile: &Profile, locks: &[(String, Sha)]) -> String {
    let mut hash = Sha256::new();
    let texts = profile.setup.iter().chain(&profile.reuse).map(String::as_str);
    for text in texts.chain(locks.iter().flat_map(|(path, id)| [path.as_str(), id.as_str()])) {
        hash.update(text.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

impl Preparation {
    /// The part of the run's spec; `None` if nothing is to be run. `inside` gives a command as it is started in the jail of the run.
    pub(in crate::runs) fn spec(&self, inside: impl Fn(Vec<String>) -> Vec<String>) -> Option<SetupSpec> {
        let command = |line: &String| {
            let argv = [SHELL, "-c", line.as_str()].map(str::to_owned).to_vec();
            SetupCommand { line: line.clone(), argv: inside(argv) }
        };
        (!self.profile.setup.is_empty()).then(|| SetupSpec {
            commands: self.profile.setup.iter().map(command).collect(),
            limit_seconds: u64::from(self.profile.setup_minutes) * 60,
            stamp: self.stamp.clone(),
            key: self.key.clone(),
            reuse: self.reuse.clone(),
        })
    }

    /// Says in the prompt what was done; empty if nothing was.
    pub(super) fn sentence(&self) -> String {
        let commands: Vec<String> = self.profile.setup.iter().map(|line| format!("`{line}`")).collect();
        let mut files: Vec<String> = self.copied.iter().take(MAX_NAMES).map(|path| path.display().to_string()).collect();
        if self.copied.len() > MAX_NAMES {
            files.push(format!("{} more", self.copied.len() - MAX_NAMES));
        }
        let ran = (!commands.is_empty()).then(|| format!("{} ran in the worktree", commands.join(", ")));
        let copied = (!files.is_empty()).then(|| format!("{} copied into it", files.join(", ")));
        let done: Vec<String> = ran.into_iter().chain(copied).collect();
        if done.is_empty() { String::new() } else { format!("already done: {}", done.join("; ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preparation(setup: &[&str], copied: &[&str]) -> Preparation {
        let profile = Profile { setup: setup.iter().map(|line| (*line).to_owned()).collect(), ..Profile::default() };
        Preparation { profile, copied: copied.iter().map(PathBuf::from).collect(), ..Preparation::default() }
    }

    #[test]
    fn prompt_says_what_was_done() {
        assert_eq!(preparation(&[], &[]).sentence(), "");
        assert_eq!(preparation(&["npm ci", "cargo fetch"], &[]).sentence(), "already done: `npm ci`, `cargo fetch` ran in the worktree");
        assert_eq!(preparation(&["npm ci"], &[".env"]).sentence(), "already done: `npm ci` ran in the worktree; .env copied into it");
        let many = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
        assert!(preparation(&[], &many).sentence().ends_with("j, 2 more copied into it"));
    }

    #[test]
    fn key_changes_with_commands_and_lock_files_only() {
        let profile = preparation(&["npm ci"], &[]).profile;
        let locks = vec![("package-lock.json".to_owned(), "1".to_owned())];
        let first = key(&profile, &locks);
        assert_eq!(first.len(), 32);
        assert_eq!(key(&Profile { copy: Vec::new(), ..profile.clone() }, &locks), first);
        assert_ne!(key(&profile, &[("package-lock.json".to_owned(), "2".to_owned())]), first);
        assert_ne!(key(&Profile { setup: vec!["npm install".to_owned()], ..profile }, &locks), first);
    }

    #[test]
    fn commands_run_in_a_shell_inside_of_the_jail() {
        let spec = preparation(&["npm ci"], &[]).spec(|argv| ["jail".to_owned()].into_iter().chain(argv).collect()).unwrap();
        assert_eq!(
            spec.commands,
            [SetupCommand { line: "npm ci".to_owned(), argv: ["jail", "/bin/sh", "-c", "npm ci"].map(str::to_owned).to_vec() }]
        );
        assert_eq!(spec.limit_seconds, 1200);
        assert_eq!(preparation(&[], &[".env"]).spec(|argv| argv), None);
    }
}
