//! Recognizes in the result of a tool what the jail refused. It is a hint for people, because a program can swallow an error or invent one.

use std::path::{Path, PathBuf};

use domain::runs::sandbox::{Access, AccessKind};
use serde::{Deserialize, Serialize};

use super::paths::shown;

const READ_ONLY: [&str; 2] = ["Read-only file system", "read-only file system"];
const MISSING: [&str; 3] = ["No such file or directory", "no such file or directory", "does not exist"];
/// Git prints this error and works.
const HARMLESS: &str = "packed-refs.lock";
/// The most lines of one result that are examined, and refusals that are kept.
const MAX_LINES: usize = 2000;
const MAX_REFUSALS: usize = 20;

/// The places that tell refusals from other errors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scope {
    pub home: PathBuf,
    pub hidden: Vec<PathBuf>,
    /// The folder of the agent, where relative paths start.
    pub cwd: PathBuf,
}

impl Scope {
    /// The refusals in the result of a tool. `locations` are the files that the tool was asked for. It asks `exists` about a hidden path
    /// outside the jail, because a missing file is not a refusal.
    pub fn refusals(&self, output: &str, locations: &[String], exists: impl Fn(&Path) -> bool) -> Vec<Access> {
        let mut found = Vec::new();
        for line in output.lines().take(MAX_LINES) {
            if let Some(marker) = READ_ONLY.iter().find(|marker| line.contains(**marker)) {
                found.extend(self.path_in(line, marker).map(|path| (AccessKind::Write, path)));
            } else if let Some(marker) = MISSING.iter().find(|marker| line.contains(**marker)) {
                let named = self.path_in(line, marker).into_iter();
                let asked = locations.iter().map(|location| self.cwd.join(location));
                let hidden = named.chain(asked).find(|path| self.hides(path) && exists(path));
                found.extend(hidden.map(|path| (AccessKind::Read, path)));
            }
            if found.len() >= MAX_REFUSALS {
                break;
            }
        }
        let mut accesses: Vec<Access> = found.into_iter().map(|(kind, path)| Access::new(kind, shown(&path, &self.home))).collect();
        accesses.sort();
        accesses.dedup();
        accesses
    }

    fn hides(&self, path: &Path) -> bool {
        self.hidden.iter().any(|folder| path.starts_with(folder))
    }

    /// The path in a line of an error: in quotes, or in the last words before or after `marker`.
    fn path_in(&self, line: &str, marker: &str) -> Option<PathBuf> {
        let (before, after) = line.split_once(marker)?;
        let before = before.trim_end().trim_end_matches([':', '(']).trim_end();
        let before = before.strip_suffix(": EROFS").or_else(|| before.strip_suffix(": ENOENT")).unwrap_or(before);
        let candidates = [quoted(after), quoted(before), before.rsplit(": ").next().and_then(|part| part.split_whitespace().last())];
        let text = candidates.into_iter().flatten().find(|text| text.contains('/') || text.starts_with('.'))?;
        let path = self.cwd.join(without_draft_suffix(text));
        (!text.ends_with(HARMLESS)).then_some(path)
    }
}

/// The first quoted part of a text.
fn quoted(text: &str) -> Option<&str> {
    let start = text.find(['\'', '"', '‘', '`'])?;
    let open = text[start..].chars().next()?;
    let rest = &text[start + open.len_utf8()..];
    let end = rest.find(['\'', '"', '’'])?;
    Some(&rest[..end]).filter(|text| !text.is_empty())
}

/// Editors write `FILE.tmp.PID.HEX` and rename it.
fn without_draft_suffix(path: &str) -> &str {
    match path.rsplit_once(".tmp.") {
        Some((file, suffix)) if suffix.chars().all(|character| character.is_ascii_hexdigit() || character == '.') => file,
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        let paths = |texts: &[&str]| texts.iter().map(PathBuf::from).collect();
        Scope { home: "/home/u".into(), hidden: paths(&["/home", "/data"]), cwd: "/home/u/w/TASK-001".into() }
    }

    fn found(output: &str) -> Vec<String> {
        scope().refusals(output, &[], |_| true).iter().map(Access::refused).collect()
    }

    #[test]
    fn refused_writes_of_real_programs_are_recognized() {
        for (output, path) in [
            ("EROFS: read-only file system, open '/home/u/.bashrc.tmp.2.8af12c'", "~/.bashrc"),
            ("/bin/bash: line 1: /home/u/.bashrc: Read-only file system", "~/.bashrc"),
            ("sh: 1: cannot create /home/u/.ssh/authorized_keys: Read-only file system", "~/.ssh/authorized_keys"),
            ("mkdir: cannot create directory ‘/home/u/.npm’: Read-only file system", "~/.npm"),
            ("touch: cannot touch '/usr/local/bin/x': Read-only file system", "/usr/local/bin/x"),
            ("OSError: [Errno 30] Read-only file system: '/home/u/.config/tool'", "~/.config/tool"),
            ("fatal: Unable to create '/srv/r/.git/refs/heads/main.lock': Read-only file system", "/srv/r/.git/refs/heads/main.lock"),
            ("error: could not lock config file .git/config: Read-only file system", "~/w/TASK-001/.git/config"),
            ("npm error EROFS: read-only file system, mkdir '/home/u/.npm/_cacache'", "~/.npm/_cacache"),
        ] {
            assert_eq!(found(output), [format!("the jail refused to write {path}")], "{output}");
        }
    }

    #[test]
    fn harmless_error_of_git_is_not_a_refusal() {
        assert_eq!(found("error: Unable to create '/srv/r/.git/packed-refs.lock': Read-only file system"), [""; 0]);
    }

    #[test]
    fn only_existing_hidden_files_count_as_hidden() {
        let output = "cat: /home/u/.netrc: No such file or directory\ncat: /etc/none: No such file or directory";
        assert_eq!(found(output), ["~/.netrc is hidden by the jail"]);
        assert_eq!(scope().refusals(output, &[], |_| false), []);
        let read = scope().refusals("File does not exist.", &["/data/board.db".to_owned()], |_| true);
        assert_eq!(read, [Access::new(AccessKind::Read, "/data/board.db")]);
    }

    #[test]
    fn ordinary_output_contains_no_refusal() {
        assert_eq!(found("test result: ok. 3 passed\nA read-only file system is nice.\nit does not exist"), [""; 0]);
    }
}
