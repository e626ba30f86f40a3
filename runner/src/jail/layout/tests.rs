//! Layouts of real folders: symbolic links, a home outside /home, data outside the home.

use std::fs;
use std::os::unix::fs::symlink;

use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::backend::{Session, SignIn, agent_files};
use crate::jail::prepare::prepare;

struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        for folder in ["users/ann/.cargo/bin", "users/ann/bin", "data/runs/RUN-001", "data/server", "worktrees/TASK-001", "repo/.git/objects"] {
            fs::create_dir_all(machine.path(folder)).unwrap();
        }
        let admin = machine.path("repo/.git/worktrees/vibe-relay-TASK-001");
        fs::create_dir_all(&admin).unwrap();
        for file in ["commondir", "gitdir", "HEAD"] {
            fs::write(admin.join(file), "").unwrap();
        }
        fs::write(machine.path("worktrees/TASK-001/.git"), "").unwrap();
        fs::write(machine.path("users/ann/bin/claude"), "").unwrap();
        fs::write(machine.path("data/runs/RUN-001/role.md"), "").unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn request(&self) -> JailRequest {
        let (home, checkout) = (self.path("users/ann"), self.path("worktrees/TASK-001"));
        JailRequest {
            tier: SandboxTier::Jail,
            is_root: false,
            agent: agent_files(&home, None, &checkout, Session::New(Uuid::nil()), SignIn::Environment),
            home,
            data: self.path("data"),
            board: self.path("data/server"),
            worktrees: self.path("worktrees"),
            git_dir: self.path("repo/.git"),
            admin: self.path("repo/.git/worktrees/vibe-relay-TASK-001"),
            checkout,
            branch: Some("vr/TASK-001/work".to_owned()),
            is_read_only: false,
            run_dir: self.path("data/runs/RUN-001"),
            files: vec!["role.md"],
            programs: vec![self.path("users/ann/bin/claude")],
            arguments: Vec::new(),
            allowed: Vec::new(),
        }
    }

    /// Returns the paths that the agent may read or write, in the order of the mounts.
    fn shown(&self, request: &JailRequest, wanted: MountAccess) -> Vec<String> {
        prepare(request).unwrap();
        let root = self.path("");
        let mounts = request.layout().unwrap().mounts.into_iter().filter(|mount| mount.access == wanted);
        mounts.map(|mount| mount.path.strip_prefix(&root).unwrap_or(&mount.path).display().to_string()).collect()
    }
}

#[test]
fn coder_writes_only_its_checkout_and_branch() {
    let machine = Machine::new();
    let written = machine.shown(&machine.request(), MountAccess::Write);
    assert!(written[0].starts_with("users/ann/.claude/projects/"), "the agent program's session: {written:?}");
    let expected = [
        "repo/.git/objects",
        "repo/.git/refs/heads/vr/TASK-001",
        "repo/.git/logs/refs/heads/vr/TASK-001",
        "repo/.git/worktrees/vibe-relay-TASK-001",
        "worktrees/TASK-001",
    ];
    assert_eq!(written[1..], expected);
    let expected = [
        "users/ann/.cargo/bin",
        "users/ann/bin",
        "users/ann/bin",
        "users/ann/bin/claude",
        "repo/.git",
        "repo/.git/objects/info",
        "repo/.git/worktrees/vibe-relay-TASK-001/commondir",
        "repo/.git/worktrees/vibe-relay-TASK-001/gitdir",
        "repo/.git/worktrees/vibe-relay-TASK-001/config.worktree",
        "worktrees/TASK-001/.git",
        "data/server",
        "data/runs/RUN-001/role.md",
    ];
    assert_eq!(machine.shown(&machine.request(), MountAccess::Read), expected);
}

#[test]
fn agent_without_a_branch_writes_no_reference() {
    let machine = Machine::new();
    let written = machine.shown(&JailRequest { branch: None, ..machine.request() }, MountAccess::Write);
    assert!(!written.iter().any(|path| path.contains("refs")), "{written:?}");
}

#[test]
fn agent_that_runs_nothing_writes_only_its_session() {
    let machine = Machine::new();
    let written = machine.shown(&JailRequest { branch: None, is_read_only: true, ..machine.request() }, MountAccess::Write);
    assert!(matches!(written.as_slice(), [session] if session.starts_with("users/ann/.claude/projects/")), "{written:?}");
}

#[test]
fn homes_data_and_other_checkouts_are_hidden() {
    let machine = Machine::new();
    prepare(&machine.request()).unwrap();
    let layout = machine.request().layout().unwrap();
    for hidden in ["data", "worktrees", "users/ann"] {
        assert!(layout.hidden.contains(&machine.path(hidden)), "{hidden}");
    }
    assert!(layout.hidden.contains(&PathBuf::from("/root")), "the homes of others too");
}

#[test]
fn linked_folders_are_mounted_where_they_really_are() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("disk")).unwrap();
    fs::rename(machine.path("worktrees"), machine.path("disk/worktrees")).unwrap();
    symlink(machine.path("disk/worktrees"), machine.path("users/ann/worktrees")).unwrap();
    let checkout = machine.path("users/ann/worktrees/TASK-001");
    let request = JailRequest { worktrees: machine.path("users/ann/worktrees"), checkout, ..machine.request() };
    prepare(&request).unwrap();
    let layout = request.layout().unwrap();
    assert_eq!(layout.cwd, machine.path("disk/worktrees/TASK-001"));
    let links: Vec<_> = layout.links.iter().map(|link| (link.path.clone(), link.target.clone())).collect();
    assert_eq!(links, [(machine.path("users/ann/worktrees"), machine.path("disk/worktrees"))]);
    assert!(layout.hidden.contains(&machine.path("disk/worktrees")));
}

#[test]
fn allowed_paths_are_mounted_before_the_repository() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("users/ann/.config/tool")).unwrap();
    let allowed = vec![Access::new(AccessKind::Write, "~/.config/tool"), Access::new(AccessKind::Read, machine.path("repo").display().to_string())];
    let request = JailRequest { allowed, ..machine.request() };
    assert_eq!(machine.shown(&request, MountAccess::Write)[0], "users/ann/.config/tool");
    assert_eq!(machine.shown(&request, MountAccess::Read)[0], "repo");
}

#[test]
fn program_in_the_home_uncovers_nothing_beside_it() {
    let machine = Machine::new();
    fs::write(machine.path("users/ann/wrapper"), "").unwrap();
    let request = JailRequest { programs: vec![machine.path("users/ann/wrapper")], ..machine.request() };
    let readable = machine.shown(&request, MountAccess::Read);
    assert!(readable.contains(&"users/ann/wrapper".to_owned()), "{readable:?}");
    assert!(!readable.iter().any(|path| path == "users/ann" || path == "users"), "{readable:?}");
}

#[test]
fn missing_checkout_is_an_error() {
    let machine = Machine::new();
    let request = machine.request();
    prepare(&request).unwrap();
    fs::remove_dir_all(&request.checkout).unwrap();
    let error = request.layout().unwrap_err().to_string();
    assert!(error.contains("TASK-001 does not exist"), "{error}");
}
