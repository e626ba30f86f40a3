//! A fetch brings the commits of an upstream, moves no branch of the person, and runs nothing of the repository.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;
use crate::git_program::{git, run};
use crate::testing::TestRepository;

/// A repository whose `main` follows that of a bare one, and a second clone of that.
struct Remote {
    sample: TestRepository,
    url: PathBuf,
    other: PathBuf,
}

impl Remote {
    fn new() -> Self {
        let sample = TestRepository::new();
        let (url, other) = (sample.beside("remote.git"), sample.beside("other"));
        git(sample.root(), &["clone", "--quiet", "--bare", sample.top().to_str().unwrap(), url.to_str().unwrap()]);
        git(sample.root(), &["clone", "--quiet", url.to_str().unwrap(), other.to_str().unwrap()]);
        git(sample.top(), &["remote", "add", "origin", url.to_str().unwrap()]);
        git(sample.top(), &["config", "branch.main.remote", "origin"]);
        git(sample.top(), &["config", "branch.main.merge", "refs/heads/main"]);
        for (key, value) in [("user.name", "Otto Other"), ("user.email", "otto@example.org")] {
            git(&other, &["config", key, value]);
        }
        Self { sample, url, other }
    }

    fn push(&self, file: &str, content: &str) -> Sha {
        fs::write(self.other.join(file), content).unwrap();
        git(&self.other, &["add", "--all"]);
        git(&self.other, &["commit", "--quiet", "-m", file]);
        git(&self.other, &["push", "--quiet", "origin", "HEAD:main"]);
        git(&self.other, &["rev-parse", "HEAD"])
    }

    fn fetch(&self) -> Sha {
        let (repository, carrier) = (self.sample.repository(), self.sample.beside("carrier.git"));
        let Upstream { url, reference, .. } = repository.upstream("main").unwrap().unwrap();
        repository.make_fetch_carrier(&carrier, "main").unwrap();
        let update = format!("+{reference}:{FETCHED}");
        let fetched = run(&carrier, &["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", &url, &update]);
        assert!(fetched.status.success(), "{}", String::from_utf8_lossy(&fetched.stderr));
        let taken = repository.take_fetched(&carrier, "main").unwrap();
        fs::remove_dir_all(carrier).unwrap();
        taken
    }
}

#[test]
fn upstream_is_that_of_the_branch_in_a_remote() {
    let remote = Remote::new();
    let repository = remote.sample.repository();
    let found = repository.upstream("main").unwrap().unwrap();
    assert_eq!((found.remote.as_str(), found.url, found.reference.as_str()), ("origin", remote.url.display().to_string(), "refs/heads/main"));
    assert_eq!(repository.upstream("other").unwrap(), None);
    git(remote.sample.top(), &["config", "branch.main.remote", "."]);
    assert_eq!(repository.upstream("main").unwrap(), None, "a branch of this repository is no upstream");
}

#[test]
fn fetched_commits_arrive_and_no_branch_moves() {
    let remote = Remote::new();
    let branches = || git(remote.sample.top(), &["for-each-ref", "refs/heads", "refs/remotes", "refs/tags"]);
    let before = branches();
    assert_eq!(remote.fetch(), remote.sample.repository().ref_sha("main").unwrap().unwrap(), "nothing is new");
    let first = remote.push("a.txt", "one\n");
    assert_eq!(remote.fetch(), first);
    let second = remote.push("a.txt", "two\n");
    assert_eq!(remote.fetch(), second);
    assert_eq!(branches(), before);
    assert_eq!(remote.sample.repository().upstream_tip("main").unwrap(), Some(second.clone()));
    assert_eq!(git(remote.sample.top(), &["show", &format!("{second}:a.txt")]), "two");
    git(remote.sample.top(), &["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn fetch_runs_nothing_of_the_repository() {
    let remote = Remote::new();
    let (marker, program) = (remote.sample.beside("ran"), remote.sample.beside("evil"));
    fs::write(&program, format!("#!/bin/sh\necho x >> {}\n", marker.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let hook = remote.sample.git_dir().join("hooks/reference-transaction");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::copy(&program, &hook).unwrap();
    for key in ["core.fsmonitor", "core.sshCommand", "credential.helper", "remote.origin.uploadpack", "core.alternateRefsCommand"] {
        git(remote.sample.top(), &["config", key, program.to_str().unwrap()]);
    }
    let _ = fs::remove_file(&marker);
    let tip = remote.push("a.txt", "one\n");
    assert_eq!(remote.fetch(), tip);
    assert!(!marker.exists(), "{}", fs::read_to_string(&marker).unwrap_or_default());
    // The same fetch in the repository itself runs them: this test can fail.
    run(remote.sample.top(), &["fetch", "--quiet", "origin"]);
    assert!(marker.exists());
}

#[test]
fn project_branch_lacks_what_the_base_or_its_upstream_gained() {
    let remote = Remote::new();
    let (sample, repository) = (&remote.sample, remote.sample.repository());
    let start = repository.ref_sha("main").unwrap().unwrap();
    let lacking = |project: &Sha| repository.unmerged_base_tips(project, "main", &start).unwrap();
    assert!(lacking(&start).is_empty());
    let theirs = remote.push("theirs.txt", "x\n");
    remote.fetch();
    assert_eq!(lacking(&start), std::slice::from_ref(&theirs));
    let ours = sample.commit_on("main", &[("ours.txt", Some("x\n"))], "ours");
    assert_eq!(lacking(&start), [ours.clone(), theirs.clone()], "they went apart");
    let merged = sample.commit_as(&ours, &[&ours, &theirs], "pulled");
    sample.set_branch("main", &merged);
    assert_eq!(lacking(&start), std::slice::from_ref(&merged), "the base has both");
    assert!(lacking(&merged).is_empty());
    // Someone removed commits from the base. The landing decides about them.
    sample.set_branch("main", &start);
    assert!(repository.unmerged_base_tips(&ours, "main", &ours).unwrap().iter().all(|tip| *tip != start));
    let unrelated = sample.commit_as(&start, &[], "another history");
    sample.set_branch("main", &unrelated);
    assert_eq!(repository.unmerged_base_tips(&start, "main", &unrelated).unwrap(), [theirs]);
}
