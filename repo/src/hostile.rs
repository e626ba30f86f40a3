//! Tests a repository that configures a program wherever git would start one. This crate must not run any of them.
//!
//! Each program writes a marker file with its name. As a control, the `git` program runs on the same repository and
//! does start them, so an empty marker folder is meaningful.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::git_program::{make_key, run, run_with, serve_calls};
use crate::testing::{TestRepository, write_in};
use crate::{DiffLimits, LandOutcome, LandRequest, MergeOutcome, probe};

const HOOKS: [&str; 14] = [
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "reference-transaction",
    "update",
];

/// Configuration whose value is a program.
const PROGRAMS: [&str; 18] = [
    "core.fsmonitor",
    "core.sshCommand",
    "core.askPass",
    "core.pager",
    "core.editor",
    "sequence.editor",
    "credential.helper",
    "gpg.program",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.shown.textconv",
    "merge.evil.driver",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.long.process",
    "interactive.diffFilter",
    "uploadpack.packObjectsHook",
];

struct HostileRepository {
    sample: TestRepository,
    marks: PathBuf,
}

impl HostileRepository {
    /// With `hooks_elsewhere`, the hooks are in the folder of `core.hooksPath` instead of `.git/hooks`.
    fn new(hooks_elsewhere: bool) -> Self {
        let sample = TestRepository::new();
        sample.write(".gitattributes", "* filter=evil diff=evil merge=evil\n*.long filter=long\n*.shown diff=shown\n");
        sample.write("code.txt", "one\ntwo\nthree\n");
        sample.write("a.long", "long\n");
        sample.write("a.shown", "shown\n");
        sample.commit_all("code");
        let marks = sample.beside("marks");
        fs::create_dir(&marks).unwrap();
        let hostile = Self { sample, marks };

        let hooks = if hooks_elsewhere { hostile.sample.beside("hooks") } else { hostile.sample.git_dir().join("hooks") };
        fs::create_dir_all(&hooks).unwrap();
        for hook in HOOKS {
            let program = hostile.program(&format!("hook.{hook}"));
            fs::copy(program, hooks.join(hook)).unwrap();
        }
        let configure = |name: &str, value: &str| hostile.sample.configure(name, value);
        if hooks_elsewhere {
            configure("core.hooksPath", hooks.to_str().unwrap());
        }
        for name in PROGRAMS {
            configure(name, hostile.program(name).to_str().unwrap());
        }
        configure("merge.default", "evil");
        configure("commit.gpgSign", "true");
        configure("tag.gpgSign", "true");
        configure("remote.origin.url", "ssh://localhost/nowhere");
        configure("remote.ext.url", &format!("ext::{}", hostile.program("remote.ext").display()));
        configure("protocol.ext.allow", "always");
        let attributes = hostile.sample.beside("attributes");
        fs::write(&attributes, "* filter=evil\n").unwrap();
        configure("core.attributesFile", attributes.to_str().unwrap());
        fs::create_dir_all(hostile.sample.git_dir().join("info")).unwrap();
        fs::write(hostile.sample.git_dir().join("info/attributes"), "*.md filter=evil diff=evil merge=evil\n").unwrap();
        hostile
    }

    /// Creates a program that writes a marker and is otherwise harmless.
    fn program(&self, name: &str) -> PathBuf {
        let path = self.sample.beside("programs").join(name);
        let mark = self.marks.join(name);
        let work = if name.starts_with("filter.evil") { "cat" } else { "exit 0" };
        write_in(path.parent().unwrap(), name, &format!("#!/bin/sh\n: > '{}'\n{work}\n", mark.display()));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn marks(&self) -> BTreeSet<String> {
        let names = fs::read_dir(&self.marks).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
        names.collect()
    }
}

#[test]
fn no_program_of_a_hostile_repository_runs() {
    for hooks_elsewhere in [false, true] {
        let hostile = HostileRepository::new(hooks_elsewhere);
        call_every_function(&hostile.sample);
        assert_eq!(hostile.marks(), BTreeSet::new(), "hooks elsewhere: {hooks_elsewhere}");
    }
}

fn call_every_function(sample: &TestRepository) {
    const PROJECT: &str = "vibe-relay/PROJ-001";
    const BRANCH: &str = "vr/TASK-001/work";
    const RESCUE: &str = "refs/vibe-relay/rescue/TASK-001";

    serve_calls();
    // The key of the person is to sign, and the program of the repository is not.
    let key = make_key(sample);
    for (name, value) in [("gpg.format", "ssh"), ("gpg.ssh.program", "/bin/false"), ("user.signingKey", key.to_str().unwrap())] {
        sample.configure(name, value);
    }
    assert_eq!(probe(sample.top(), None).unwrap_err().code(), "filters");
    let repository = sample.repository();
    repository.check().unwrap();
    let identity = repository.identity("runner").unwrap();
    let project = repository.free_branch_name(PROJECT).unwrap();
    let start = repository.ensure_project_branch(&project, "main").unwrap();

    let (task, review) = (sample.beside("task"), sample.beside("review"));
    repository.add_worktree("task", &task, BRANCH, &start).unwrap();
    repository.add_detached("review", &review, &start).unwrap();
    repository.evidence(&task, BRANCH, PROJECT, &[]).unwrap();
    write_in(&task, "code.txt", "changed\n");
    write_in(&task, "new.md", "new\n");
    write_in(&task, "b.long", "new\n");
    assert_eq!(repository.evidence(&task, BRANCH, PROJECT, &[]).unwrap().dirty_count, 3);
    let rescue = repository.rescue(RESCUE, &task, &start).unwrap().unwrap();
    assert!(repository.worktree_head("task").unwrap().is_some());
    repository.clear_locks("task", BRANCH).unwrap();

    repository.move_ref(BRANCH, Some(&start), &rescue.sha, "work").unwrap();
    repository.diff(&start, &rescue.sha, DiffLimits::default()).unwrap();
    repository.changed_paths(&start, &rescue.sha).unwrap();
    repository.log(&start, &rescue.sha, 10).unwrap();
    repository.file_at(&rescue.sha, "code.txt").unwrap();
    repository.tree_of(&rescue.sha).unwrap();

    let other = sample.commit_on("other", &[("code.txt", Some("one\ntwo\nthree\nfour\n")), ("x.txt", Some("x\n"))], "other");
    let merged = repository.merge(PROJECT, &repository.ref_sha(PROJECT).unwrap().unwrap(), &rescue.sha, "merge", &identity).unwrap();
    assert!(matches!(merged, MergeOutcome::Merged { already: false, .. }));
    assert!(matches!(
        repository.merge(PROJECT, &repository.ref_sha(PROJECT).unwrap().unwrap(), &other, "merge", &identity).unwrap(),
        MergeOutcome::Conflict { .. }
    ));
    let base = repository.ref_sha("main").unwrap().unwrap();
    let landed = repository.land(LandRequest {
        project_branch: PROJECT,
        base_branch: "main",
        base_head: &base,
        bring_back: None,
        workdir: sample.top(),
        message: "land",
        identity: &identity,
    });
    let landed = landed.unwrap();
    assert!(matches!(landed, LandOutcome::Landed { fast_forward: true, .. }), "{landed:?}");

    repository.remove_worktree("task", &task).unwrap();
    repository.remove_worktree("review", &review).unwrap();
    repository.rescue_tip("refs/vibe-relay/rescue/other", &other).unwrap();
    assert!(repository.delete_branch(BRANCH, PROJECT).unwrap());
    assert!(repository.delete_branch("other", PROJECT).unwrap());
}

#[test]
fn the_git_program_runs_them() {
    let mut seen = BTreeSet::new();
    for hooks_elsewhere in [false, true] {
        let hostile = HostileRepository::new(hooks_elsewhere);
        let top = hostile.sample.top();
        hostile.sample.commit_on("other", &[("code.txt", Some("other\n"))], "other");
        run(top, &["status"]);
        // Disable the filter process, which has run by now: it violates its protocol and every later command would fail.
        let run_git = |arguments: &[&str]| _ = run(top, &[&["-c", "filter.long.process="], arguments].concat());
        run_git(&["worktree", "add", "../control", "-b", "control"]);
        hostile.sample.write("code.txt", "mine\n");
        run_git(&["diff"]);
        run_git(&["diff", "--no-ext-diff"]);
        run_git(&["-c", "diff.external=", "log", "-p", "--textconv"]);
        run_git(&["add", "-A"]);
        run_git(&["commit", "-m", "mine"]);
        run_git(&["commit", "--no-gpg-sign"]);
        run_git(&["commit", "--no-gpg-sign", "--amend", "--no-edit"]);
        run_git(&["-c", "commit.gpgSign=false", "merge", "other"]);
        run_git(&["fetch", "origin"]);
        run_git(&["fetch", "ext"]);
        run_with(top, &["credential", "fill"], "protocol=https\nhost=example.org\n\n");
        let marks = hostile.marks();
        assert!(marks.iter().filter(|mark| mark.starts_with("hook.")).count() >= 3, "{marks:?}");
        seen.extend(marks);
    }
    let expected = [
        "core.fsmonitor",
        "core.sshCommand",
        "core.askPass",
        "core.editor",
        "credential.helper",
        "gpg.program",
        "diff.evil.command",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.long.process",
        "merge.evil.driver",
        "remote.ext",
    ];
    let silent: Vec<_> = expected.iter().filter(|mark| !seen.contains(**mark)).collect();
    assert!(silent.is_empty(), "did not run: {silent:?}; ran: {seen:?}");
}
