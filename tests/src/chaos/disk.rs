//! A file system that fills up while agents work and others write: a real one of a fixed size, mounted from a file. Needs root.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::wire::TaskView;
use nix::unistd::Uid;
use reqwest::{Method, StatusCode};
use serde_json::json;

use super::{Outcome, scripted, submitting, within};

const COMMAND: &str = "echo done > {{task_id}}.txt; git add -A; git commit -qm '{{title}}'";

const SIZE_MIB: u64 = 64;

/// # Errors
/// The server does not start on the file system, or does not answer as it should.
pub async fn run(program: &Path, cycles: u32) -> io::Result<Outcome> {
    let mut outcome = Outcome::default();
    if !Uid::effective().is_root() {
        outcome.figures.push("not measured: mounting a file system needs root".to_owned());
        return Ok(outcome);
    }
    let mut mounted = None;
    let scenario = submitting(&[], COMMAND);
    let server = scripted(program, &scenario, |options| {
        let data = options.config.db_path.parent().map(Path::to_owned).unwrap_or_default();
        mounted = Some(Mount::new(&data));
    });
    let server = server.await?;
    let mount = match mounted.ok_or_else(|| io::Error::other("nothing was mounted"))? {
        Ok(mount) => mount,
        // A container may not mount anything, even as root.
        Err(error) => {
            outcome.figures.push(format!("not measured: no file system could be mounted ({error})"));
            return Ok(outcome);
        }
    };
    let project = server.project("Work", None).await?.id;
    let thread: TaskView = server.post(&format!("/api/projects/{project}/tasks"), &json!({"title": "Thread"})).await?;
    let path = format!("/api/tasks/{}/comments", thread.task.card.id);
    let post = async |text: &str| {
        Ok::<_, io::Error>(server.request(Method::POST, &path).json(&json!({"content": text})).send().await.map_err(io::Error::other)?.status())
    };
    let (mut acknowledged, mut refused, mut used_attempts, mut slowest) = (Vec::new(), 0, 0, Duration::ZERO);
    for cycle in 0..cycles {
        mount.fill()?;
        let task: io::Result<TaskView> =
            server.post(&format!("/api/projects/{project}/tasks"), &json!({"title": format!("Work {cycle}"), "start": true})).await;
        for number in 0.. {
            let text = format!("{cycle}: {number} {}", "x".repeat(8192));
            match post(&text).await? {
                StatusCode::CREATED => acknowledged.push(text),
                StatusCode::INSUFFICIENT_STORAGE => {
                    refused += 1;
                    break;
                }
                other => return Err(io::Error::other(format!("a write on a full disk was answered with {other}"))),
            }
        }
        outcome.expect(server.board(&project).await.is_ok(), || format!("cycle {cycle}: the board cannot be read"));
        mount.empty()?;
        let (began, text) = (Instant::now(), format!("{cycle}: after"));
        let healed = within(Duration::from_secs(10), async || post(&text).await.is_ok_and(|status| status.is_success())).await;
        outcome.expect(healed, || format!("cycle {cycle}: writes are refused although there is space"));
        slowest = slowest.max(began.elapsed());
        acknowledged.push(text);
        let task = match task {
            Ok(task) => task,
            Err(_disk_is_full) => {
                server.post(&format!("/api/projects/{project}/tasks"), &json!({"title": format!("Work {cycle}"), "start": true})).await?
            }
        };
        let id = task.task.card.id;
        let done = |board: &Board| board.card(&id).is_some_and(|card| card.status == Status::Done && card.run.is_none());
        server.until(&project, "the work is done", done).await;
        let runs = server.runs(&id).await?;
        let used = runs.iter().filter(|run| run.attempt > 1).count();
        outcome.expect(used == 0, || format!("cycle {cycle}: an attempt was used: {runs:?}"));
        used_attempts += used;
    }
    let kept = server.comments(&thread.task.card.id).await?;
    let lost = acknowledged.iter().filter(|text| !kept.iter().any(|comment| comment.comment.content == **text)).count();
    outcome.expect(lost == 0, || format!("{lost} acknowledged writes lost"));
    outcome.figures.push(format!(
        "{cycles} times full: {refused} refusals with 507, {} acknowledged writes, {lost} lost, {used_attempts} attempts used",
        acknowledged.len()
    ));
    outcome.figures.push(format!("writes work again after {} ms at most", slowest.as_millis()));
    drop(server);
    Ok(outcome)
}

/// A mounted file system. Dropping it unmounts it.
#[derive(Debug)]
struct Mount {
    folder: PathBuf,
}

impl Mount {
    fn new(folder: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let image = folder.with_extension("image");
        File::create(&image)?.set_len(SIZE_MIB << 20)?;
        command("mkfs.ext4", &["-q".as_ref(), "-m0".as_ref(), image.as_ref()])?;
        command("mount", &["-o".as_ref(), "loop".as_ref(), image.as_ref(), folder.as_ref()])?;
        Ok(Self { folder: folder.to_owned() })
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }

    /// Writes until there is no space.
    fn fill(&self) -> io::Result<()> {
        let mut file = File::create(self.filler())?;
        for size in [1 << 20, 4096] {
            let block = vec![0; size];
            while file.write_all(&block).and_then(|()| file.sync_data()).is_ok() {}
        }
        Ok(())
    }

    fn empty(&self) -> io::Result<()> {
        std::fs::remove_file(self.filler())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _already_unmounted = command("umount", &["-l".as_ref(), self.folder.as_ref()]);
    }
}

fn command(program: &str, arguments: &[&std::ffi::OsStr]) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "an experiment prepares a file system")]
    let status = std::process::Command::new(program).args(arguments).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{program}: {status}"))) }
}
