//! Every combination of evidence, and runs whose folder, lock or process record is missing.

use std::fs::{self, File};

use super::*;
use crate::run_dir::RunSpec;

fn exit() -> ExitRecord {
    ExitRecord { code: Some(0), signal: None, ended_at: db::now(), killed_leftovers: 0, duration_ms: None, error: None }
}

#[test]
fn run_is_gone_only_when_that_is_proven() {
    let unknown = || "too many open files".to_owned();
    let mut table = String::new();
    for rebooted in [false, true] {
        for (lock_name, lock) in [("held", Lock::Held), ("free", Lock::Free), ("missing", Lock::Missing), ("unreadable", Lock::Unreadable(unknown()))]
        {
            for (exit_name, exit) in [("exit", Ok(Some(exit()))), ("no exit", Ok(None)), ("exit unreadable", Err(unknown()))] {
                for (shim_name, shim) in [
                    ("running", Ok(Shim::Running)),
                    ("gone", Ok(Shim::Gone)),
                    ("not recorded", Ok(Shim::NotRecorded { marked: false })),
                    ("marked", Ok(Shim::NotRecorded { marked: true })),
                    ("unknown", Err(unknown())),
                ] {
                    let verdict = judge(&Evidence { rebooted, lock: lock.clone(), exit: exit.clone(), shim });
                    let told = match verdict {
                        Verdict::Alive => "alive".to_owned(),
                        Verdict::Unreachable(reason) => format!("unreachable: {reason}"),
                        Verdict::Ended(_) => "ended".to_owned(),
                        Verdict::Dead(kind) => format!("dead: {kind:?}"),
                    };
                    let boot = if rebooted { "rebooted" } else { "same boot" };
                    table.push_str(&format!("{boot:9} | lock {lock_name:10} | {exit_name:15} | shim {shim_name:12} -> {told}\n"));
                }
            }
        }
    }
    insta::assert_snapshot!(table);
}

fn process(shim: Option<ShimProcess>) -> RunProcess {
    RunProcess { marker: format!("RUN-001.{}", uuid::Uuid::new_v4()), boot_id: procfs::boot_id().ok(), shim }
}

/// This test's own process, which is alive, in the place of a shim.
fn alive() -> ShimProcess {
    let pid = i32::try_from(std::process::id()).unwrap();
    ShimProcess { pid, started: procfs::process(pid).unwrap().unwrap().started }
}

fn run_dir(folder: &tempfile::TempDir) -> RunDir {
    let spec = RunSpec {
        run_id: Some(domain::id::RunId::new(1)),
        marker: "RUN-001.x".to_owned(),
        argv: vec!["/bin/true".to_owned()],
        cwd: folder.path().to_owned(),
        env: Default::default(),
        first_line: None,
        output_limit: 1,
        jail: None,
        setup: None,
        check: None,
    };
    RunDir::create(&folder.path().join("run"), &spec).unwrap()
}

fn kind(liveness: Liveness) -> Option<ExitErrorKind> {
    match liveness {
        Liveness::Gone(exit) => exit.error.map(|error| error.kind),
        other => panic!("{other:?}"),
    }
}

#[test]
fn removed_folder_does_not_end_a_run_whose_shim_lives() {
    let folder = tempfile::tempdir().unwrap();
    let dir = run_dir(&folder);
    fs::remove_dir_all(dir.path()).unwrap();
    let reason = "its process is alive, but its folder was removed".to_owned();
    assert_eq!(inspect(dir.path(), &process(Some(alive()))), Liveness::Unreachable { reason });
    let reused = ShimProcess { started: alive().started + 1, ..alive() };
    assert_eq!(kind(inspect(dir.path(), &process(Some(reused)))), Some(ExitErrorKind::Lost), "another process has its id");
    assert_eq!(kind(inspect(dir.path(), &process(None))), Some(ExitErrorKind::NeverStarted), "no process carries its marker");
}

#[test]
fn replaced_lock_does_not_end_a_run_whose_shim_lives() {
    let folder = tempfile::tempdir().unwrap();
    let dir = run_dir(&folder);
    fs::remove_file(dir.file("lock")).unwrap();
    File::create(dir.file("lock")).unwrap();
    let reason = "its process is alive, but its lock file was replaced".to_owned();
    assert_eq!(inspect(dir.path(), &process(Some(alive()))), Liveness::Unreachable { reason });
}

#[test]
fn restart_of_the_machine_ends_every_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = run_dir(&folder);
    let process = RunProcess { boot_id: Some("another start".to_owned()), ..process(Some(alive())) };
    assert_eq!(kind(inspect(dir.path(), &process)), Some(ExitErrorKind::Rebooted));
    assert_eq!(dir.exit().unwrap().and_then(|exit| exit.error).map(|error| error.kind), Some(ExitErrorKind::Rebooted), "it is on record");
}

#[test]
fn run_whose_shim_never_listened_was_never_started() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(kind(inspect(run_dir(&folder).path(), &process(None))), Some(ExitErrorKind::NeverStarted));
}
