//! Tests a repository that configures a program wherever git would start one. This crate must not run any of them.
//!
//! Each program writes a marker file with its name. As a control, the `git` program runs on the same repository and
//! does start them, so an empty marker folder is meaningful.

mod coverage;
mod operations;

use std::collections::BTreeSet;

use crate::git_program::{run, run_with};
use crate::testing::TestRepository;
use crate::testing::hostile::{marks, plant};

#[tokio::test]
async fn no_program_of_a_hostile_repository_runs() {
    for (hooks_elsewhere, has_filters) in [(false, true), (true, true), (false, false)] {
        let sample = TestRepository::new();
        plant(&sample, hooks_elsewhere, has_filters);
        operations::call_every_function(&sample, has_filters).await;
        assert_eq!(marks(&sample), BTreeSet::new(), "hooks elsewhere: {hooks_elsewhere}, filters: {has_filters}");
    }
}

#[test]
fn the_git_program_runs_them() {
    let mut seen = BTreeSet::new();
    for hooks_elsewhere in [false, true] {
        let sample = TestRepository::new();
        plant(&sample, hooks_elsewhere, true);
        let top = sample.top();
        sample.commit_on("other", &[("code.txt", Some("other\n"))], "other");
        run(top, &["status"]);
        // Disable the filter process, which has run by now: it violates its protocol and every later command would fail.
        let run_git = |arguments: &[&str]| _ = run(top, &[&["-c", "filter.long.process="], arguments].concat());
        run_git(&["worktree", "add", "../control", "-b", "control"]);
        sample.write("code.txt", "mine\n");
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
        let marks = marks(&sample);
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
