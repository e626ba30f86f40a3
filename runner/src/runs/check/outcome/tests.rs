//! How an end becomes a result, and the end of an output.

use domain::time::Timestamp;

use super::*;
use crate::run_dir::ExitError;

fn exit(code: Option<i32>, error: Option<ExitErrorKind>) -> ExitRecord {
    let error = error.map(|kind| ExitError { kind, detail: "why.".to_owned() });
    ExitRecord { code, signal: None, ended_at: Timestamp::from_milliseconds(0), killed_leftovers: 0, duration_ms: Some(1500), error }
}

#[test]
fn only_the_command_itself_passes_or_fails() {
    let of = |code, error| ended("npm test", &exit(code, error), "output\n");
    assert_eq!(of(Some(0), None), Ended::Passed { duration_ms: 1500, tail: "output\n".to_owned() });
    assert_eq!(of(Some(2), None), Ended::Failed { duration_ms: 1500, tail: "output\n(exit code 2)".to_owned() });
    let Ended::Failed { tail, .. } = of(None, Some(ExitErrorKind::OutputLimit)) else { panic!("it printed without end") };
    assert_eq!(tail, "output\n(ended because it printed more than 16 MB)");
    assert_eq!(of(None, Some(ExitErrorKind::TimedOut)), Ended::NotRun { why: "`npm test`: why".to_owned() });
    for kind in [ExitErrorKind::SetupFailed, ExitErrorKind::StartFailed, ExitErrorKind::MissingProgram] {
        assert_eq!(of(None, Some(kind)), Ended::NotRun { why: "why".to_owned() });
    }
    for kind in [ExitErrorKind::Lost, ExitErrorKind::NeverStarted, ExitErrorKind::Rebooted, ExitErrorKind::OutOfMemory, ExitErrorKind::Interrupted] {
        assert_eq!(of(None, Some(kind)), Ended::Lost { why: "why".to_owned() });
    }
}

#[test]
fn tail_begins_with_a_line_and_has_no_control_characters() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("output");
    assert_eq!(tail(&file), "");
    fs::write(&file, "one\u{1b}[31m\ttwo\r\n").unwrap();
    assert_eq!(tail(&file), "one[31m\ttwo\n");
    fs::write(&file, format!("{}\nlast line\n", "x".repeat(10_000))).unwrap();
    assert_eq!(tail(&file), "last line\n");
}
