//! Setup of a checkout before its agent: output, failure, time limit, stop, and what a later run does not repeat.

use std::fs;
use std::path::PathBuf;

use runner::run_dir::{ExitErrorKind, RunSpec};
use runner::setup::{Reuse, SetupCommand, SetupSpec};
use runner::shim::control::SignalName;

use crate::run::{Run, is_gone};

fn setup(spec: &RunSpec, lines: &[&str]) -> SetupSpec {
    let command = |line: &&str| SetupCommand { line: (*line).to_owned(), argv: ["/bin/sh", "-c", line].map(str::to_owned).into() };
    SetupSpec { commands: lines.iter().map(command).collect(), limit_seconds: 600, stamp: spec.cwd.join("stamp"), key: "key".to_owned(), reuse: None }
}

fn run_with(lines: &[&str], change: impl FnOnce(&mut SetupSpec)) -> Run {
    Run::with(|spec| {
        spec.argv = ["/bin/sh", "-c", "read -r line; echo \"agent $line\""].map(str::to_owned).into();
        spec.first_line = Some("prompt".to_owned());
        let mut setup = setup(spec, lines);
        change(&mut setup);
        spec.setup = Some(setup);
    })
}

#[tokio::test]
async fn agent_starts_after_commands_that_ended_well() {
    let run = run_with(&["echo $GREETING; echo warning >&2; pwd > where", "cat where > copied"], |_| {});
    run.start();
    assert_eq!(run.ended().await.code, Some(0));
    let folder = run.folder.path().canonicalize().unwrap();
    assert_eq!(fs::read_to_string(folder.join("copied")).unwrap().trim(), folder.display().to_string());
    let output = run.output().replace("after 0 s", "after N s");
    insta::assert_snapshot!(output, @r#"
    {"type":"vibe_relay_setup","event":"started","id":"setup-1","line":"echo $GREETING; echo warning >&2; pwd > where"}
    {"type":"vibe_relay_setup","event":"printed","text":"hello"}
    {"type":"vibe_relay_setup","event":"printed","text":"warning"}
    {"type":"vibe_relay_setup","event":"ended","id":"setup-1","ok":true,"text":"ended well after N s"}
    {"type":"vibe_relay_setup","event":"started","id":"setup-2","line":"cat where > copied"}
    {"type":"vibe_relay_setup","event":"ended","id":"setup-2","ok":true,"text":"ended well after N s"}
    agent prompt
    "#);
    assert_eq!(fs::read_to_string(folder.join("stamp")).unwrap(), "key");
}

#[tokio::test]
async fn stamped_checkout_is_not_set_up_again() {
    let run = run_with(&["exit 1"], |setup| fs::write(&setup.stamp, "key").unwrap());
    run.start();
    run.ended().await;
    assert_eq!(run.output(), "agent prompt\n");
    let changed = run_with(&["echo again"], |setup| fs::write(&setup.stamp, "old").unwrap());
    changed.start();
    changed.ended().await;
    assert!(changed.output().contains("\"text\":\"again\""), "other commands or lock files");
}

#[tokio::test]
async fn stamp_is_not_written_through_a_link() {
    let run = run_with(&["true"], |setup| std::os::unix::fs::symlink("target", &setup.stamp).unwrap());
    run.start();
    run.ended().await;
    assert!(!run.folder.path().join("target").exists());
}

#[tokio::test]
async fn failed_command_ends_the_run_without_its_agent() {
    let run = run_with(&["echo installing; echo no such package >&2; exit 3", "echo never"], |_| {});
    run.start();
    let exit = run.ended().await;
    let error = exit.error.unwrap();
    assert_eq!((exit.code, error.kind), (Some(3), ExitErrorKind::SetupFailed));
    insta::assert_snapshot!(error.detail, @"`echo installing; echo no such package >&2; exit 3` ended with exit code 3. installing no such package");
    assert!(!run.output().contains("never") && !run.output().contains("agent"));
    assert!(!run.folder.path().join("stamp").exists());
}

#[tokio::test]
async fn command_that_takes_too_long_is_ended_with_its_children() {
    let run = run_with(&["sleep 1000 & echo $! > child; wait"], |setup| setup.limit_seconds = 1);
    run.start();
    let error = run.ended().await.error.unwrap();
    assert_eq!(error.kind, ExitErrorKind::SetupFailed);
    assert!(error.detail.contains("did not end within"), "{}", error.detail);
    assert!(is_gone(&fs::read_to_string(run.folder.path().join("child")).unwrap()));
}

#[tokio::test]
async fn stopped_setup_is_no_failure_and_starts_no_agent() {
    let run = run_with(&["echo > ready; sleep 1000"], |_| {});
    run.start();
    run.file("ready").await;
    run.control().await.signal(SignalName::Terminate).await.unwrap();
    let exit = run.ended().await;
    assert_eq!((exit.signal, exit.error), (Some(15), None));
    assert!(!run.output().contains("agent"));
}

#[tokio::test]
async fn message_during_a_setup_is_refused_and_arrives_once_when_it_is_sent_again() {
    let run = Run::with(|spec| {
        spec.argv = ["/bin/sh", "-c", "echo > started; while read -r line; do echo \"agent $line\"; done"].map(str::to_owned).into();
        spec.first_line = Some("prompt".to_owned());
        spec.setup = Some(setup(spec, &["echo > ready; until [ -e go ]; do sleep 0.01; done"]));
    });
    run.start();
    run.file("ready").await;
    let control = run.control().await;
    let refused = control.send_line("hello").await.unwrap_err();
    insta::assert_snapshot!(refused, @"the shim refused: the agent has not started, because its checkout is being set up");
    control.close_stdin().await.unwrap();
    fs::write(run.folder.path().join("go"), "").unwrap();
    run.file("started").await;
    while control.send_line("hello").await.is_err() {}
    control.close_stdin().await.unwrap();
    run.ended().await;
    assert!(run.output().ends_with("agent prompt\nagent hello\n"), "{}", run.output());
}

#[tokio::test]
async fn process_that_a_command_leaves_behind_does_not_delay_the_agent() {
    let run = run_with(&["sleep 1000 & echo $! > child"], |_| {});
    run.start();
    assert_eq!(run.ended().await.code, Some(0));
    assert!(run.output().ends_with("agent prompt\n"));
    assert!(is_gone(&fs::read_to_string(run.folder.path().join("child")).unwrap()), "the run takes it along");
}

#[tokio::test]
async fn second_checkout_gets_a_copy_instead_of_a_setup() {
    let cache = tempfile::tempdir().unwrap();
    let reuse = |keep| Some(Reuse { cache: cache.path().join("key"), folders: vec![PathBuf::from("modules")], keep });
    let fill = "mkdir modules; echo one > modules/a";
    for keep in [false, true] {
        let first = run_with(&[fill], |setup| setup.reuse = reuse(keep));
        first.start();
        first.ended().await;
        assert_eq!(cache.path().join("key/modules/a").exists(), keep);
    }
    let second = run_with(&["exit 1"], |setup| setup.reuse = reuse(false));
    second.start();
    assert_eq!(second.ended().await.code, Some(0));
    assert_eq!(fs::read_to_string(second.folder.path().join("modules/a")).unwrap(), "one\n");
    assert!(second.output().contains("copied modules from an earlier setup"), "{}", second.output());
}
