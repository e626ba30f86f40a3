//! Commits of nested repositories outlive the checkout, whatever an agent did to hide them.

use std::fs;

use super::NestedWork;
use crate::git_program::git;
use crate::testing::{TaskCheckout, write_in};

const PREFIX: &str = "refs/vibe-relay/rescue/TASK-001/nested/";

fn work() -> TaskCheckout {
    TaskCheckout::new(&[])
}

impl TaskCheckout {
    /// Creates a nested repository with one commit and returns that commit.
    fn nest(&self, at: &str) -> String {
        git(&self.path, &["init", "-q", "-b", "main", at]);
        write_in(&self.path, &format!("{at}/inner.txt"), "inner\n");
        self.commit(at, "inner work")
    }

    fn commit(&self, at: &str, message: &str) -> String {
        let nested = self.path.join(at);
        git(&nested, &["add", "."]);
        git(&nested, &["commit", "-q", "--allow-empty", "-m", message]);
        git(&nested, &["rev-parse", "HEAD"])
    }

    fn found(&self) -> Vec<String> {
        self.repository.nested_repositories("task", &self.path, &self.head).unwrap().into_iter().map(|nested| nested.path).collect()
    }

    /// Rescues every nested repository, and returns the paths with the outcome and the kept commit.
    fn rescue_nested(&self) -> Vec<(String, NestedWork, Option<String>)> {
        let nested = self.repository.nested_repositories("task", &self.path, &self.head).unwrap();
        let rescued = nested.into_iter().map(|nested| {
            let reference = format!("{PREFIX}{}", nested.reference_name());
            let outcome = self.repository.rescue_nested(&reference, &nested).unwrap();
            let kept = (outcome == NestedWork::Kept).then(|| git(self.sample.top(), &["rev-parse", &reference]));
            (nested.path, outcome, kept)
        });
        let rescued = rescued.collect();
        git(self.sample.top(), &["fsck", "--strict", "--connectivity-only"]);
        rescued
    }

    /// Whether the main repository still holds `commit` after the checkout was removed and garbage was collected.
    fn survives(&self, commit: &str) -> bool {
        self.repository.remove_worktree("task", &self.path).unwrap();
        git(self.sample.top(), &["gc", "-q", "--prune=now"]);
        self.repository.tree_of(&commit.to_owned()).is_ok()
    }
}

#[test]
fn commits_behind_a_link_are_kept() {
    let work = work();
    let inner = work.nest("lib/inner");
    git(&work.path, &["-c", "advice.addEmbeddedRepo=false", "add", "."]);
    git(&work.path, &["commit", "-q", "-m", "a link"]);
    assert_eq!(work.rescue_nested(), [("lib/inner".to_owned(), NestedWork::Kept, Some(inner.clone()))]);
    assert_eq!(work.rescue_nested()[0].2, Some(inner.clone()), "a repeated rescue finds its own reference");
    assert!(work.survives(&inner));
}

#[test]
fn ignored_and_top_level_repositories_are_searched() {
    let work = work();
    let ignored = work.nest("target/tool");
    fs::remove_file(work.path.join(".git")).unwrap();
    git(&work.path, &["init", "-q", "-b", "main"]);
    let top = work.commit(".", "instead of the checkout");
    let mut kept = work.rescue_nested();
    kept.sort_by(|one, two| one.0.cmp(&two.0));
    assert_eq!(kept.iter().map(|(path, ..)| path.as_str()).collect::<Vec<_>>(), [".", "target/tool"]);
    assert_eq!(kept[0].2.as_ref(), Some(&top));
    assert!(work.survives(&ignored));
    assert!(work.repository.tree_of(&top).is_ok());
}

#[test]
fn all_branches_and_uncommitted_files_are_kept() {
    let work = work();
    let main = work.nest("inner");
    let nested = work.path.join("inner");
    git(&nested, &["switch", "-q", "-c", "side"]);
    let side = work.commit("inner", "on a side branch");
    git(&nested, &["switch", "-q", "--detach", &main]);
    let detached = work.commit("inner", "on no branch");
    write_in(&nested, "draft.txt", "not committed\n");
    let rescued = work.rescue_nested();
    let kept = rescued[0].2.clone().unwrap();
    let log = git(work.sample.top(), &["log", "--format=%H", &kept]);
    for commit in [&main, &side, &detached] {
        assert!(log.contains(commit.as_str()), "{commit} is missing in {log}");
    }
    let uncommitted = git(work.sample.top(), &["log", "--format=%H", "--grep=Work that was not committed", &kept]);
    assert_eq!(work.repository.file_at(&uncommitted, "draft.txt").unwrap().unwrap(), b"not committed\n");
}

#[test]
fn a_submodule_of_the_checkout_is_found_in_its_git_folder() {
    let work = work();
    let origin = work.sample.beside("origin");
    git(work.sample.root(), &["init", "-q", "-b", "main", origin.to_str().unwrap()]);
    git(&origin, &["commit", "-q", "--allow-empty", "-m", "from elsewhere"]);
    git(&work.path, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", origin.to_str().unwrap(), "sub"]);
    assert_eq!(work.rescue_nested(), [("sub".to_owned(), NestedWork::Nothing, None)], "its remote has everything");
    let own = work.commit("sub", "only here");
    git(&work.path, &["commit", "-q", "-m", "a submodule"]);
    git(&work.path, &["submodule", "deinit", "-q", "-f", "sub"]);
    assert_eq!(work.rescue_nested()[0].2, Some(own.clone()), "without files too");
    assert!(work.survives(&own));
}

#[test]
fn a_clone_without_new_commits_costs_nothing() {
    let work = work();
    git(&work.path, &["clone", "-q", work.sample.top().to_str().unwrap(), "copy"]);
    assert_eq!(work.rescue_nested(), [("copy".to_owned(), NestedWork::Nothing, None)]);
}

#[test]
fn a_repository_that_cannot_be_copied_is_reported() {
    let work = work();
    work.nest("pipe");
    nix::unistd::mkfifo(&work.path.join("pipe/.git/refs/heads/blocks"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let source = work.sample.top().to_str().unwrap().to_owned();
    git(&work.path, &["clone", "-q", "--depth=1", &format!("file://{source}"), "shallow"]);
    work.commit("shallow", "on top");
    work.nest("broken");
    fs::write(work.path.join("broken/.git/config"), "[core\n").unwrap();
    let mut reasons: Vec<String> = Vec::new();
    for (path, outcome, _) in work.rescue_nested() {
        let NestedWork::NotKept { why } = outcome else { panic!("{path}: {outcome:?}") };
        reasons.push(format!("{path}: {}", why.replace(work.path.to_str().unwrap(), "")));
    }
    reasons.sort();
    assert_eq!(reasons.len(), 3);
    assert!(reasons[0].starts_with("broken: could not read"), "{reasons:?}");
    assert!(reasons[1].contains("blocks is neither a file nor a folder"), "{reasons:?}");
    assert!(reasons[2].contains("it is a shallow clone"), "{reasons:?}");
}

#[test]
fn a_checkout_without_nested_repositories_has_none() {
    let work = work();
    write_in(&work.path, "src/lib.rs", "x");
    assert_eq!(work.found(), [""; 0]);
}
