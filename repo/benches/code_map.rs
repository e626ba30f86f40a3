//! Measures the code map of repositories with 10,000 source files, beside reading the same files:
//! `cargo bench -p repo --features testing --bench code_map`.
//!
//! One repository is generated, with files as large as people write them. The files of the other one are those of the crates that cargo has
//! downloaded: real code, of which a part is generated. The processor time shows what other programs on the machine do not change.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use repo::testing::TestRepository;

const FILES: usize = 10_000;
/// The aim for a map from nothing.
const AIM: Duration = Duration::from_secs(5);
const LANGUAGES: [&str; 12] = ["rs", "c", "h", "cpp", "hpp", "cc", "js", "ts", "py", "go", "java", "cs"];
/// The lines of every tenth file of a usual repository, from the smallest one on.
const LINES: [usize; 10] = [15, 30, 50, 80, 110, 150, 210, 300, 450, 1100];
/// An extension, the begin and the end of a file, and a function. `N` stands for a number.
const TEMPLATES: [(&str, &str, &str, &str); 6] = [
    (
        "rs",
        "use std::collections::HashMap;\n\n",
        "",
        "/// Adds the values that count.\npub fn add_N(left: u64, right: &[u64]) -> Result<u64, String> {\n    let mut total = left;\n    for (place, value) in right.iter().enumerate() {\n        if *value > 10 && place % 2 == 0 {\n            total = total.checked_add(*value).ok_or_else(|| format!(\"too large: {value}\"))?;\n        }\n    }\n    Ok(total)\n}\n\n",
    ),
    (
        "ts",
        "import { Item } from \"./item\";\n\n",
        "",
        "/** Sums the prices of all items. */\nexport async function sumN(items: Item[], rate = 1.2): Promise<number> {\n  let total = 0;\n  for (const item of items) {\n    if (item.price > 10 && !item.hidden) {\n      total += await convert(item.price * rate, { from: item.currency, label: `item ${item.id}` });\n    }\n  }\n  return total;\n}\n\n",
    ),
    (
        "py",
        "import os\nfrom app.items import Item\n\n\n",
        "",
        "def sum_N(items, rate=1.2):\n    \"\"\"Sums the prices of all items.\"\"\"\n    total = 0\n    for place, item in enumerate(items):\n        if item.price > 10 and place % 2 == 0:\n            total += item.price * rate\n        else:\n            os.write(1, f\"skipped {item.name}\".encode())\n    return [value for value in (total, rate) if value]\n\n\n",
    ),
    (
        "go",
        "package items\n\nimport \"fmt\"\n\n",
        "",
        "// SumN adds the prices of all items.\nfunc SumN(items []Item, rate float64) (float64, error) {\n\ttotal := 0.0\n\tfor place, item := range items {\n\t\tif item.Price < 0 {\n\t\t\treturn 0, fmt.Errorf(\"item %d: %w\", place, errNegative)\n\t\t}\n\t\ttotal += item.Price * rate\n\t}\n\treturn total, nil\n}\n\n",
    ),
    (
        "java",
        "package app.items;\n\nimport java.util.List;\n\npublic class ItemsN {\n",
        "}\n",
        "    /** Sums the prices of all items. */\n    public double sumN(List<Item> items, double rate) {\n        double total = 0;\n        for (Item item : items) {\n            if (item.price() > 10 && !item.hidden()) {\n                total += convert(item.price() * rate, \"item \" + item.id());\n            }\n        }\n        return total;\n    }\n\n",
    ),
    (
        "c",
        "#include <stdio.h>\n#include \"items.h\"\n\n",
        "",
        "/* Sums the prices of all items. */\nint sum_N(const struct item *items, size_t count, double *total)\n{\n\tfor (size_t i = 0; i < count; i++) {\n\t\tif (items[i].price < 0) {\n\t\t\tfprintf(stderr, \"item %zu is negative\\n\", i);\n\t\t\treturn -1;\n\t\t}\n\t\t*total += items[i].price * 2;\n\t}\n\treturn 0;\n}\n\n",
    ),
];

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Outcome {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let load = fs::read_to_string("/proc/loadavg")?;
    println!("{cores} processors, load {}", load.split_whitespace().next().unwrap_or_default());
    measure("files of usual sizes, generated", generate)?;
    measure("files of downloaded crates", copy)
}

fn measure(name: &str, fill: fn(&Path) -> Outcome<usize>) -> Outcome {
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

    println!("\n{FILES} {name}: {} MB, a map of {} kB", bytes / 1_000_000, map.text.len() / 1000);
    for (name, time, parsed) in
        [("map from nothing", cold, map.parsed), ("one file changed", changed, again.parsed), ("nothing changed", same, unchanged.parsed)]
    {
        println!("{name:<18} {time}  {parsed:>6} parsed  {:>7.2} of reading the files", time.wall.as_secs_f64() / reading.wall.as_secs_f64());
    }
    println!("{:<18} {reading}  {read} bytes", "reading the files");
    println!("aim of {} s for a map from nothing: {}", AIM.as_secs(), if cold.wall <= AIM { "met" } else { "missed" });
    Ok(())
}

/// Writes files of usual sizes in six languages, each different, into folders of 100, and returns their size.
fn generate(top: &Path) -> Outcome<usize> {
    let mut bytes = 0;
    for number in 0..FILES {
        let (extension, begin, end, function) = TEMPLATES[number % TEMPLATES.len()];
        let lines = LINES[number / TEMPLATES.len() % LINES.len()];
        let mut content = begin.replace('N', &number.to_string());
        for place in 0..lines.div_ceil(function.lines().count()) {
            content += &function.replace('N', &format!("{number}_{place}"));
        }
        content += end;
        let folder = top.join(format!("part{}", number / 100));
        fs::create_dir_all(&folder)?;
        bytes += content.len();
        fs::write(folder.join(format!("file{number}.{extension}")), content)?;
    }
    Ok(bytes)
}

/// Copies source files of downloaded crates, evenly chosen, into folders of 100, and returns their size.
fn copy(top: &Path) -> Outcome<usize> {
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

/// The duration of a piece of work.
#[derive(Debug, Clone, Copy)]
struct Took {
    wall: Duration,
    processor: Duration,
}

impl std::fmt::Display for Took {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{:>8.1} ms, {:>6.0} ms of processors", milliseconds(self.wall), milliseconds(self.processor))
    }
}

fn timed<T>(work: impl FnOnce() -> Outcome<T>) -> Outcome<(Took, T)> {
    let (begun, before) = (Instant::now(), processor_time()?);
    let made = work()?;
    Ok((Took { wall: begun.elapsed(), processor: processor_time()?.saturating_sub(before) }, made))
}

/// The time that all threads of this process had on a processor.
fn processor_time() -> Outcome<Duration> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // After the name of the program: the state and ten numbers, then user and system time in hundredths of a second.
    let (_, fields) = stat.rsplit_once(')').ok_or("no process")?;
    let ticks: u64 = fields.split_whitespace().skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap_or_default()).sum();
    Ok(Duration::from_millis(ticks * 10))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
