//! A repository that configures a program wherever git would start one. Each program writes a marker with its name.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::{TestRepository, write_in};

const HOOKS: [&str; 15] = [
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
    "pre-push",
    "prepare-commit-msg",
    "reference-transaction",
    "update",
];

/// Configuration whose value is a program.
const PROGRAMS: [&str; 25] = [
    "core.alternateRefsCommand",
    "core.askPass",
    "core.editor",
    "core.fsmonitor",
    "core.gitProxy",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "diff.shown.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.long.process",
    "gpg.program",
    "gpg.ssh.defaultKeyCommand",
    "gpg.ssh.program",
    "interactive.diffFilter",
    "merge.evil.driver",
    "remote.origin.receivepack",
    "remote.origin.uploadpack",
    "sequence.editor",
    "trailer.evil.command",
    "uploadpack.packObjectsHook",
];

/// Makes a repository hostile, and commits files whose attributes name its programs. With `hooks_elsewhere`, the hooks are in the folder of
/// `core.hooksPath` instead of `.git/hooks`. With `has_filters`, the attributes name filters too.
pub fn plant(sample: &TestRepository, hooks_elsewhere: bool, has_filters: bool) {
    let filters = if has_filters { "* filter=evil\n*.long filter=long\n" } else { "" };
    sample.write(".gitattributes", &format!("* diff=evil merge=evil\n{filters}*.shown diff=shown\n"));
    sample.write(".gitignore", "*.env\n");
    sample.write("code.txt", "one\ntwo\nthree\n");
    sample.write("a.long", "long\n");
    sample.write("a.shown", "shown\n");
    let base = sample.commit_all("code");
    fs::create_dir(sample.beside("marks")).expect("a folder");

    let hooks = if hooks_elsewhere { sample.beside("hooks") } else { sample.git_dir().join("hooks") };
    fs::create_dir_all(&hooks).expect("a folder");
    for hook in HOOKS {
        fs::copy(program(sample, &format!("hook.{hook}")), hooks.join(hook)).expect("a hook");
    }
    if hooks_elsewhere {
        sample.configure("core.hooksPath", &hooks.to_string_lossy());
    }
    for name in PROGRAMS {
        sample.configure(name, &program(sample, name).to_string_lossy());
    }
    let attributes = sample.beside("attributes");
    let filter = if has_filters { " filter=evil" } else { "" };
    fs::write(&attributes, format!("* diff=evil{filter}\n")).expect("attributes");
    write_in(&sample.git_dir(), "info/attributes", &format!("*.md diff=evil merge=evil{filter}\n"));
    let ext = format!("ext::{}", program(sample, "remote.ext").display());
    for (name, value) in [
        ("core.attributesFile", &*attributes.to_string_lossy()),
        ("merge.default", "evil"),
        ("commit.gpgSign", "true"),
        ("tag.gpgSign", "true"),
        ("remote.origin.url", "ssh://localhost/nowhere"),
        ("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"),
        ("branch.main.remote", "origin"),
        ("branch.main.merge", "refs/heads/main"),
        ("remote.ext.url", &ext),
        ("protocol.ext.allow", "always"),
    ] {
        sample.configure(name, value);
    }
    sample.set_reference("refs/remotes/origin/main", &base);
}

/// Creates a program that writes a marker and is otherwise harmless.
fn program(sample: &TestRepository, name: &str) -> PathBuf {
    let mark = sample.beside("marks").join(name);
    let work = if name.starts_with("filter.evil") { "cat" } else { "exit 0" };
    write_in(sample.root(), &format!("programs/{name}"), &format!("#!/bin/sh\n: > '{}'\n{work}\n", mark.display()));
    let path = sample.beside("programs").join(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    path
}

/// Returns the names of the programs that ran.
pub fn marks(sample: &TestRepository) -> BTreeSet<String> {
    let names = fs::read_dir(sample.beside("marks")).expect("a folder").map(|entry| entry.expect("a name").file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}
