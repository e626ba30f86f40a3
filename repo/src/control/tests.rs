//! Every way in which an agent can change what git does for everyone is noticed and described.

use std::fs;

use super::*;
use crate::testing::TestRepository;

/// Describes what `change` changes.
fn changes(change: impl FnOnce(&TestRepository)) -> Vec<String> {
    let sample = TestRepository::new();
    sample.repository().add_detached("task", &sample.beside("task"), &sample.repository().ref_sha("main").unwrap().unwrap()).unwrap();
    let read = || sample.repository().control_files("task").unwrap();
    let before = read();
    let stored: ControlFiles = serde_json::from_str(&serde_json::to_string(&before).unwrap()).unwrap();
    change(&sample);
    stored.changes(&read())
}

fn write(sample: &TestRepository, path: &str, content: &str) {
    let path = sample.git_dir().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn make_executable(sample: &TestRepository, path: &str) {
    fs::set_permissions(sample.git_dir().join(path), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn commits_and_branches_are_no_change() {
    assert_eq!(changes(|sample| drop(sample.commit_on("main", &[("a", Some("a"))], "more"))), [""; 0]);
}

#[test]
fn each_kind_of_file_is_compared() {
    for path in
        ["config.worktree", "info/attributes", "info/exclude", "objects/info/alternates", "hooks/post-commit", "worktrees/task/config.worktree"]
    {
        let expected = [format!("{path} is new (6 bytes, not executable)"), "+ curl x".to_owned()];
        let found = changes(|sample| {
            // libgit2 creates some of them.
            let _absent = fs::remove_file(sample.git_dir().join(path));
            write(sample, path, "curl x");
        });
        assert!(found == expected || (path == "info/exclude" && found.contains(&"+ curl x".to_owned())), "{path}: {found:?}");
    }
}

#[test]
fn changed_settings_are_shown_line_by_line() {
    let found = changes(|sample| {
        sample.configure("core.fsmonitor", "/tmp/evil");
        sample.configure("user.name", "Eve");
    });
    assert_eq!(found, ["config has changed", "+ fsmonitor = /tmp/evil", "- name = Sam Sample", "+ name = Eve"]);
}

#[test]
fn hook_that_becomes_executable_is_a_change() {
    let sample = TestRepository::new();
    write(&sample, "hooks/pre-push", "x");
    let before = sample.repository().control_files("task").unwrap();
    make_executable(&sample, "hooks/pre-push");
    let after = sample.repository().control_files("task").unwrap();
    assert_eq!(before.changes(&after), ["hooks/pre-push is now 1 bytes, executable"]);
    fs::remove_file(sample.git_dir().join("hooks/pre-push")).unwrap();
    assert_eq!(after.changes(&sample.repository().control_files("task").unwrap())[0], "hooks/pre-push is gone");
}

#[test]
fn links_and_pipes_are_named_and_not_followed() {
    let found = changes(|sample| {
        std::os::unix::fs::symlink("/etc/passwd", sample.git_dir().join("hooks/post-merge")).unwrap();
        nix::unistd::mkfifo(&sample.git_dir().join("hooks/pre-commit"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    });
    assert!(found.contains(&"+ a link to /etc/passwd".to_owned()), "{found:?}");
    assert!(found.contains(&"+ neither a file nor a link".to_owned()), "{found:?}");
}

#[test]
fn secrets_are_left_out() {
    let found = changes(|sample| {
        sample.configure("remote.origin.url", "https://ann:hunter2@example.org/site");
        sample.configure("http.extraheader", "Authorization: hunter2");
    });
    let text = found.join("\n");
    assert!(text.contains("url = https://…@example.org/site") && text.contains("extraheader = …") && !text.contains("hunter2"), "{text}");
}

#[test]
fn long_changes_are_cut() {
    let many: String = (0..500).map(|line| format!("{line} filter=x\n")).collect();
    let found = changes(|sample| write(sample, "info/attributes", &many));
    assert_eq!((found.len(), found.last().map(String::as_str)), (MAX_LINES + 1, Some("and 441 more lines")));
}
