//! Collects what a run's jail refused: from the results of tools, and from the log of the proxy.
//!
//! It must not know the store.

use std::collections::HashMap;

use domain::runs::run_event::RunEvent;
use domain::runs::sandbox::{Access, AccessKind};

use crate::jail::proxy::refused_hosts;
use crate::jail::refusal::Scope;
use crate::run_dir::RunDir;

/// The most tools that are remembered while they run.
const MAX_OPEN_CALLS: usize = 100;

#[derive(Debug)]
pub(super) struct RefusalReader {
    run_dir: RunDir,
    scope: Scope,
    /// The files of the tools that have not ended.
    locations: HashMap<String, Vec<String>>,
}

impl RefusalReader {
    /// `None` for a run without a jail. Blocks.
    pub(super) fn open(run_dir: &RunDir) -> Option<Self> {
        let scope = run_dir.spec().ok()?.jail?.scope;
        Some(Self { run_dir: run_dir.clone(), scope, locations: HashMap::new() })
    }

    /// The refusals that these events show. Blocks.
    pub(super) fn read(&mut self, events: &[RunEvent]) -> Vec<Access> {
        let mut refusals = Vec::new();
        for event in events {
            match event {
                RunEvent::ToolStarted(call) if self.locations.len() < MAX_OPEN_CALLS => {
                    self.locations.insert(call.id.clone(), call.locations.clone());
                }
                RunEvent::ToolEnded { id, output, .. } => {
                    let locations = self.locations.remove(id).unwrap_or_default();
                    refusals.extend(self.scope.refusals(output, &locations, |path| path.symlink_metadata().is_ok()));
                    refusals.extend(self.hosts());
                }
                _ => {}
            }
        }
        refusals
    }

    /// The hosts that the proxy refused so far. Blocks.
    pub(super) fn hosts(&self) -> Vec<Access> {
        refused_hosts(&self.run_dir).into_iter().map(|host| Access::new(AccessKind::Host, host)).collect()
    }
}
