//! Fills the submodules of a checkout with their files, from what the person's repository holds already or else from their addresses.
//!
//! An address is taken only from a commit of the base branch, because agents write the others: a submodule that an agent added stays empty. No
//! hook, filter or configuration of a submodule runs. Must not decide which checkouts get them.

mod names;

use std::fs;
use std::path::{Path, PathBuf};

use domain::runs::evidence::Sha;
use git2::{ConfigLevel, Oid};

use crate::branch::reference_target;
use crate::checkout::{Head, read_head};
use crate::error::{Attempt, RepoError};
use crate::git_call::succeed;
use crate::handle::{Repository, find_commit, oid, sha};
use crate::stat_cache::StatCache;
use crate::tracked::tracked_files;
use crate::workdir::Untracked;
use crate::worktree::{links_to, remove_if_exists, write_link_to_repository};

use names::{Named, resolved};

const LINK: u32 = 0o160_000;

/// The folder of the repositories of submodules in that of the repository above.
const MODULES: &str = "modules";
/// The folder of fetched submodules in the common folder of the repository. All checkouts borrow from it.
const STORE: &str = "vibe-relay";
/// Where a fetched commit is kept in the store.
const FETCHED: &str = "refs/vibe-relay/fetched/";
/// The reference with which the repository of a submodule in a checkout says that its first commit exists elsewhere.
const FIRST: &str = "refs/remotes/origin/first";
/// As git itself, which fetches submodules from no folder.
const PROTOCOLS: (&str, &str) = ("GIT_ALLOW_PROTOCOL", "git:http:https:ssh");

/// The submodules of one checkout or, inside of it, of one submodule.
struct Level {
    /// The folder of its files.
    folder: PathBuf,
    /// git's folder of it, with its own `modules`.
    admin: PathBuf,
    /// git's folder of the same repository in the person's checkout.
    held: PathBuf,
    store: PathBuf,
    /// The address of the repository, which those of its submodules may be relative to.
    address: Option<String>,
}

impl Repository {
    /// Fills the submodules of the checkout `name` at `path`, also those inside of others. `trusted` is a commit of the base branch. A submodule
    /// that has files already stays as it is, unless `exact`.
    ///
    /// # Errors
    /// [`RepoError::SubmoduleNotFilled`] if one cannot be fetched.
    pub fn fill_submodules(&self, name: &str, path: &Path, trusted: &Sha, exact: bool) -> Result<(), RepoError> {
        let Some(head) = self.worktree_head(name)? else { return Ok(()) };
        let config = self.handle()?.config().and_then(|mut config| config.snapshot()).attempting(|| "read the configuration".into())?;
        let level = Level {
            folder: path.to_path_buf(),
            admin: self.admin_dir(name)?,
            held: self.git_dir().to_path_buf(),
            store: self.git_dir().join(STORE),
            address: config.get_string("remote.origin.url").ok(),
        };
        self.fill_level(&level, oid(&head)?, oid(trusted)?, exact)
    }

    fn fill_level(&self, level: &Level, head: Oid, trusted: Oid, exact: bool) -> Result<(), RepoError> {
        let handle = self.handle()?;
        let links: Vec<_> = tracked_files(&handle, head)?.into_iter().filter(|file| file.mode == LINK).collect();
        if links.is_empty() {
            return Ok(());
        }
        let named = names::of_commit(&handle, trusted)?;
        let trusted_tree = find_commit(&handle, trusted)?.tree().attempting(|| format!("read the files of {trusted}"))?;
        for link in links {
            let Some(Named { name, path, url }) = named.iter().find(|named| named.path.as_bytes() == link.path) else { continue };
            let address = resolved(url, level.address.as_deref());
            let inner = Level {
                folder: level.folder.join(path),
                admin: level.admin.join(MODULES).join(name),
                held: level.held.join(MODULES).join(name),
                store: level.store.join(MODULES).join(name),
                address: address.clone(),
            };
            let filling = |output: String| RepoError::SubmoduleNotFilled { path: path.clone(), output };
            let Some(module) = self.fill_one(&inner, link.id, exact).map_err(|error| filling(error.to_string()))? else { continue };
            // A commit of an agent names addresses, too.
            if trusted_tree.get_path(Path::new(path)).is_ok_and(|entry| entry.id() == link.id) {
                module.fill_level(&inner, link.id, link.id, exact)?;
            }
        }
        Ok(())
    }

    /// Fills one submodule with the files of `commit`. Returns its repository in the checkout, or none if another repository is there.
    fn fill_one(&self, place: &Level, commit: Oid, exact: bool) -> Result<Option<Self>, RepoError> {
        let Level { folder, admin, .. } = place;
        let module = Self::at(admin.clone());
        if folder.join(".git").symlink_metadata().is_ok() && !links_to(folder, admin) {
            return Ok(None);
        }
        let is_complete = admin.join("index").is_file();
        let is_at = || read_head(admin) == Some(Head::Detached(sha(commit)));
        let is_clean = || module.changes(folder, commit, Untracked::Files, &StatCache::default()).is_ok_and(|changes| changes.is_empty());
        if is_complete && (!exact || (is_at() && is_clean())) {
            return Ok(Some(module));
        }
        let making = || format!("make the submodule {}", folder.display());
        let objects = self.objects_of(place, commit)?;
        if exact && folder.is_dir() {
            fs::remove_dir_all(folder).attempting(making)?;
        }
        fs::create_dir_all(folder).attempting(making)?;
        remove_if_exists(&admin.join("index"))?;
        Self::make_bare(admin)?;
        fs::write(admin.join("objects/info/alternates"), format!("{}\n", objects.display())).attempting(making)?;
        let handle = module.handle()?;
        let mut config = handle.config().and_then(|config| config.open_level(ConfigLevel::Local)).attempting(making)?;
        config.set_bool("core.bare", false).attempting(making)?;
        config.set_str("core.worktree", &folder.to_string_lossy()).attempting(making)?;
        if let Some(address) = &place.address {
            config.set_str("remote.origin.url", address).attempting(making)?;
        }
        for inner in names::of_commit(&handle, commit)? {
            config.set_bool(&format!("submodule.{}.active", inner.name), true).attempting(making)?;
        }
        handle.reference(FIRST, commit, true, "vibe-relay: filled").attempting(making)?;
        module.set_detached_head(admin, &sha(commit))?;
        write_link_to_repository(admin, folder)?;
        module.write_files(admin, folder, commit, false)?;
        Ok(Some(module))
    }

    /// Returns the folder of objects that has `commit`, and fetches it if none has it.
    fn objects_of(&self, place: &Level, commit: Oid) -> Result<PathBuf, RepoError> {
        // Of a shallow clone, nobody could keep commits later.
        let has = |folder: &Path| {
            !folder.join("shallow").exists() && Self::at(folder.to_path_buf()).handle().is_ok_and(|handle| handle.find_commit(commit).is_ok())
        };
        for known in [&place.held, &place.store] {
            if has(known) {
                return Ok(known.join("objects"));
            }
        }
        let fetching = || format!("fetch {commit}");
        let Some(address) = &place.address else {
            return Err(RepoError::GitFailed { attempted: fetching(), output: "it has no address".to_owned() });
        };
        Self::make_bare(&place.store)?;
        let carrier = self.carrier()?;
        let fetch = |wanted: &str| {
            let mut call = carrier.call(["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--", address.as_str(), wanted]);
            call.objects = place.store.join("objects");
            call.variables.push((PROTOCOLS.0, PROTOCOLS.1.to_owned()));
            succeed(call, fetching)
        };
        // Old servers give no commit by its name.
        fetch(&sha(commit)).or_else(|_| fetch("+refs/heads/*:refs/fetched/*"))?;
        let store = Self::at(place.store.clone()).handle()?;
        find_commit(&store, commit)?;
        let kept = format!("{FETCHED}{commit}");
        if reference_target(&store, &kept)?.is_none() {
            store.reference(&kept, commit, true, "vibe-relay: fetched").attempting(fetching)?;
        }
        Ok(place.store.join("objects"))
    }
}

#[cfg(test)]
mod tests;
