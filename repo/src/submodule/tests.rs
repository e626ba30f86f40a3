//! Submodules get their files from what the person has, or from their addresses, and only as the base branch names them.

use super::*;
use crate::git_program::{calls, git, serve_calls};
use crate::nested::NestedWork;
use crate::testing::{TestRepository, init_bare_in, write_in};

const BRANCH: &str = "vr/TASK-001/work";
const PROJECT: &str = "vibe-relay/PROJ-001";

/// A repository with the submodule `vendor/inner`, which has a submodule `deep` itself, and a checkout of an agent.
struct Sample {
    outer: TestRepository,
    inner: TestRepository,
    _deep: TestRepository,
    repository: Repository,
    task: PathBuf,
    head: Sha,
}

fn add_submodule(top: &Path, url: &str, path: &str) {
    git(top, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", path, url, path]);
}

impl Sample {
    fn new() -> Self {
        serve_calls();
        let (deep, inner, outer) = (TestRepository::new(), TestRepository::new(), TestRepository::new());
        add_submodule(inner.top(), deep.top().to_str().unwrap(), "deep");
        git(inner.top(), &["commit", "-q", "-m", "deep"]);
        add_submodule(outer.top(), inner.top().to_str().unwrap(), "vendor/inner");
        git(outer.top(), &["commit", "-q", "-m", "inner"]);
        git(outer.top(), &["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive"]);
        let (repository, task) = (outer.repository(), outer.beside("task"));
        let head = repository.ensure_project_branch(PROJECT, "main").unwrap();
        repository.add_worktree("task", &task, BRANCH, &head).unwrap();
        Self { outer, inner, _deep: deep, repository, task, head }
    }

    fn fill(&self, exact: bool) -> Result<(), RepoError> {
        self.repository.fill_submodules("task", &self.task, &self.head, exact)
    }

    /// Lets the address of the submodule be one of a server, and forgets what the person has of it.
    fn move_to_server(&mut self) {
        let served = self.outer.beside("served.git");
        init_bare_in(&served);
        git(self.inner.top(), &["push", "-q", served.to_str().unwrap(), "main"]);
        let url = format!("ssh://host{}", served.display());
        git(self.outer.top(), &["config", "-f", ".gitmodules", "submodule.vendor/inner.url", &url]);
        git(self.outer.top(), &["commit", "-q", "-a", "-m", "a server"]);
        fs::remove_dir_all(self.outer.git_dir().join("modules")).unwrap();
        self.head = git(self.outer.top(), &["rev-parse", "HEAD"]);
    }
}

#[test]
fn submodules_are_filled_from_what_the_person_has() {
    let sample = Sample::new();
    let before = calls();
    sample.fill(false).unwrap();
    assert_eq!(calls(), before, "nothing is fetched");
    for path in ["vendor/inner/README.md", "vendor/inner/deep/README.md"] {
        assert_eq!(fs::read_to_string(sample.task.join(path)).unwrap(), "a sample\n", "{path}");
    }
    assert_eq!(git(&sample.task, &["status", "--porcelain"]), "");
    assert!(git(&sample.task, &["submodule", "status", "--recursive"]).lines().all(|line| line.starts_with(' ')));
    assert_eq!(sample.repository.evidence(&sample.task, BRANCH, PROJECT, &[]).unwrap().dirty_count, 0);
    let nested = sample.repository.nested_repositories("task", &sample.task, &sample.head).unwrap();
    assert_eq!(nested.len(), 2);
    for nested in nested {
        let kept = sample.repository.rescue_nested("refs/vibe-relay/rescue/TASK-001", &nested).unwrap();
        assert_eq!(kept, NestedWork::Nothing, "{}: its commit is elsewhere, too", nested.path);
    }
}

#[test]
fn work_in_a_submodule_stays_unless_the_checkout_has_to_be_exact() {
    let sample = Sample::new();
    sample.fill(false).unwrap();
    write_in(&sample.task, "vendor/inner/README.md", "work\n");
    let read = || fs::read_to_string(sample.task.join("vendor/inner/README.md")).unwrap();
    sample.fill(false).unwrap();
    assert_eq!(read(), "work\n");
    sample.fill(true).unwrap();
    assert_eq!(read(), "a sample\n");
    assert_eq!(fs::read_to_string(sample.task.join("vendor/inner/deep/README.md")).unwrap(), "a sample\n");
    // A run that was killed before the last file.
    fs::remove_file(sample.repository.git_dir().join("worktrees/task/modules/vendor/inner/index")).unwrap();
    fs::remove_file(sample.task.join("vendor/inner/README.md")).unwrap();
    sample.fill(false).unwrap();
    assert_eq!(read(), "a sample\n");
}

#[test]
fn submodule_is_fetched_once_from_its_address() {
    let mut sample = Sample::new();
    sample.move_to_server();
    let refused = sample.fill(false).unwrap_err();
    assert_eq!(refused.code(), "submodule-not-filled");
    assert!(refused.to_string().contains("deep") && refused.is_of_machine(), "git fetches no submodule from a folder: {refused}");
    assert_eq!(fs::read_to_string(sample.task.join("vendor/inner/README.md")).unwrap(), "a sample\n", "the other one came from the server");
    fs::remove_dir_all(sample.outer.beside("served.git")).unwrap();
    let path = sample.outer.beside("review");
    sample.repository.add_detached("review", &path, &sample.head).unwrap();
    sample.repository.fill_submodules("review", &path, &sample.head, true).unwrap_err();
    assert_eq!(fs::read_to_string(path.join("vendor/inner/README.md")).unwrap(), "a sample\n", "all checkouts borrow from one store");
}

#[test]
fn addresses_of_agents_are_not_used() {
    let sample = Sample::new();
    git(&sample.task, &["config", "-f", ".gitmodules", "submodule.stolen.path", "stolen"]);
    git(&sample.task, &["config", "-f", ".gitmodules", "submodule.stolen.url", "ssh://host/secret"]);
    let commit = git(sample.inner.top(), &["rev-parse", "HEAD"]);
    git(&sample.task, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},stolen")]);
    git(&sample.task, &["add", ".gitmodules"]);
    git(&sample.task, &["commit", "-q", "-m", "a submodule of the agent"]);
    let before = calls();
    sample.fill(false).unwrap();
    assert!(calls() == before && !sample.task.join("stolen/README.md").exists());
    assert!(sample.task.join("vendor/inner/README.md").exists(), "those of the base are filled");
}
