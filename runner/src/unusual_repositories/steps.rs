//! Steps that make a repository unusual, for files that `git` does not write by itself.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use repo::testing::{commit_all_in, write_in};

pub(super) fn make_shallow(top: &Path) {
    let head = commit_all_in(top, "a second commit");
    fs::write(top.join(".git/shallow"), format!("{head}\n")).unwrap();
}

pub(super) fn add_submodule(top: &Path) {
    repo::testing::init_in(&top.join("inner"));
    write_in(&top.join("inner"), "a", "a");
    commit_all_in(&top.join("inner"), "inside");
    let url = top.join("inner").display().to_string();
    fs::write(top.join(".gitmodules"), format!("[submodule \"inner\"]\n\tpath = inner\n\turl = {url}\n")).unwrap();
}

/// Lets the repository hold the submodule as `git submodule add` leaves it.
pub(super) fn hold_submodule(top: &Path) {
    fs::create_dir_all(top.join(".git/modules")).unwrap();
    fs::rename(top.join("inner/.git"), top.join(".git/modules/inner")).unwrap();
    fs::write(top.join("inner/.git"), "gitdir: ../.git/modules/inner\n").unwrap();
    configure(&top.join(".git/modules/inner"), "[core]\n\tworktree = ../../../inner\n");
}

pub(super) fn commit_in_submodule(top: &Path) {
    write_in(&top.join("inner"), "a", "ahead");
    commit_all_in(&top.join("inner"), "ahead");
}

pub(super) fn add_failing_hooks(top: &Path) {
    for hook in ["pre-commit", "commit-msg", "pre-merge-commit", "reference-transaction", "post-checkout", "update"] {
        let path = top.join(".git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\nexit 1\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

pub(super) fn sign_with_key(top: &Path) {
    let key = top.with_file_name("key");
    configure(&top.join(".git"), &format!("[commit]\n\tgpgSign = true\n[gpg]\n\tformat = ssh\n[user]\n\tsigningKey = {}\n", key.display()));
}

fn configure(git_dir: &Path, lines: &str) {
    let configuration = git_dir.join("config");
    let text = fs::read_to_string(&configuration).unwrap();
    fs::write(configuration, text + lines).unwrap();
}

pub(super) fn use_filter_of_repository(top: &Path) {
    write_in(top, ".gitattributes", "*.txt filter=own\n");
    configure(&top.join(".git"), "[filter \"own\"]\n\tclean = cat\n");
}
