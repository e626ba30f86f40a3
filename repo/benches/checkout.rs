//! Measures how a checkout is prepared, beside creating it: `cargo bench -p repo --features testing --bench checkout`.
//!
//! It costs the files of the repository and the folders of the person's checkout that git does not ignore, and nothing that is finished.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::time::{Duration, Instant};

use repo::testing::TestRepository;

const SIZES: [usize; 3] = [1_000, 5_000, 15_000];
const FILES_IN_FOLDER: usize = 20;
/// Ignored files, as an installation leaves them.
const INSTALLED: usize = 5_000;
const REPEATED: usize = 5;

fn sample(files: usize) -> TestRepository {
    let sample = TestRepository::empty();
    sample.write(".gitignore", ".env*\nnode_modules/\n");
    for number in 0..files {
        sample.write(&format!("packages/{}/src/file{number}.ts", number / FILES_IN_FOLDER), &format!("export const value = {number};\n"));
    }
    for package in 0..files / (FILES_IN_FOLDER * 10) {
        sample.write(&format!("packages/{package}/package-lock.json"), &format!("{{\"lockfileVersion\": {package}}}\n"));
    }
    sample.commit_all("files");
    for number in 0..INSTALLED {
        sample.write(&format!("node_modules/package{}/file{number}.js", number / FILES_IN_FOLDER), "x\n");
    }
    for package in ["", "packages/1/", "packages/2/"] {
        sample.write(&format!("{package}.env"), "KEY=1\n");
    }
    sample
}

/// The median of some repetitions, and the last result.
fn median<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut times = Vec::new();
    loop {
        let began = Instant::now();
        let result = work();
        times.push(began.elapsed());
        if times.len() == REPEATED {
            times.sort();
            return (times[REPEATED / 2], result);
        }
    }
}

fn main() {
    println!("median of {REPEATED}; {INSTALLED} further files are ignored\n");
    for files in SIZES {
        let sample = sample(files);
        let repository = sample.repository();
        let head = repository.ref_sha("main").expect("a repository").expect("a branch");
        let mut number = 0;
        let (created, _) = median(|| {
            number += 1;
            let path = sample.beside(&format!("checkout{number}"));
            repository.add_detached(&format!("checkout{number}"), &path, &head).expect("a checkout");
            fs::remove_dir_all(path).expect("a folder");
        });
        let is_wanted = |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with(".env"));
        let (found_in, found) = median(|| repository.ignored_files(sample.top(), is_wanted).expect("files"));
        let (locks_in, locks) = median(|| repository.lock_files(&head).expect("lock files"));
        let (detected_in, _) = median(|| repository.detect_profile(&head).expect("a profile"));
        let line = |name: &str, time: Duration, note: String| {
            let share = time.as_secs_f64() / created.as_secs_f64();
            println!("{files:>6} files  {name:<22}{:>8.1} ms {share:>7.3} of creating it  {note}", time.as_secs_f64() * 1000.0);
        };
        line("creating the checkout", created, "with removing it".to_owned());
        line("files to copy", found_in, format!("{} found", found.paths.len()));
        line("lock files", locks_in, format!("{} found", locks.len()));
        line("proposing a profile", detected_in, String::new());
    }
}
