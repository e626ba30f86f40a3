//! A person with uncommitted changes of each kind in the checkout of the base branch, and everything about them that must stay as it was. It must
//! not know what happened meanwhile.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::git::git_as;

/// The changed paths, in parts of the repository that no agent changes.
const PATHS: [&str; 13] = [
    "packages/app7/src/module4.ts",
    "packages/app7/src/module6.ts",
    "packages/app7/src/module8.ts",
    "packages/app7/src/module10.ts",
    "packages/app7/src/module12.ts",
    "packages/app7/src/module14.ts",
    "packages/app7/src/module16.ts",
    "packages/app7/src/renamed.ts",
    "packages/app7/src/added.ts",
    "packages/app7/src/intended.ts",
    "notes/untracked.md",
    "crates/part7/src/module5.rs",
    "crates/part7/src/module7.rs",
];

/// The state of a path: its kind and permissions, and its contents; nothing if it does not exist.
type Seen = BTreeMap<PathBuf, Option<(u32, Vec<u8>)>>;

/// The person, and what their changes were like.
pub(super) struct Person {
    home: PathBuf,
    top: PathBuf,
    files: Seen,
    index: String,
    status: String,
}

impl Person {
    /// Makes twelve changes.
    pub(super) fn with_changes(home: &Path, top: &Path) -> io::Result<Self> {
        let git = |arguments: &[&str]| git_as(home, top, arguments);
        let [edited, staged, staged_and_edited, removed, removed_and_staged, executable, old, new, added, intended, untracked, link, binary] = PATHS;
        let write = |path: &str, content: &[u8]| {
            fs::create_dir_all(top.join(path).parent().unwrap_or(top))?;
            fs::write(top.join(path), content)
        };
        write(edited, b"const mine = 1;\r\n")?;
        write(staged, b"const mine = 2;\n")?;
        write(staged_and_edited, b"const mine = 3;\n")?;
        write(added, b"const mine = 4;\n")?;
        git(&["add", staged, staged_and_edited, added])?;
        write(staged_and_edited, b"const mine = 3; // and later\n")?;
        fs::remove_file(top.join(removed))?;
        git(&["rm", "-q", removed_and_staged])?;
        fs::set_permissions(top.join(executable), Permissions::from_mode(0o755))?;
        git(&["mv", old, new])?;
        write(intended, b"const mine = 5;\n")?;
        git(&["add", "--intent-to-add", intended])?;
        write(untracked, b"Nobody's business.\n")?;
        fs::remove_file(top.join(link))?;
        symlink("lib.rs", top.join(link))?;
        write(binary, &[0, 159, 146, 150, 0])?;
        let mut person = Self { home: home.to_path_buf(), top: top.to_path_buf(), files: Seen::new(), index: String::new(), status: String::new() };
        (person.files, person.index, person.status) = person.read()?;
        Ok(person)
    }

    /// Says how many changes there are.
    pub(super) fn describe(&self) -> String {
        format!("{} changes of the person", self.status.lines().filter(|line| !line.starts_with('#')).count())
    }

    /// Names what is no longer as it was.
    pub(super) fn differences(&self) -> io::Result<Vec<String>> {
        let (files, index, status) = self.read()?;
        let mut changed: Vec<String> =
            self.files.iter().filter(|(path, seen)| files.get(*path) != Some(*seen)).map(|(path, _)| path.display().to_string()).collect();
        for (name, before, after) in [("index", &self.index, &index), ("status", &self.status, &status)] {
            if before != after {
                changed.push(format!("the {name} was\n{before}\nand is\n{after}"));
            }
        }
        Ok(changed)
    }

    /// The files, what the index has of them, and the whole status.
    fn read(&self) -> io::Result<(Seen, String, String)> {
        let mut files = Seen::new();
        for path in PATHS.into_iter().chain([".env", super::files::MEDIA]) {
            let path = self.top.join(path);
            let seen = match path.symlink_metadata() {
                Ok(found) if found.is_symlink() => Some((found.mode(), fs::read_link(&path)?.into_os_string().into_encoded_bytes())),
                Ok(found) => Some((found.mode(), fs::read(&path)?)),
                Err(_) => None,
            };
            files.insert(path, seen);
        }
        let index = git_as(&self.home, &self.top, &[&["ls-files", "--stage", "-v", "--"][..], &PATHS].concat())?;
        let status = git_as(&self.home, &self.top, &["status", "--porcelain=v2", "--untracked-files=all"])?;
        Ok((files, index, status))
    }
}
