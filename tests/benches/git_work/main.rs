//! Measures what the board does with a large repository, beside `git` on the same files in the same run, and what its server needs for that:
//! `cargo bench -p tests --bench git_work`, with 15,000 files of 90 MB. `GIT_WORK_FILES=80000 GIT_WORK_AVERAGE=16000` before it measures 80,000
//! files of 1.3 GB, and `GIT_WORK_UNLIMITED=1` leaves out the limits of memory that a server sets.
//!
//! Every measurement runs several times, ours and git's in turn, and the shortest one counts: it is what the work needs, without what
//! other programs on the machine take. The processor time shows that too. The page cache holds all files. The disk is synced before each landing, because a landing syncs all
//! that earlier steps left.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

mod server;

use std::fs;
use std::num::NonZero;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use repo::testing::TestRepository;
use repo::{LandOutcome, LandRequest, Repository, probe, uncommitted};
use tokio_util::sync::CancellationToken;

const FILES: usize = 15_000;
/// The average size of a file in bytes.
const AVERAGE: usize = 6_000;
/// The sizes of ten files, in hundredths of the average.
const SIZES: [usize; 10] = [3, 8, 15, 25, 40, 60, 90, 130, 200, 429];
const PER_FOLDER: usize = 12;
/// Files that the landed branch changes.
const CHANGED: usize = 40;
const REPEATS: usize = 3;
const WORDS: [&str; 40] = [
    "let", "value", "=", "self", ".", "items", "iter", "map", "(", ")", "{", "}", "fn", "pub", "return", "if", "else", "match", "Some", "None", "Ok",
    "Err", "=>", "->", "&str", "String", "usize", "count", "name", "path", "for", "in", "while", "struct", "impl", "use", "const", "//", "text", ";",
];

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Goals that were missed.
static MISSED: AtomicU32 = AtomicU32::new(0);

fn main() -> Outcome<ExitCode> {
    // As in a server.
    if std::env::var_os("GIT_WORK_UNLIMITED").is_none() {
        repo::limit_memory()?;
    }
    tokio::runtime::Runtime::new()?.block_on(measure())
}

async fn measure() -> Outcome<ExitCode> {
    let number = |name: &str, default| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let (files, average) = (number("GIT_WORK_FILES", FILES), number("GIT_WORK_AVERAGE", AVERAGE));
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let load = fs::read_to_string("/proc/loadavg")?;
    println!("{cores} processors, load {}", load.split_whitespace().next().unwrap_or_default());
    let bench = Bench::new(files, average)?;
    println!("{files} files, {} MB; {} packed\n", bench.bytes >> 20, git(&bench.top, &["count-objects", "-vH"])?.replace('\n', ", "));
    println!("{:<44} {:>10} {:>10} {:>7} {:>10} {:>14} {:>8}", "", "ours", "git", "ratio", "goal", "processors ms", "memory");
    bench.worktrees()?;
    bench.evidence()?;
    bench.probe()?;
    bench.landing()?;
    server::measure(&bench).await?;
    let missed = MISSED.load(Ordering::Relaxed);
    println!("\n{missed} goals missed");
    Ok(ExitCode::SUCCESS)
}

struct Bench {
    sample: TestRepository,
    top: PathBuf,
    repository: Repository,
    bytes: usize,
}

impl Bench {
    /// A packed repository whose branch `project` changes some files of `main`.
    fn new(files: usize, average: usize) -> Outcome<Self> {
        let sample = TestRepository::new();
        let top = sample.top().to_owned();
        sample.write(".gitignore", "target/\n*.log\n");
        let mut bytes = 0;
        for file in 0..files {
            let content = content(file, average * SIZES[file % SIZES.len()] / 100);
            bytes += content.len();
            sample.write(&path_of(file), &content);
        }
        for arguments in [&["add", "-A"][..], &["commit", "-q", "-m", "files"], &["repack", "-adq"], &["branch", "project"]] {
            git(&top, arguments)?;
        }
        let changed: Vec<String> = (0..CHANGED).map(|number| path_of(number * files / CHANGED)).collect();
        let changes: Vec<(&str, Option<&str>)> = changed.iter().map(|path| (path.as_str(), Some("changed\n"))).collect();
        sample.commit_on("project", &changes, "work");
        git(&top, &["status"])?;
        Ok(Self { repository: sample.repository(), sample, top, bytes })
    }

    fn worktrees(&self) -> Outcome {
        let head = git(&self.top, &["rev-parse", "main"])?;
        let (mut ours, mut theirs) = (Fastest::default(), Fastest::default());
        // They stay until the end: ext4 is slow to make files right after it removed as many.
        for number in 0..REPEATS {
            let (own, other) = (format!("own-{number}"), format!("../other-{number}"));
            ours.measure(|| Ok(self.repository.add_detached(&own, &self.sample.beside(&own), &head)?))?;
            theirs.measure(|| git(&self.top, &["worktree", "add", "-q", "--detach", &other]))?;
        }
        row("worktree ready | git worktree add", &ours, Some((&theirs, 1.2)));
        Ok(())
    }

    fn evidence(&self) -> Outcome {
        let head = git(&self.top, &["rev-parse", "main"])?;
        // A checkout that another program made is unknown to the board.
        git(&self.top, &["worktree", "add", "-q", "-b", "foreign", "../foreign"])?;
        self.repository.add_worktree("task", &self.sample.beside("task"), "task", &head)?;
        let (foreign, task) = (self.sample.beside("foreign"), self.sample.beside("task"));
        for checkout in [&foreign, &task] {
            fs::write(checkout.join(path_of(7)), "changed\n")?;
            fs::write(checkout.join("new.txt"), "new\n")?;
            fs::create_dir(checkout.join("target"))?;
        }
        let [mut cold, mut warm, mut git_cold, mut git_warm] = <[Fastest; 4]>::default();
        let evidence = |path: &Path, branch| {
            let found = self.repository.evidence(path, branch, "main", &[])?;
            if found.dirty_count == 2 { Ok(()) } else { Err(format!("{} changes are found in {}", found.dirty_count, path.display()).into()) }
        };
        for _ in 0..REPEATS {
            cold.measure(|| evidence(&foreign, "foreign"))?;
            // An index that knows no file.
            fs::remove_file(self.repository.git_dir().join("worktrees/foreign/index"))?;
            git(&foreign, &["read-tree", "HEAD"])?;
            git_cold.measure(|| git(&foreign, &["status", "--porcelain"]))?;
            git_warm.measure(|| git(&foreign, &["status", "--porcelain"]))?;
            warm.measure(|| evidence(&task, "task"))?;
        }
        row("evidence, cold | git status, cold", &cold, Some((&git_cold, 1.0)));
        row("evidence, stat cache | git status, cold", &warm, Some((&git_cold, 0.3)));
        row("evidence, stat cache | git status, warm", &warm, Some((&git_warm, f64::NAN)));
        Ok(())
    }

    fn probe(&self) -> Outcome {
        fs::write(self.top.join("new.txt"), "new\n")?;
        let [mut answer, mut count, mut status] = <[Fastest; 3]>::default();
        for _ in 0..REPEATS {
            answer.measure(|| Ok(probe(&self.top, None)?))?;
            let found = count.measure(|| Ok(uncommitted(&self.top, &CancellationToken::new())?))?;
            status.measure(|| git(&self.top, &["status", "--porcelain"]))?;
            if found != 1 {
                return Err(format!("{found} uncommitted files are found").into());
            }
        }
        fs::remove_file(self.top.join("new.txt"))?;
        limit("probe: branches, limit in ms", &answer, Duration::from_millis(300));
        row("probe: uncommitted files | git status, warm", &count, Some((&status, f64::NAN)));
        Ok(())
    }

    fn landing(&self) -> Outcome {
        let [mut ours, mut theirs, mut refusal, mut git_refusal] = <[Fastest; 4]>::default();
        let base = git(&self.top, &["rev-parse", "main"])?;
        let identity = self.repository.identity("bench")?;
        let land = || {
            let request = LandRequest {
                project_branch: "project",
                base_branch: "main",
                base_head: &base,
                bring_back: None,
                workdir: &self.top,
                message: "land",
                identity: &identity,
            };
            Ok(self.repository.land(request)?)
        };
        let reset = || {
            git(&self.top, &["reset", "-q", "--hard", &base])?;
            // Fresh files of the same moment as the index would be read again.
            git(&self.top, &["status"])?;
            git(&self.top, &["status"])?;
            sync(&self.top)
        };
        for _ in 0..REPEATS {
            reset()?;
            if !matches!(ours.measure(land)?, LandOutcome::Landed { fast_forward: true, .. }) {
                return Err("not landed".into());
            }
            reset()?;
            theirs.measure(|| git(&self.top, &["merge", "-q", "--ff-only", "project"]))?;
            reset()?;
            fs::write(self.top.join(path_of(0)), "mine\n")?;
            if !matches!(refusal.measure(land)?, LandOutcome::Dirty { .. }) {
                return Err("not refused".into());
            }
            git_refusal.measure(|| Ok(git(&self.top, &["merge", "-q", "--ff-only", "project"]).is_err()))?;
        }
        row("land | git merge --ff-only", &ours, Some((&theirs, 1.5)));
        row("refusal of a dirty checkout | the same of git", &refusal, Some((&git_refusal, f64::NAN)));
        Ok(())
    }
}

/// The shortest duration, the least time of processors, and the largest memory of this process meanwhile.
#[derive(Default)]
struct Fastest {
    duration: Option<Duration>,
    processor: Option<Duration>,
    peak: u64,
}

impl Fastest {
    fn measure<T>(&mut self, work: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
        // Starts a new peak.
        fs::write("/proc/self/clear_refs", "5")?;
        let (begun, before) = (Instant::now(), processor_time()?);
        let made = work()?;
        let (took, used) = (begun.elapsed(), processor_time()?.saturating_sub(before));
        self.duration = Some(self.duration.map_or(took, |fastest| fastest.min(took)));
        self.processor = Some(self.processor.map_or(used, |least| least.min(used)));
        let status = fs::read_to_string("/proc/self/status")?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
        self.peak = self.peak.max(peak.unwrap_or_default());
        Ok(made)
    }

    fn milliseconds(&self) -> f64 {
        self.duration.unwrap_or_default().as_secs_f64() * 1000.0
    }

    fn processor(&self) -> u128 {
        self.processor.unwrap_or_default().as_millis()
    }
}

fn row(name: &str, ours: &Fastest, git: Option<(&Fastest, f64)>) {
    let (theirs, goal) = git.map_or((f64::NAN, f64::NAN), |(theirs, goal)| (theirs.milliseconds(), goal));
    let ratio = ours.milliseconds() / theirs;
    let goal = if goal.is_nan() { "-".to_owned() } else { format!("{goal:.1} {}", verdict(ratio <= goal)) };
    let processor = format!("{} {}", ours.processor(), git.map_or(0, |(theirs, _)| theirs.processor()));
    println!("{name:<44} {:>7.0} ms {theirs:>7.0} ms {ratio:>7.2} {goal:>10} {processor:>14} {:>5} MB", ours.milliseconds(), ours.peak >> 10);
}

fn limit(name: &str, ours: &Fastest, limit: Duration) {
    let goal = format!("{} {}", limit.as_millis(), verdict(ours.duration.is_some_and(|took| took <= limit)));
    println!("{name:<44} {:>7.0} ms {:>10} {:>7} {goal:>10} {:>14} {:>5} MB", ours.milliseconds(), "", "", ours.processor(), ours.peak >> 10);
}

fn verdict(is_met: bool) -> &'static str {
    if is_met {
        return "met";
    }
    MISSED.fetch_add(1, Ordering::Relaxed);
    "missed"
}

/// The time that this process and the programs that it waited for had on processors.
fn processor_time() -> Outcome<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // After the name of the program: the state and ten numbers, then four times in hundredths of a second.
    let (_, fields) = stat.rsplit_once(')').ok_or("no process")?;
    let ticks: u64 = fields.split_whitespace().skip(11).take(4).map(|ticks| ticks.parse::<u64>().unwrap_or_default()).sum();
    Ok(Duration::from_millis(ticks * 10))
}

fn path_of(file: usize) -> String {
    let folder = file / PER_FOLDER;
    format!("part{}/group{}/module{folder}/file{file}.rs", folder / 100, folder / 10)
}

/// Text that compresses about as well as code.
fn content(file: usize, size: usize) -> String {
    let mut state = (file as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut text = format!("// {file}\n");
    while text.len() < size {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = usize::try_from(state >> 40).unwrap_or_default();
        match word % 11 {
            0 => text.push('\n'),
            1 => text += &format!("{:x} ", word & 0xffff),
            _ => {
                text += WORDS[word / 11 % WORDS.len()];
                text.push(' ');
            }
        }
    }
    text
}

#[expect(clippy::disallowed_methods, reason = "git is what is compared with, and no part of the product")]
fn git(folder: &Path, arguments: &[&str]) -> Outcome<String> {
    let mut command = Command::new("git");
    command.current_dir(folder).args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{name}_NAME"), "Sam Sample").env(format!("GIT_{name}_EMAIL"), "sam@example.org");
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// Writes everything to the disk, so that no measurement pays for another one.
#[expect(clippy::disallowed_methods, reason = "the standard library cannot sync a file system")]
fn sync(folder: &Path) -> Outcome {
    Command::new("sync").arg("-f").arg(folder).status()?;
    // Waits until the clock of the file system has passed the newest file.
    let newest = fs::metadata(folder.join(".git/index"))?;
    while fs::metadata(write_now(folder)?)?.mtime_nsec() == newest.mtime_nsec() {}
    Ok(())
}

fn write_now(folder: &Path) -> Outcome<PathBuf> {
    let path = folder.join(".git/now");
    fs::write(&path, "")?;
    Ok(path)
}
