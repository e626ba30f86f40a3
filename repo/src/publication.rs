//! The facts that a push needs: the remote of a repository, and a place to push from in which nothing of the repository is believed.
//!
//! `git` runs hooks and programs that the configuration of its repository names. It is therefore run in a carrier: an empty repository that
//! borrows the objects. Must not run it.

use std::fs;
use std::path::Path;

use domain::runs::evidence::Sha;
use domain::runs::publication::{PublicationTarget, repository_at};

use crate::branch::branch_ref;
use crate::error::{Attempt, RepoError};
use crate::filter::Conversion;
use crate::handle::{Repository, oid};

const DEFAULT_REMOTE: &str = "origin";

impl Repository {
    /// Returns where `branch` is pushed: to the remote that the base branch follows, or else `origin`, or else the only one. `None` without one.
    ///
    /// # Errors
    /// The configuration cannot be read.
    pub fn publication_target(&self, branch: &str, base_branch: &str) -> Result<Option<PublicationTarget>, RepoError> {
        let handle = self.handle()?;
        let config = handle.config().and_then(|mut config| config.snapshot()).attempting(|| "read the configuration".into())?;
        let names = handle.remotes().attempting(|| "list the remotes".into())?;
        let names: Vec<&str> = names.iter().flatten().flatten().collect();
        let followed = config.get_str(&format!("branch.{base_branch}.remote")).ok().filter(|name| names.contains(name));
        let only = if let [only] = names.as_slice() { Some(*only) } else { None };
        let Some(remote) = followed.or_else(|| names.contains(&DEFAULT_REMOTE).then_some(DEFAULT_REMOTE)).or(only) else { return Ok(None) };
        let address = |key: &str| config.get_str(&format!("remote.{remote}.{key}")).ok();
        let Some(url) = address("pushurl").or_else(|| address("url")) else { return Ok(None) };
        let upstream = followed.and(config.get_str(&format!("branch.{base_branch}.merge")).ok());
        let base = upstream.and_then(|name| name.strip_prefix("refs/heads/")).unwrap_or(base_branch);
        Ok(Some(PublicationTarget {
            remote: remote.to_owned(),
            url: url.to_owned(),
            branch: branch.to_owned(),
            base_branch: base.to_owned(),
            repository: repository_at(url),
        }))
    }

    /// Prepares a carrier for the upload of the files of Git LFS that `tip` and the commits before it name, and returns whether there are any.
    ///
    /// # Errors
    /// [`RepoError::FilterMissing`] if Git LFS is not installed, or the carrier cannot be written.
    pub fn prepare_upload(&self, folder: &Path, target: &PublicationTarget, tip: &Sha) -> Result<bool, RepoError> {
        if !self.conversions(oid(tip)?)?.iter().any(Conversion::is_lfs) {
            return Ok(false);
        }
        let (handle, carrier) = (self.handle()?, Self::at(folder.to_path_buf()).handle()?);
        let writing = || format!("write {}", folder.display());
        carrier.reference(&branch_ref(&target.branch), oid(tip)?, true, "upload").attempting(writing)?;
        // The commits that the remote has already.
        for known in handle.references_glob(&format!("refs/remotes/{}/*", target.remote)).attempting(writing)? {
            let known = known.attempting(writing)?;
            if let (Ok(name), Some(id)) = (known.name(), known.target()) {
                carrier.reference(name, id, true, "known").attempting(writing)?;
            }
        }
        self.configure_storage(folder)?;
        let mut config = carrier.config().attempting(writing)?;
        config.set_str(&format!("remote.{}.url", target.remote), &target.url).attempting(writing)?;
        Ok(true)
    }

    /// Makes the carrier `folder`, in which `git` finds the objects of this repository and nothing else of it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn make_carrier(&self, folder: &Path) -> Result<(), RepoError> {
        Self::make_bare(folder)?;
        let writing = || format!("write {}", folder.display());
        let objects = self.git_dir().join("objects").canonicalize().attempting(writing)?;
        fs::write(folder.join("objects/info/alternates"), format!("{}\n", objects.display())).attempting(writing)?;
        match fs::read(self.git_dir().join("shallow")) {
            Ok(shallow) => fs::write(folder.join("shallow"), shallow).attempting(writing),
            Err(_) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::git_program::{git, run};
    use crate::testing::TestRepository;

    fn target(sample: &TestRepository) -> Option<PublicationTarget> {
        sample.repository().publication_target("vibe-relay/PROJ-001", "main").unwrap()
    }

    #[test]
    fn remote_is_that_of_the_base_branch_or_origin_or_the_only_one() {
        let sample = TestRepository::new();
        let configure = |arguments: &[&str]| git(sample.top(), arguments);
        assert_eq!(target(&sample), None);
        configure(&["remote", "add", "ours", "git@github.com:ann/site.git"]);
        let only = target(&sample).unwrap();
        assert_eq!((only.remote.as_str(), only.base_branch.as_str()), ("ours", "main"));
        assert_eq!(only.repository.as_deref(), Some("github.com/ann/site"));
        configure(&["remote", "add", "origin", "/srv/site.git"]);
        assert_eq!(target(&sample).unwrap().remote, "origin");
        configure(&["config", "branch.main.remote", "ours"]);
        configure(&["config", "branch.main.merge", "refs/heads/trunk"]);
        configure(&["config", "remote.ours.pushurl", "https://example.org/ann/site"]);
        let followed = target(&sample).unwrap();
        assert_eq!(
            (followed.remote.as_str(), followed.base_branch.as_str(), followed.url.as_str()),
            ("ours", "trunk", "https://example.org/ann/site")
        );
        configure(&["config", "branch.main.remote", "gone"]);
        assert_eq!(target(&sample).unwrap().remote, "origin", "a remote that does not exist");
    }

    #[test]
    fn push_from_a_carrier_runs_nothing_of_the_repository() {
        let sample = TestRepository::new();
        let marker = sample.beside("ran");
        let (remote, carrier): (PathBuf, PathBuf) = (sample.beside("remote.git"), sample.beside("carrier.git"));
        git(sample.top(), &["init", "--quiet", "--bare", remote.to_str().unwrap()]);
        let program = sample.beside("evil");
        fs::write(&program, format!("#!/bin/sh\necho x >> {}\n", marker.display())).unwrap();
        for name in ["pre-push", "reference-transaction"] {
            let hook = sample.git_dir().join("hooks").join(name);
            fs::create_dir_all(hook.parent().unwrap()).unwrap();
            fs::copy(&program, &hook).unwrap();
            make_executable(&hook);
        }
        make_executable(&program);
        for key in ["core.fsmonitor", "core.sshCommand", "core.askPass", "credential.helper", "gpg.program"] {
            git(sample.top(), &["config", key, program.to_str().unwrap()]);
        }
        let _ = fs::remove_file(&marker);
        sample.repository().make_carrier(&carrier).unwrap();
        let head = sample.repository().ref_sha("main").unwrap().unwrap();
        let pushed = run(&carrier, &["push", "--quiet", "--no-verify", "--", remote.to_str().unwrap(), &format!("{head}:refs/heads/main")]);
        assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
        assert_eq!(git(&remote, &["rev-parse", "main"]), head);
        assert!(!marker.exists(), "{}", fs::read_to_string(&marker).unwrap_or_default());
        // The same push in the repository itself runs the hook: this test can fail.
        run(sample.top(), &["push", "--quiet", remote.to_str().unwrap(), "main:again"]);
        assert!(marker.exists());
    }

    fn make_executable(path: &Path) {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
