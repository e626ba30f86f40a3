//! A check in the place of an agent: its output, its limits, and its end.

use std::fs;

use domain::runs::output::COMMAND_OUTPUT_FILE;
use runner::run_dir::{CheckSpec, ExitErrorKind, ExitRecord};

use super::run::{Run, is_gone};

async fn ended(script: &str, limit_seconds: u64, output_limit: u64) -> (Run, ExitRecord) {
    let run = Run::with(|spec| {
        spec.run_id = None;
        spec.argv = ["/bin/sh", "-c", script].map(str::to_owned).into();
        spec.check = Some(CheckSpec { limit_seconds });
        spec.output_limit = output_limit;
    });
    run.start();
    let exit = run.ended().await;
    (run, exit)
}

#[tokio::test]
async fn check_prints_to_one_file_and_reads_nothing() {
    let (run, exit) = ended("echo out; echo err >&2; cat; exit 3", 60, 1 << 20).await;
    assert_eq!((exit.code, exit.error), (Some(3), None));
    assert!(exit.duration_ms.is_some());
    assert_eq!(fs::read_to_string(run.dir.file(COMMAND_OUTPUT_FILE)).unwrap(), "out\nerr\n");
    assert_eq!(run.output(), "");
}

#[tokio::test]
async fn check_that_takes_too_long_is_ended_with_its_children() {
    let (run, exit) = ended("sleep 1000 & echo $! > child; wait", 1, 1 << 20).await;
    assert_eq!(exit.error.unwrap().kind, ExitErrorKind::TimedOut);
    assert!(is_gone(&fs::read_to_string(run.folder.path().join("child")).unwrap()));
}

#[tokio::test]
async fn check_that_prints_without_end_is_ended() {
    let (_, exit) = ended("while :; do echo flood; done", 60, 1000).await;
    assert_eq!(exit.error.unwrap().kind, ExitErrorKind::OutputLimit);
}
