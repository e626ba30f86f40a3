//! One run in its own folder, with this test program as its shim.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use db::{RunProcess, ShimProcess};
use domain::id::RunId;
use runner::env::{RunEnv, marker};
use runner::process::start_shim;
use runner::run_dir::{ExitRecord, RunDir, RunSpec, RunState};
use runner::shim::control::Control;
use uuid::Uuid;

pub(crate) struct Run {
    pub(crate) dir: RunDir,
    pub(crate) spec: RunSpec,
    pub(crate) folder: tempfile::TempDir,
    shim: Mutex<Option<ShimProcess>>,
}

impl Run {
    pub(crate) fn new(script: &str) -> Self {
        Self::with(|spec| spec.argv = ["/bin/sh", "-c", script].map(str::to_owned).into())
    }

    pub(crate) fn with(change: impl FnOnce(&mut RunSpec)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let marker = marker(&RunId::new(1), Uuid::new_v4());
        let configured = BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]);
        let env = RunEnv { marker: &marker, port: Some(4001), backend: &[], configured: &configured }.variables();
        let mut spec = RunSpec {
            run_id: Some(RunId::new(1)),
            marker,
            argv: Vec::new(),
            cwd: folder.path().to_owned(),
            env,
            first_line: None,
            output_limit: RunSpec::OUTPUT_LIMIT,
            jail: None,
            setup: None,
            check: None,
        };
        change(&mut spec);
        // Longer than the path in a socket's address.
        let dir = RunDir::create(&folder.path().join("long".repeat(30)).join("run"), &spec).unwrap();
        Self { dir, spec, folder, shim: Mutex::default() }
    }

    pub(crate) fn started(script: &str) -> Self {
        let run = Self::new(script);
        run.start();
        run
    }

    pub(crate) fn start(&self) {
        let shim = start_shim(&this_program(), &self.dir, &[]).unwrap();
        *self.shim.lock().unwrap() = shim;
    }

    /// The record that the store would have.
    pub(crate) fn process(&self) -> RunProcess {
        RunProcess { marker: self.spec.marker.clone(), boot_id: None, shim: *self.shim.lock().unwrap() }
    }

    pub(crate) async fn control(&self) -> Control {
        Control::connect(&self.dir).await.unwrap()
    }

    pub(crate) async fn ended(&self) -> ExitRecord {
        let mut exit = None;
        wait_for("the end of the run", || {
            if let RunState::Ended(ended) = self.dir.state().unwrap() {
                exit = Some(ended);
            }
            exit.is_some()
        })
        .await;
        exit.unwrap()
    }

    /// Waits for a file that the agent writes into its folder.
    pub(crate) async fn file(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        let mut content = String::new();
        wait_for(name, || {
            content = fs::read_to_string(&path).unwrap_or_default();
            content.ends_with('\n')
        })
        .await;
        content
    }

    pub(crate) fn output(&self) -> String {
        fs::read_to_string(self.dir.file("stdout")).unwrap()
    }

    /// Finds the process that holds the run's lock.
    pub(crate) fn shim_pid(&self) -> i32 {
        use std::os::unix::fs::MetadataExt;
        let inode = format!(":{} ", fs::metadata(self.dir.file("lock")).unwrap().ino());
        let inherited =
            |pid: &i32| fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains(self.dir.path().to_str().unwrap()));
        assert!(fs::read_to_string("/proc/locks").unwrap().contains(&inode), "no process holds the lock");
        pids().into_iter().find(inherited).unwrap()
    }
}

pub(crate) fn this_program() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn pids() -> Vec<i32> {
    fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

pub(crate) fn is_gone(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{}/stat", pid.trim())).map_or(true, |stat| stat.contains(") Z "))
}

pub(crate) async fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(30), "waited too long for {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
