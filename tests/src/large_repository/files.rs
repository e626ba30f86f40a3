//! Makes the repository: packages of pnpm, crates of Rust, files of Git LFS, a submodule, an ignored file and a history. `git` imports it from
//! a stream, because commits of so many files would take minutes otherwise. It must not know what happens in it.

use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::Size;
use crate::git::{git, git_as, repository};

const PER_PART: usize = 20;
const MEDIA_FILES: usize = 40;
/// One of the files of Git LFS.
pub(super) const MEDIA: &str = "media/image0.png";
/// The earlier versions of the history, and how many files each has.
const VERSIONS: usize = 60;
const CHUNKS: usize = 10;
const IGNORED: &str = ".env\nnode_modules/\ntarget/\n";

/// Fills the repository in `root`, which has one commit, and makes that of its submodule beside it.
pub(super) fn generate(root: &Path, size: Size) -> io::Result<()> {
    let (top, library) = (&root.join("repo"), &root.join("library"));
    repository(library, &[("library.c", "int answer(void) { return 42; }\n")])?;
    let module = git(library, &["rev-parse", "main"])?;
    import(top, 50, |stream| {
        commit(stream, "All parts", true)?;
        for (path, text) in special_files(library, size) {
            file(stream, &path, text.as_bytes())?;
        }
        writeln!(stream, "M 160000 {module} vendor/library")?;
        let mut written = 0;
        for part in 1.. {
            if written >= size.files {
                break;
            }
            written += part_files(stream, part)?;
        }
        Ok(())
    })?;
    // Bytes of chance: neither compression nor differences make them smaller.
    let mut chance = Chance(0x9E37_79B9_7F4A_7C15);
    let mut bytes = vec![0; (size.history << 20) / VERSIONS / CHUNKS];
    import(top, 0, |stream| {
        for version in 0..VERSIONS {
            commit(stream, &format!("Version {version}"), version == 0)?;
            for chunk in 0..CHUNKS {
                chance.fill(&mut bytes);
                file(stream, &format!("data/chunk{chunk}.bin"), &bytes)?;
            }
        }
        Ok(())
    })?;
    git(top, &["reset", "-q", "--hard", "main"])?;
    let update = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"];
    git(top, &update)?;
    if size.has_lfs {
        commit_media(&root.join("home"), top)?;
    }
    std::fs::write(top.join(".env"), "KEY=1\n")
}

/// Installs Git LFS for the person and lets it take their files. Its objects are in the repository, so nothing has to be downloaded.
fn commit_media(home: &Path, top: &Path) -> io::Result<()> {
    std::fs::create_dir_all(home)?;
    git_as(home, home, &["lfs", "install", "--skip-repo"])?;
    std::fs::create_dir_all(top.join("media"))?;
    std::fs::write(top.join(".gitattributes"), "media/*.png filter=lfs diff=lfs merge=lfs -text\n")?;
    for number in 0..MEDIA_FILES {
        std::fs::write(top.join(format!("media/image{number}.png")), format!("Image {number}.\n"))?;
    }
    git_as(home, top, &["add", ".gitattributes", "media"])?;
    git_as(home, top, &["commit", "-q", "-m", "Media"]).map(drop)
}

pub(super) fn is_pointer(text: &str) -> bool {
    text.starts_with("version https://git-lfs.github.com/spec/v1\n")
}

/// Says how large the repository is.
pub(super) fn describe(top: &Path) -> io::Result<String> {
    let files = git(top, &["ls-tree", "-r", "--name-only", "main"])?.lines().count();
    let packed = git(top, &["count-objects", "-v"])?;
    let kilobytes = packed.lines().find_map(|line| line.strip_prefix("size-pack: ")?.parse::<u64>().ok()).unwrap_or_default();
    Ok(format!("{files} files, {} MB packed, {} commits", kilobytes >> 10, git(top, &["rev-list", "--count", "main"])?))
}

fn special_files(library: &Path, size: Size) -> Vec<(String, String)> {
    let mut files = vec![
        (".gitignore".to_owned(), IGNORED.to_owned()),
        (".gitmodules".to_owned(), format!("[submodule \"library\"]\n\tpath = vendor/library\n\turl = {}\n", library.display())),
        ("package.json".to_owned(), "{\"name\": \"large\", \"private\": true, \"packageManager\": \"pnpm@9.0.0\"}\n".to_owned()),
        ("pnpm-workspace.yaml".to_owned(), "packages:\n  - packages/*\n".to_owned()),
        ("pnpm-lock.yaml".to_owned(), "lockfileVersion: '9.0'\npackages: {}\n".to_owned()),
        ("Cargo.toml".to_owned(), "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n".to_owned()),
    ];
    for number in 0..if size.has_lfs { 0 } else { MEDIA_FILES } {
        let pointer = format!("version https://git-lfs.github.com/spec/v1\noid sha256:{number:064x}\nsize {}\n", 1_000 + number);
        files.push((format!("media/image{number}.png"), pointer));
    }
    files
}

/// Writes the files of a package and of a crate, and returns how many.
fn part_files(stream: &mut impl Write, part: usize) -> io::Result<usize> {
    let (package, library) = (format!("packages/app{part}"), format!("crates/part{part}"));
    file(stream, &format!("{package}/package.json"), format!("{{\"name\": \"app{part}\", \"version\": \"1.0.0\"}}\n").as_bytes())?;
    file(
        stream,
        &format!("{library}/Cargo.toml"),
        format!("[package]\nname = \"part{part}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n").as_bytes(),
    )?;
    file(stream, &format!("{package}/src/index.ts"), b"export const begin = 1;\n")?;
    file(stream, &format!("{library}/src/lib.rs"), b"//! A part.\n")?;
    for number in 4..PER_PART {
        let is_rust = number % 2 == 1;
        let (folder, ending) = if is_rust { (&library, "rs") } else { (&package, "ts") };
        file(stream, &format!("{folder}/src/module{number}.{ending}"), source(part * PER_PART + number, is_rust).as_bytes())?;
    }
    Ok(PER_PART)
}

/// Functions that a parser understands, because the board makes a map of them.
fn source(seed: usize, is_rust: bool) -> String {
    let mut chance = Chance(seed as u64 * 2 + 1);
    let mut text = format!("// {seed}\n");
    let length = 500 + chance.next() % 7_000;
    while (text.len() as u64) < length {
        let (name, value) = (chance.next() % 100_000, chance.next() >> 40);
        let body = format!("({name} + value) * {value}");
        text += &match is_rust {
            true => format!(
                "pub fn compute{name}(value: u64) -> u64 {{\n    let result = {body};\n    if result > {value} {{ result }} else {{ value }}\n}}\n"
            ),
            false => format!(
                "export function compute{name}(value: number): number {{\n  const result = {body};\n  return result > {value} ? result : value;\n}}\n"
            ),
        };
    }
    text
}

/// Numbers that are the same in each run.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for block in bytes.chunks_mut(8) {
            let number = self.next().to_le_bytes();
            block.copy_from_slice(&number[..block.len()]);
        }
    }
}

/// Writes a stream to `git fast-import` on `main`.
fn import(top: &Path, depth: u32, write: impl FnOnce(&mut BufWriter<std::process::ChildStdin>) -> io::Result<()>) -> io::Result<()> {
    #[expect(clippy::disallowed_methods, reason = "git makes the repository of a test")]
    let mut command = Command::new("git");
    command.args(["-c", "pack.compression=1", "fast-import", "--quiet", "--force", &format!("--depth={depth}")]);
    let mut child = command.current_dir(top).stdin(Stdio::piped()).spawn()?;
    let stdin = child.stdin.take().ok_or_else(|| io::Error::other("no input"))?;
    let mut stream = BufWriter::new(stdin);
    write(&mut stream)?;
    stream.into_inner().map_err(io::IntoInnerError::into_error).map(drop)?;
    let status = child.wait()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("git fast-import: {status}"))) }
}

/// Begins a commit. The first one of a stream follows what the branch has.
fn commit(stream: &mut impl Write, message: &str, is_first: bool) -> io::Result<()> {
    writeln!(stream, "commit refs/heads/main\ncommitter Ada <ada@example.org> 1767225600 +0000\ndata {}\n{message}", message.len())?;
    if is_first { writeln!(stream, "from refs/heads/main^0") } else { Ok(()) }
}

fn file(stream: &mut impl Write, path: &str, content: &[u8]) -> io::Result<()> {
    writeln!(stream, "M 100644 inline {path}\ndata {}", content.len())?;
    stream.write_all(content)?;
    writeln!(stream)
}
