//! The bare remote of the repository, another clone of it that pushes, and a stand-in for `gh` that records its calls. The remote has the address
//! of a host, under which the person's own configuration lets `git` find it. It must not know the product.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::git::{git, git_as};

const ADDRESS: &str = "https://github.example/ann/large";

pub(super) struct Remote {
    pub(super) path: PathBuf,
    /// The folder with the other clone, the calls of the stand-in and its answers.
    root: PathBuf,
}

impl Remote {
    /// Gives the repository `repo` in `root` its remote.
    pub(super) fn new(root: &Path) -> io::Result<Self> {
        let (repository, path) = (root.join("repo"), root.join("remote.git"));
        let text = |path: &Path| path.display().to_string();
        git(root, &["clone", "-q", "--bare", &text(&repository), &text(&path)])?;
        git(root, &["clone", "-q", &text(&path), "other"])?;
        for (key, value) in [("remote.origin.url", ADDRESS), ("branch.main.remote", "origin"), ("branch.main.merge", "refs/heads/main")] {
            git(&repository, &["config", key, value])?;
        }
        git(&repository, &["config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"])?;
        fs::create_dir_all(root.join("home"))?;
        // Git LFS takes addresses only.
        git_as(&root.join("home"), root, &["config", "--global", &format!("url.file://{}.insteadOf", path.display()), ADDRESS])?;
        let remote = Self { path, root: root.to_path_buf() };
        remote.write_stand_in()?;
        Ok(remote)
    }

    fn write_stand_in(&self) -> io::Result<()> {
        fs::create_dir_all(self.root.join("bin"))?;
        let program = self.root.join("bin/gh");
        let root = self.root.display();
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> {root}/calls\ncase \"$1 $2\" in\n'pr list'|'auth status') ;;\n'pr create') echo {ADDRESS}/pull/7 ;;\n\
             'pr view') cat {root}/view ;;\n*) echo \"not expected: $*\" >&2; exit 1 ;;\nesac\n"
        );
        fs::write(&program, script)?;
        fs::set_permissions(&program, Permissions::from_mode(0o755))
    }

    /// Pushes a commit of the other clone and returns it.
    pub(super) fn push(&self, name: &str) -> io::Result<String> {
        let other = self.root.join("other");
        git(&other, &["pull", "-q", "--ff-only"])?;
        fs::write(other.join(format!("{name}.md")), "Someone else wrote it.\n")?;
        fs::write(other.join("packages/app6/src/index.ts"), format!("export const begin = \"{name}\";\n"))?;
        git(&other, &["add", "-A"])?;
        git(&other, &["commit", "-q", "-m", &format!("The {name} change of someone else")])?;
        git(&other, &["push", "-q", "origin", "HEAD:main"])?;
        git(&other, &["rev-parse", "HEAD"])
    }

    /// Merges `branch` into the base branch as a person does on the host, which says so from then on.
    pub(super) fn merge_pull_request(&self, branch: &str) -> io::Result<()> {
        let other = self.root.join("other");
        git(&other, &["fetch", "-q", "origin", branch])?;
        let head = git(&other, &["rev-parse", "FETCH_HEAD"])?;
        git(&other, &["merge", "-q", "--no-ff", "-m", "Merge the pull request", &head])?;
        git(&other, &["push", "-q", "origin", "HEAD:main"])?;
        fs::write(self.root.join("view"), format!(r#"{{"state": "MERGED", "headRefOid": "{head}"}}"#))
    }

    /// The calls of the stand-in, one a line.
    pub(super) fn calls(&self) -> io::Result<String> {
        fs::read_to_string(self.root.join("calls"))
    }
}
