//! How programs are started and ended, and where they are found.

use super::*;

#[tokio::test]
async fn probe_returns_output_and_filters_environment() {
    let output = probe(Path::new("/bin/sh"), &["-c", "echo out; echo err >&2; pwd; env | grep -c ^CARGO; exit 3"], LIMIT).await;
    let expected = ProbeOutput { code: Some(3), stdout: "out\n/\n0\n".to_owned(), stderr: "err\n".to_owned() };
    assert_eq!(output.unwrap(), expected);
    assert!(std::env::vars_os().any(|(name, _)| name.to_string_lossy().starts_with("CARGO")), "cargo sets some");
}

#[tokio::test]
async fn slow_probe_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let line = format!("sleep 1000 & echo $! $$ > {}; wait", pids.display());
    let error = probe(Path::new("/bin/sh"), &["-c", &line], Duration::from_millis(300)).await.unwrap_err();
    assert!(matches!(error, ProcessError::Timeout { .. }), "{error}");
    let pids = std::fs::read_to_string(pids).unwrap();
    for pid in pids.split_whitespace() {
        while std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn missing_program_is_named_in_the_error() {
    let error = probe(Path::new("/nonexistent/claude"), &["--version"], LIMIT).await.unwrap_err();
    insta::assert_snapshot!(error, @"could not start /nonexistent/claude; check that it exists and is executable");
}

#[tokio::test]
async fn piped_child_reads_and_writes() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let variables = [("GREETING".to_owned(), "hello".to_owned())];
    let line = ["-c".to_owned(), "read name; echo $GREETING $name".to_owned()];
    let mut child = pipe_child(Path::new("/bin/sh"), &line, Path::new("/"), &variables).unwrap();
    child.stdin.take().unwrap().write_all(b"Ada\n").await.unwrap();
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "hello Ada\n");
}

#[tokio::test]
async fn shell_line_inherits_environment_and_folder() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let output = shell("pwd; echo $CARGO_PKG_NAME", &folder, LIMIT).await.unwrap();
    assert_eq!(output.stdout, format!("{}\nrunner\n", folder.display()));
}

#[test]
fn mark_of_a_replaced_file_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("vibe-relay");
    let marked = folder.path().join("vibe-relay (deleted)");
    assert_eq!(installed_path(marked.clone()), path, "the path for the next version");
    std::fs::write(&marked, "").unwrap();
    assert_eq!(installed_path(marked.clone()), marked, "a file with this name");
    assert_eq!(installed_path(path.clone()), path);
}

#[test]
fn only_executables_in_absolute_folders_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool");
    std::fs::write(&path, "").unwrap();
    let both = std::env::join_paths([Path::new("."), folder.path()]).unwrap();
    assert_eq!(find_program("tool", &both), None);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(find_program("tool", &both), Some(path.clone()));
    assert_eq!(find_program(path.to_str().unwrap(), OsStr::new("")), Some(path));
    assert_eq!(find_program("./tool", &both), None);
}

const LIMIT: Duration = Duration::from_secs(20);
