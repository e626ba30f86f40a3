//! A machine with a home, data, a repository and a checkout, on which a shell script plays the agent in a jail. It must not contain a test.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::id::RunId;
use domain::runs::sandbox::SandboxTier;
use runner::backend::{Session, SignIn, agent_files};
use runner::env::{RunEnv, marker};
use runner::jail::arguments::arguments;
use runner::jail::layout::JailRequest;
use runner::jail::probe::PROGRAM;
use runner::jail::refusal::Scope;
use runner::jail::{JailSpec, prepare};
use runner::process::{find_program, shell, start_shim};
use runner::run_dir::{ExitRecord, RunDir, RunSpec, RunState};
use uuid::Uuid;

use crate::run::{this_program, wait_for};

const GIT_TIMEOUT: Duration = Duration::from_secs(60);
const SECRETS: [&str; 21] = [
    "home/.bashrc",
    "home/.ssh/authorized_keys",
    "home/.ssh/id_ed25519",
    "home/.netrc",
    "home/.git-credentials",
    "home/.npmrc",
    "home/.aws/credentials",
    "home/.config/gh/hosts.yml",
    "home/.claude.json",
    "home/.claude/settings.json",
    "home/.claude/.credentials.json",
    "home/.claude/projects/-other/session.jsonl",
    "home/Documents/letter.txt",
    "home/.bash_history",
    "home/.cargo/bin/cargo",
    "home/.local/bin/git",
    "data/board.db",
    "data/token",
    "data/server.json",
    "data/runs/RUN-002/spec.json",
    "data/secret",
];
/// Paths of the machine that an agent must not change.
const SYSTEM: &str = "/etc/cron.d/evil /usr/local/bin/evil /opt/evil /home/evil /run/evil";
const KERNEL: &str = "/proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/fs/cgroup/evil";
const REPOSITORY: &str = "git init -q -b main repo && cd repo && git config user.name a && git config user.email a@b \
     && echo one > file.txt && git add . && git commit -qm one && echo '#!/bin/sh' > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit \
     && git worktree add -q -b vr/TASK-001/work ../worktrees/TASK-001 && git worktree add -q -b vr/TASK-002/work ../worktrees/TASK-002";

pub(crate) struct Machine {
    /// Outside /tmp, which is another folder in a jail.
    folder: tempfile::TempDir,
}

impl Machine {
    pub(crate) async fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() };
        for folder in ["home", "data", "worktrees"] {
            fs::create_dir_all(machine.path(folder)).unwrap();
        }
        machine.git(REPOSITORY).await;
        for secret in SECRETS {
            let path = machine.path(secret);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "secret\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        machine
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Runs a shell line outside the jail.
    pub(crate) async fn git(&self, line: &str) -> String {
        let output = shell(line, &self.path(""), GIT_TIMEOUT).await.unwrap();
        assert_eq!(output.code, Some(0), "{line}: {}", output.stderr);
        output.stdout
    }

    pub(crate) fn request(&self, tier: SandboxTier, run: u32) -> JailRequest {
        let (home, checkout) = (self.path("home"), self.path("worktrees/TASK-001"));
        JailRequest {
            tier,
            is_root: nix::unistd::geteuid().is_root(),
            agent: agent_files(&home, None, &checkout, Session::New(Uuid::nil()), SignIn::Environment),
            home,
            data: self.path("data"),
            board: self.path("data/sockets"),
            worktrees: self.path("worktrees"),
            git_dir: self.path("repo/.git"),
            admin: self.path("repo/.git/worktrees/TASK-001"),
            checkout,
            branch: Some("vr/TASK-001/work".to_owned()),
            is_read_only: false,
            run_dir: self.path(&format!("data/runs/RUN-{run:03}")),
            files: Vec::new(),
            programs: Vec::new(),
            arguments: Vec::new(),
            allowed: Vec::new(),
        }
    }

    /// Starts a script as the agent of a run.
    pub(crate) fn start(&self, tier: SandboxTier, run: u32, script: &str) -> RunDir {
        let request = self.request(tier, run);
        let jail = (tier != SandboxTier::None).then(|| {
            prepare::prepare(&request).unwrap();
            let layout = request.layout().unwrap();
            JailSpec {
                tier,
                program: find_program(PROGRAM, &std::env::var_os("PATH").unwrap()).unwrap(),
                arguments: arguments(&layout),
                scope: Scope { home: layout.home, hidden: layout.hidden, cwd: layout.cwd },
                inbound: Vec::new(),
                forwards: Vec::new(),
                hosts: Vec::new(),
            }
        });
        let marker = marker(&RunId::new(run.into()), Uuid::new_v4());
        let text = |path: PathBuf| path.display().to_string();
        let configured = BTreeMap::from([
            ("HOME".to_owned(), text(request.home.clone())),
            ("DATA".to_owned(), text(request.data.clone())),
            ("REPO".to_owned(), text(self.path("repo"))),
            ("ADMIN".to_owned(), text(request.admin.clone())),
            ("OTHER".to_owned(), text(self.path("worktrees/TASK-002"))),
            ("OUTSIDE_PID".to_owned(), std::process::id().to_string()),
            ("SYSTEM".to_owned(), if tier == SandboxTier::None { String::new() } else { SYSTEM.to_owned() }),
            ("KERNEL".to_owned(), if tier == SandboxTier::None { String::new() } else { KERNEL.to_owned() }),
        ]);
        let spec = RunSpec {
            run_id: Some(RunId::new(run.into())),
            env: RunEnv { marker: &marker, port: None, backend: &[], configured: &configured }.variables(),
            marker,
            argv: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
            cwd: request.checkout.clone(),
            first_line: None,
            output_limit: RunSpec::OUTPUT_LIMIT,
            jail,
            setup: None,
            check: None,
        };
        let run_dir = RunDir::create(&request.run_dir, &spec).unwrap();
        prepare::prepare_run_dir(run_dir.path()).unwrap();
        start_shim(&this_program(), &run_dir, &[]).unwrap();
        run_dir
    }

    /// All files that an agent must not change, with their content.
    pub(crate) fn protected(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let own =
            ["repo/.git/objects", "repo/.git/worktrees/TASK-001", "repo/.git/refs/heads/vr/TASK-001", "worktrees/TASK-001", "data/runs/RUN-001"];
        let own = own.map(|name| self.path(name));
        let (mut folders, mut found) = (vec![self.path("")], BTreeMap::new());
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| !own.contains(path)) {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.clone(), fs::read(&path).unwrap_or_default());
                }
            }
        }
        for name in ["commondir", "gitdir", "config.worktree"] {
            let path = self.path("repo/.git/worktrees/TASK-001").join(name);
            found.insert(path.clone(), fs::read(&path).unwrap_or_default());
        }
        found
    }
}

pub(crate) async fn ended(run_dir: &RunDir) -> ExitRecord {
    let mut exit = None;
    wait_for("the end of the run", || {
        if let RunState::Ended(ended) = run_dir.state().unwrap() {
            exit = Some(ended);
        }
        exit.is_some()
    })
    .await;
    exit.unwrap()
}

pub(crate) fn output(run_dir: &RunDir) -> String {
    fs::read_to_string(run_dir.file("stdout")).unwrap()
}

pub(crate) async fn printed(run_dir: &RunDir, line: &str) {
    wait_for(line, || output(run_dir).lines().any(|printed| printed == line)).await;
}

/// The living processes in the jail of a run, by the process namespaces that its marked processes are in.
pub(crate) struct Inside(BTreeSet<PathBuf>);

impl Inside {
    pub(crate) fn of(run_dir: &RunDir) -> Self {
        let marker = run_dir.spec().unwrap().marker;
        let is_marked = |pid: &PathBuf| fs::read(pid.join("environ")).is_ok_and(|environ| String::from_utf8_lossy(&environ).contains(&marker));
        let own = namespace(Path::new("/proc/self"));
        let found: BTreeSet<PathBuf> =
            processes().filter(is_marked).filter_map(|pid| namespace(&pid)).filter(|found| Some(found) != own.as_ref()).collect();
        assert_eq!(found.len(), 1, "the agent is in one jail");
        Self(found)
    }

    pub(crate) fn count(&self) -> usize {
        processes().filter(|pid| namespace(pid).is_some_and(|namespace| self.0.contains(&namespace))).count()
    }
}

fn processes() -> impl Iterator<Item = PathBuf> {
    fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.join("environ").exists())
}

fn namespace(pid: &Path) -> Option<PathBuf> {
    fs::read_link(pid.join("ns/pid")).ok()
}
