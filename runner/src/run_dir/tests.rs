//! The formats in the folder, locked by snapshots, and the states that the lock shows.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn spec() -> RunSpec {
    RunSpec {
        run_id: Some(RunId::new(7)),
        marker: "RUN-007.ab".to_owned(),
        argv: vec!["/usr/bin/claude".to_owned(), "-p".to_owned()],
        cwd: "/repository".into(),
        env: [("PORT".to_owned(), "4001".to_owned())].into(),
        first_line: Some("the prompt".to_owned()),
        output_limit: RunSpec::OUTPUT_LIMIT,
        jail: None,
        setup: None,
        check: None,
    }
}

fn exit() -> ExitRecord {
    ExitRecord {
        code: Some(0),
        signal: None,
        ended_at: Timestamp::from_milliseconds(1_769_850_300_000),
        killed_leftovers: 2,
        duration_ms: None,
        error: None,
    }
}

#[test]
fn spec_round_trips_in_its_recorded_format() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::create(&folder.path().join("runs/RUN-007"), &spec()).unwrap();
    assert_eq!(dir.spec().unwrap(), spec());
    insta::assert_snapshot!(fs::read_to_string(dir.file("spec.json")).unwrap(), @r#"
    {
      "format": 1,
      "run_id": "RUN-007",
      "marker": "RUN-007.ab",
      "argv": [
        "/usr/bin/claude",
        "-p"
      ],
      "cwd": "/repository",
      "env": {
        "PORT": "4001"
      },
      "first_line": "the prompt",
      "output_limit": 268435456
    }
    "#);
}

#[test]
fn exit_record_round_trips_in_its_recorded_format() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::create(&folder.path().join("run"), &spec()).unwrap();
    assert_eq!(dir.exit().unwrap(), None);
    let error = ExitError { kind: ExitErrorKind::OutputLimit, detail: "wrote 300 MiB".to_owned() };
    let killed = ExitRecord { code: None, signal: Some(9), error: Some(error), ..exit() };
    dir.record_exit(&killed).unwrap();
    assert_eq!(dir.exit().unwrap(), Some(killed));
    insta::assert_snapshot!(fs::read_to_string(dir.file("exit.json")).unwrap(), @r#"
    {
      "code": null,
      "signal": 9,
      "ended_at": "2026-01-31T09:05:00.000Z",
      "swept": 2,
      "error": {
        "kind": "output_limit",
        "detail": "wrote 300 MiB"
      }
    }
    "#);
}

#[test]
fn only_the_owner_can_read_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::create(&folder.path().join("runs/run"), &spec()).unwrap();
    dir.record_exit(&exit()).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(dir.path().parent().unwrap()), 0o700);
    assert_eq!(mode(dir.path()), 0o700);
    let mut names = Vec::new();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{:?}", entry.path());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    assert_eq!(names, ["exit.json", "lock", "spec.json", "stderr", "stdout"]);
}

#[test]
fn lock_distinguishes_alive_lost_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::create(&folder.path().join("run"), &spec()).unwrap();
    let lock = dir.lock().unwrap().unwrap();
    assert!(dir.lock().unwrap().is_none());
    assert_eq!(dir.state().unwrap(), RunState::Alive);
    // A shim stays alive after recording the end, because its last output may still be in flight.
    dir.record_exit(&exit()).unwrap();
    assert_eq!(dir.state().unwrap(), RunState::Alive);
    drop(lock);
    assert_eq!(dir.state().unwrap(), RunState::Ended(exit()));
    fs::remove_file(dir.file("exit.json")).unwrap();
    assert_eq!(dir.state().unwrap(), RunState::Lost);
}

#[test]
fn existing_folder_is_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    RunDir::create(&folder.path().join("run"), &spec()).unwrap();
    let error = RunDir::create(&folder.path().join("run"), &spec()).unwrap_err();
    assert!(matches!(error, RunDirError::Io { attempt: "create", .. }), "{error}");
}

#[test]
fn malformed_exit_record_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::create(&folder.path().join("run"), &spec()).unwrap();
    fs::write(dir.file("exit.json"), "{\"code\": ").unwrap();
    assert!(matches!(dir.state().unwrap_err(), RunDirError::Format { .. }));
}

#[test]
fn stderr_tail_may_start_inside_a_character() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::create(&folder.path().join("run"), &spec()).unwrap();
    assert_eq!(dir.stderr_tail(4).unwrap(), "");
    dir.append("stderr").unwrap().write_all("long ago ü end".as_bytes()).unwrap();
    assert_eq!(dir.stderr_tail(5).unwrap(), "\u{FFFD} end");
    assert_eq!(dir.stderr_tail(1000).unwrap(), "long ago ü end");
}

#[test]
fn spec_of_another_format_is_refused_with_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let dir = RunDir::create(&folder.path().join("run"), &spec()).unwrap();
    for (format, found) in [("\"format\": 2", 2), ("\"other\": 1", 0)] {
        dir.record_exit(&exit()).unwrap();
        let text = fs::read_to_string(dir.file("spec.json")).unwrap();
        // Another format may lack fields of this one.
        fs::write(dir.file("spec.json"), text.replace("\"format\": 1", format).replace("\"argv\"", "\"command\"")).unwrap();
        let error = dir.spec().unwrap_err();
        assert!(matches!(error, RunDirError::OtherFormat { found: format, .. } if format == found), "{error}");
        assert!(error.to_string().contains("start that version until the run has ended, or retry the task"), "{error}");
        fs::write(dir.file("spec.json"), text).unwrap();
        assert_eq!(dir.spec().unwrap(), spec());
    }
}
