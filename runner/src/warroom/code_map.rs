//! The code map for agents that plan, and for people who ask for it. It is kept beside the database, so that the next one only parses what changed.
//!
//! Grammars are C code that reads files of strangers, so a process of our own makes the map: a fault ends it, and not the server. It must not fail
//! a run: without a new map, an agent gets the last one, or searches the repository itself.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::Db;
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::Sha;
use domain::warroom::code_map::{CodeMapRefusal, CodeMapView};
use repo::{CodeMap, KeptCodeMap, RepoError, Repository};
use rustix::process::{Resource, Rlimit, nice, setrlimit};
use tokio::time::timeout;

use crate::blocking::off_thread;
use crate::process::{self, ProcessError};
use crate::runs::checkout::{CheckoutError, CheckoutPlan, with_files};

/// How long an agent waits for its map. A map of 10,000 files takes seconds.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// How long the process may take.
const TIMEOUT: Duration = Duration::from_secs(300);
/// Its limits, so that it ends even if the server does not see it: seconds of processor time, and bytes of memory.
const MAX_CPU_SECONDS: u64 = 900;
const MAX_MEMORY: u64 = 4 << 30;
/// Locked by the process in the folder of its map.
const LOCK: &str = "lock";
/// How much it yields to other programs.
const NICE: i32 = 5;

/// Why there is no new map.
#[derive(Debug, thiserror::Error)]
enum CodeMapError {
    #[error(transparent)]
    Repository(#[from] CheckoutError),
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error("the process that makes it was ended by a signal: {stderr}")]
    Killed { stderr: String },
    #[error("the process that makes it failed with {code}: {stderr}")]
    Failed { code: i32, stderr: String },
    #[error("the process that makes it left none")]
    Nothing,
}

/// Where the map of a project is kept.
pub(crate) fn folder(db: &Db, project: &ProjectId) -> PathBuf {
    KeptCodeMap::folder(&db.folder(), project.as_str())
}

/// Returns the map of the commit that an agent starts from, if its kind needs one. If it cannot be made in time, the last one.
pub(crate) async fn code_map(db: &Db, program: &Path, project: &ProjectId, phase: AgentKind, plan: &CheckoutPlan) -> Option<String> {
    if !matches!(phase, AgentKind::Planner | AgentKind::Orchestrator) {
        return None;
    }
    let folder = folder(db, project);
    let map = match renew_within(program, &plan.git_dir, &plan.sha, &folder, LONGEST_WAIT).await {
        Ok(Some(map)) => Some(map),
        Ok(None) => {
            tracing::info!(%project, "the code map is still being made; the last one is used");
            last(folder).await
        }
        Err(error) => {
            tracing::warn!(%project, %error, "the code map was not made; the last one is used");
            last(folder).await
        }
    };
    map.map(|map| map.text)
}

/// Returns the map of a commit, or none if it is not made after `patience`. It is made nevertheless, for the next agent.
async fn renew_within(program: &Path, git_dir: &Path, commit: &Sha, folder: &Path, patience: Duration) -> Result<Option<KeptCodeMap>, CodeMapError> {
    let (program, git_dir, commit, folder) = (program.to_owned(), git_dir.to_owned(), commit.clone(), folder.to_owned());
    let renewal = tokio::spawn(async move { renew(&program, &git_dir, &commit, &folder, TIMEOUT).await });
    match timeout(patience, renewal).await {
        Ok(Ok(renewed)) => renewed.map(Some),
        Ok(Err(_)) => Err(CodeMapError::Nothing),
        Err(_) => Ok(None),
    }
}

/// Makes the map of the project branch, or of the base branch before there is one. Returns what it says and where it is.
///
/// # Errors
/// When the project does not exist, the repository cannot be read, or the map cannot be made. The last one stays.
pub async fn map_code(db: &Db, program: &Path, project: &ProjectId) -> db::Result<CodeMapView> {
    let project = db.project(project).await?;
    let (git_dir, folder) = (PathBuf::from(&project.git_dir), folder(db, &project.id));
    let (branch, base) = (project.integration_branch, project.base_branch);
    let tip = with_files(&git_dir, move |repository| match repository.ref_sha(&branch)? {
        Some(tip) => Ok(tip),
        None => repository.base_tip(&base),
    });
    let renewed = match tip.await {
        Ok(commit) => renew(program, &git_dir, &commit, &folder, TIMEOUT).await,
        Err(error) => Err(error.into()),
    };
    renewed.map_err(|error| refused(&project.id, error))?;
    let view = off_thread(move || KeptCodeMap::view(&folder)).await.ok().flatten();
    view.ok_or_else(|| refused(&project.id, CodeMapError::Nothing))
}

fn refused(project: &ProjectId, error: CodeMapError) -> db::Error {
    match error {
        CodeMapError::Repository(error) => error.into(),
        error => {
            tracing::warn!(%project, %error, "the code map was not made");
            CodeMapRefusal::NotMade { reason: error.to_string() }.into()
        }
    }
}

/// Returns the map of a commit. A process makes it, unless the last one is of the same files.
async fn renew(program: &Path, git_dir: &Path, commit: &Sha, folder: &Path, limit: Duration) -> Result<KeptCodeMap, CodeMapError> {
    let wanted = commit.clone();
    let tree = with_files(git_dir, move |repository| repository.tree_of(&wanted)).await?;
    if let Some(map) = last(folder.to_owned()).await.filter(|map| map.tree == tree) {
        return Ok(map);
    }
    let ended = process::map_code(program, git_dir, commit, folder, limit).await?;
    let stderr = ended.stderr.trim().to_owned();
    match ended.code {
        Some(0) => last(folder.to_owned()).await.filter(|map| map.tree == tree).ok_or(CodeMapError::Nothing),
        Some(code) => Err(CodeMapError::Failed { code, stderr }),
        None => Err(CodeMapError::Killed { stderr }),
    }
}

async fn last(folder: PathBuf) -> Option<KeptCodeMap> {
    off_thread(move || KeptCodeMap::read(&folder)).await.ok().flatten()
}

/// Makes the map of a commit and keeps it in a folder: the process that `process::map_code` starts. It gives itself limits first, and waits for
/// one that is at work in the same folder, which may make the same map.
///
/// # Errors
/// When the commit cannot be read, or the folder cannot be written.
pub fn main(git_dir: &Path, commit: &str, folder: &Path) -> Result<CodeMap, RepoError> {
    // Best effort: without limits, the server ends it after a time.
    for (resource, most) in [(Resource::Cpu, MAX_CPU_SECONDS), (Resource::Data, MAX_MEMORY), (Resource::Core, 0)] {
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
    let _ = nice(NICE);
    map_in_turn(git_dir, commit, folder)
}

fn map_in_turn(git_dir: &Path, commit: &str, folder: &Path) -> Result<CodeMap, RepoError> {
    let io = |reason| RepoError::Io { attempted: format!("wait for another code map in {}", folder.display()), reason };
    fs::create_dir_all(folder).map_err(io)?;
    let turn = File::create(folder.join(LOCK)).map_err(io)?;
    turn.lock().map_err(io)?;
    Repository::open(git_dir)?.renew_code_map(commit, folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::sync::mpsc;

    use repo::testing::TestRepository;

    use super::*;

    /// A program in place of ours: a script that gets the same arguments.
    fn script(sample: &TestRepository, name: &str, lines: &str) -> PathBuf {
        let path = sample.beside(name);
        fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[tokio::test]
    async fn process_that_dies_or_hangs_leaves_the_last_map() {
        let sample = TestRepository::new();
        let folder = sample.beside("maps/PROJ-001");
        sample.write("src/lib.rs", "pub fn run() {}\n");
        let first = sample.commit_all("add a file");
        sample.repository().renew_code_map(&first, &folder).unwrap();
        let last = KeptCodeMap::read(&folder).unwrap();
        let try_with = async |name: &str, lines: &str, commit: &Sha, limit| {
            renew(&script(&sample, name, lines), &sample.git_dir(), commit, &folder, limit).await
        };
        let minute = Duration::from_secs(60);
        assert_eq!(try_with("unused", "kill -9 $$", &first, minute).await.unwrap(), last, "the same files need no process");
        sample.write("src/lib.rs", "pub fn start() {}\n");
        let second = sample.commit_all("rename it");
        let killed = try_with("killed", "echo a fault >&2; kill -9 $$", &second, minute).await.unwrap_err();
        assert!(matches!(&killed, CodeMapError::Killed { stderr } if stderr == "a fault"), "{killed}");
        let hung = try_with("hung", "sleep 1000 & wait", &second, Duration::from_millis(300)).await.unwrap_err();
        assert!(matches!(hung, CodeMapError::Process(ProcessError::Timeout { .. })), "{hung}");
        let failed = try_with("failed", "exit 3", &second, minute).await.unwrap_err();
        assert!(matches!(failed, CodeMapError::Failed { code: 3, .. }), "{failed}");
        let idle = try_with("idle", "exit 0", &second, minute).await.unwrap_err();
        assert!(matches!(idle, CodeMapError::Nothing), "{idle}");
        assert_eq!(KeptCodeMap::read(&folder), Some(last));
    }

    #[tokio::test]
    async fn agent_waits_a_short_time_and_the_map_is_made_for_the_next_one() {
        let sample = TestRepository::new();
        let (folder, made) = (sample.beside("maps/PROJ-001"), sample.beside("made"));
        sample.write("src/lib.rs", "pub fn run() {}\n");
        let commit = sample.commit_all("add a file");
        sample.repository().renew_code_map(&commit, &made).unwrap();
        let go = sample.beside("go");
        let lines = format!("until [ -e {} ]; do sleep 0.01; done; mkdir -p \"$4\" && cp {}/* \"$4\"", go.display(), made.display());
        let (program, git_dir) = (script(&sample, "slow", &lines), sample.git_dir());
        let within = |patience| renew_within(&program, &git_dir, &commit, &folder, patience);
        assert_eq!(within(Duration::from_millis(50)).await.unwrap(), None);
        fs::write(&go, "").unwrap();
        let next = within(Duration::from_secs(60)).await.unwrap();
        assert_eq!(next, KeptCodeMap::read(&folder));
        assert!(next.is_some());
    }

    #[test]
    fn process_waits_for_the_one_at_work_in_the_folder() {
        let sample = TestRepository::new();
        let folder = sample.beside("maps/PROJ-001");
        sample.write("src/lib.rs", "pub fn run() {}\n");
        let commit = sample.commit_all("add a file");
        fs::create_dir_all(&folder).unwrap();
        let other = File::create(folder.join(LOCK)).unwrap();
        other.lock().unwrap();
        std::thread::scope(|scope| {
            let (done, waiting) = mpsc::channel();
            let (git_dir, commit, folder) = (sample.git_dir(), &commit, &folder);
            scope.spawn(move || done.send(map_in_turn(&git_dir, commit, folder).map(|map| map.parsed)));
            waiting.recv_timeout(Duration::from_millis(200)).unwrap_err();
            other.unlock().unwrap();
            assert_eq!(waiting.recv().unwrap().unwrap(), 1);
        });
        assert!(KeptCodeMap::read(&folder).is_some());
    }

    #[tokio::test]
    async fn process_gets_the_repository_the_commit_and_the_folder() {
        let sample = TestRepository::new();
        let (folder, made) = (sample.beside("maps/PROJ-001"), sample.beside("made"));
        sample.write("src/lib.rs", "pub fn run() {}\n");
        let commit = sample.commit_all("add a file");
        sample.repository().renew_code_map(&commit, &made).unwrap();
        // Copies the map only if all arguments are right.
        let lines = format!(
            "[ \"$1 $2 $3 $4\" = 'code-map {} {commit} {}' ] || exit 4\nmkdir -p \"$4\" && cp {}/* \"$4\"",
            sample.git_dir().display(),
            folder.display(),
            made.display()
        );
        let program = script(&sample, "copies", &lines);
        let map = renew(&program, &sample.git_dir(), &commit, &folder, Duration::from_secs(60)).await.unwrap();
        assert!(map.text.contains("- lib.rs (1): run") && map.summary.commit == commit, "{}", map.text);
    }
}
