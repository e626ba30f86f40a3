//! Measures the code map of a repository with 10,000 source files, beside reading the same files: `cargo bench -p repo --features testing`.
//!
//! The files are those of the crates that cargo has downloaded, so they are real code.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use repo::testing::TestRepository;

const FILES: usize = 10_000;
/// The aim for a map from nothing.
const AIM: Duration = Duration::from_secs(5);
const LANGUAGES: [&str; 12] = ["rs", "c", "h", "cpp", "hpp", "cc", "js", "ts", "py", "go", "java", "cs"];

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome {
    let sample = TestRepository::new();
    let bytes = fill(sample.top())?;
    let commit = sample.commit_all("add files");
    let repository = sample.repository();

    let (reading, read) =
        timed(|| Ok(files_below(sample.top(), usize::MAX)?.iter().map(|file| fs::read(file).map_or(0, |bytes| bytes.len())).sum::<usize>()))?;
    let (cold, map) = timed(|| Ok(repository.code_map(&commit, None)?))?;
    let (same, unchanged) = timed(|| Ok(repository.code_map(&commit, Some(map.clone()))?))?;
    sample.write("added.rs", "pub fn added() {}\n");
    let next = sample.commit_all("add a file");
    let (changed, again) = timed(|| Ok(repository.code_map(&next, Some(map.clone()))?))?;

    println!("{FILES} files, {} MB of source code, a map of {} kB", bytes / 1_000_000, map.text.len() / 1000);
    for (name, time, parsed) in
        [("map from nothing", cold, map.parsed), ("one file changed", changed, again.parsed), ("nothing changed", same, unchanged.parsed)]
    {
        println!(
            "{name:<18} {:>8.1} ms  {parsed:>6} parsed  {:>6.2} of reading the files",
            milliseconds(time),
            time.as_secs_f64() / reading.as_secs_f64()
        );
    }
    println!("{:<18} {:>8.1} ms  {read} bytes", "reading the files", milliseconds(reading));
    println!("aim of {} s for a map from nothing: {}", AIM.as_secs(), if cold <= AIM { "met" } else { "missed" });
    Ok(())
}

/// Copies source files of downloaded crates, evenly chosen, into folders of 100, and returns their size.
fn fill(top: &Path) -> Outcome<usize> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(std::env::home_dir()?.join(".cargo"))).ok_or("no home")?;
    let found = files_below(&home.join("registry/src"), usize::MAX)?;
    let is_source =
        |file: &PathBuf| file.extension().and_then(|extension| extension.to_str()).is_some_and(|extension| LANGUAGES.contains(&extension));
    let sources: Vec<PathBuf> = found.into_iter().filter(is_source).collect();
    let (mut bytes, mut number) = (0, 0);
    while number < FILES {
        let from = sources.get(number * sources.len() / FILES).ok_or("cargo has downloaded no source files")?;
        let extension = from.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let folder = top.join(format!("part{}", number / 100));
        fs::create_dir_all(&folder)?;
        // Each file is different, so that none is known from another.
        let mut content = fs::read(from)?;
        content.extend_from_slice(format!("\n// {number}\n").as_bytes());
        bytes += content.len();
        fs::write(folder.join(format!("file{number}.{extension}")), content)?;
        number += 1;
    }
    Ok(bytes)
}

/// Returns at most `most` files below a folder.
fn files_below(folder: &Path, most: usize) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() && entry.file_name() != ".git" {
                folders.push(entry.path());
            } else if kind.is_file() && files.len() < most {
                files.push(entry.path());
            }
        }
    }
    Ok(files)
}

fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(Duration, T)> {
    let begun = Instant::now();
    let made = work()?;
    Ok((begun.elapsed(), made))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
