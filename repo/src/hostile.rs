//! Tests a repository that configures a program wherever git would start one. This crate must not run any of them.
//!
//! Each program writes a marker file with its name. As a control, the `git` program runs on the same repository and
//! does start them, so an empty marker folder is meaningful.

mod coverage;
mod operations;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::git_program::{run, run_with};
use crate::testing::{TestRepository, write_in};

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
    /// With `hooks_elsewhere`, the hooks are in the folder of `core.hooksPath` instead of `.git/hooks`. With `has_filters`, its attributes name
    /// filters besides other programs.
    fn new(hooks_elsewhere: bool, has_filters: bool) -> Self {
        let sample = TestRepository::new();
        let filters = if has_filters { "* filter=evil\n*.long filter=long\n" } else { "" };
        sample.write(".gitattributes", &format!("* diff=evil merge=evil\n{filters}*.shown diff=shown\n"));
        sample.write(".gitignore", "*.env\n");
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
        configure("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
        configure("branch.main.remote", "origin");
        configure("branch.main.merge", "refs/heads/main");
        configure("remote.ext.url", &format!("ext::{}", hostile.program("remote.ext").display()));
        configure("protocol.ext.allow", "always");
        let attributes = hostile.sample.beside("attributes");
        let filter = if has_filters { " filter=evil" } else { "" };
        fs::write(&attributes, format!("* diff=evil{filter}\n")).unwrap();
        configure("core.attributesFile", attributes.to_str().unwrap());
        fs::create_dir_all(hostile.sample.git_dir().join("info")).unwrap();
        fs::write(hostile.sample.git_dir().join("info/attributes"), format!("*.md diff=evil merge=evil{filter}\n")).unwrap();
        hostile.sample.set_reference("refs/remotes/origin/main", &hostile.sample.repository().base_tip("main").unwrap());
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

#[tokio::test]
async fn no_program_of_a_hostile_repository_runs() {
    for (hooks_elsewhere, has_filters) in [(false, true), (true, true), (false, false)] {
        let hostile = HostileRepository::new(hooks_elsewhere, has_filters);
        operations::call_every_function(&hostile.sample, has_filters).await;
        assert_eq!(hostile.marks(), BTreeSet::new(), "hooks elsewhere: {hooks_elsewhere}, filters: {has_filters}");
    }
}

#[test]
fn the_git_program_runs_them() {
    let mut seen = BTreeSet::new();
    for hooks_elsewhere in [false, true] {
        let hostile = HostileRepository::new(hooks_elsewhere, true);
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
