//! Reloads the configuration, the prompts and the secrets of a running server when one of their files changes.
//!
//! Must not know which keys need a restart; `domain::config::live` decides that.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::config::Config;
use domain::config::live::LiveConfig;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::{Notify, watch};

use crate::error::{CliError, full_text};
use crate::{prompt_files, settings};

/// How long the files must be quiet before they are read, because editors write in several steps.
const QUIET: Duration = Duration::from_millis(100);

/// The configuration of a server, which follows its files while [`Reload::run`] runs.
pub(crate) struct Reload {
    /// The file in use. A server that started without one uses the first that appears.
    file: Option<PathBuf>,
    /// Whether the command line named the file.
    is_named: bool,
    live: watch::Sender<LiveConfig>,
}

impl Reload {
    /// Reads the configuration for the first time.
    ///
    /// # Errors
    /// When the configuration or a prompt is not valid, because there is no earlier version to keep.
    pub(crate) fn load(named: Option<&Path>) -> Result<Self, CliError> {
        let file = settings::file(named)?;
        let mut config = settings::with_files(file.as_deref())?;
        config.origin.is_named = named.is_some();
        Ok(Self { file, is_named: named.is_some(), live: watch::Sender::new(LiveConfig { config, notice: None }) })
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<LiveConfig> {
        self.live.subscribe()
    }

    /// Reloads after every change. Ends only when the system cannot watch files; the server then keeps its configuration.
    pub(crate) async fn run(mut self) {
        let mut files = match WatchedFiles::new() {
            Ok(files) => files,
            Err(error) => return tracing::warn!(%error, "the configuration is not watched; restart to apply changes"),
        };
        files.watch(&self.paths());
        // A change between the first reading and the watch would be missed otherwise.
        self.reload();
        loop {
            files.changed().await;
            // A folder that appeared is watched before its files are read, so that no later one is missed.
            files.watch(&self.paths());
            self.reload();
            files.watch(&self.paths());
        }
    }

    fn reload(&mut self) {
        let file = self.file.clone().map_or_else(|| settings::file(None), |file| Ok(Some(file)));
        let loaded = file.and_then(|file| settings::with_files(file.as_deref()).map(|config| (file, config)));
        let before = self.live.borrow().clone();
        let after = match loaded {
            Ok((file, mut config)) => {
                config.origin.is_named = self.is_named;
                self.file = file;
                before.with_change(config)
            }
            Err(error) => before.with_error(&full_text(&error)),
        };
        if after == before {
            return;
        }
        match &after.notice {
            Some(notice) => tracing::warn!("configuration: {notice}"),
            None => tracing::info!("configuration reloaded"),
        }
        self.live.send_replace(after);
    }

    /// Every file that the configuration depends on, whether it exists or not.
    fn paths(&self) -> Vec<PathBuf> {
        let config: &Config = &self.live.borrow().config;
        let prompts = prompt_files::paths(config);
        let secrets = config.webhooks.iter().filter_map(|webhook| webhook.secret_file.clone());
        let files = self.file.clone().map_or_else(|| settings::candidates().unwrap_or_default(), |file| vec![file]);
        files.into_iter().chain(prompts).chain(secrets).collect()
    }
}

/// Files and the watch on their folders. A watch on a file itself would be lost when an editor replaces the file.
struct WatchedFiles {
    watcher: RecommendedWatcher,
    files: Arc<Mutex<BTreeSet<PathBuf>>>,
    folders: BTreeSet<PathBuf>,
    changed: Arc<Notify>,
}

impl WatchedFiles {
    fn new() -> notify::Result<Self> {
        let (files, changed) = (Arc::<Mutex<BTreeSet<PathBuf>>>::default(), Arc::new(Notify::new()));
        let (known, wake) = (Arc::clone(&files), Arc::clone(&changed));
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| match event {
            // The folder may also hold the database, which changes all the time.
            Ok(event) if !event.kind.is_access() => {
                let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                if event.paths.iter().any(|path| known.contains(path)) || event.need_rescan() {
                    wake.notify_one();
                }
            }
            Ok(_) => {}
            Err(error) => tracing::warn!(%error, "the configuration could not be watched"),
        })?;
        Ok(Self { watcher, files, folders: BTreeSet::new(), changed })
    }

    /// Also watches `paths`, and the files that they are links to.
    fn watch(&mut self, paths: &[PathBuf]) {
        let targets: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
        for path in paths.iter().chain(&targets) {
            let Some(folder) = path.parent() else { continue };
            if folder.is_dir() && !self.folders.contains(folder) {
                match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                    Ok(()) => {
                        self.folders.insert(folder.to_owned());
                    }
                    Err(error) => tracing::warn!(folder = %folder.display(), %error, "changes in this folder are not noticed"),
                }
            }
            self.files.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        }
    }

    /// Waits for a change, and until the files are quiet again.
    async fn changed(&self) {
        self.changed.notified().await;
        while tokio::time::timeout(QUIET, self.changed.notified()).await.is_ok() {}
    }
}

#[cfg(test)]
mod tests;
