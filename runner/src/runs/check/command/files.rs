//! The folder of a command, as its shim reads it. It must not start anything.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::env::RunEnv;
use crate::jail::prepare::prepare_run_dir;
use crate::run_dir::{CheckSpec, RunDir, RunSpec};
use crate::runs::check::outcome::MAX_OUTPUT_BYTES;
use crate::runs::run::jail::{self, JailInputs};
use crate::runs::run::preparation::{Preparation, SHELL};

/// The contents of a command's folder.
pub(super) struct CheckFiles {
    pub(super) jail: Option<JailInputs>,
    pub(super) marker: String,
    pub(super) relay: PathBuf,
    pub(super) cwd: PathBuf,
    pub(super) setup: Preparation,
    pub(super) line: String,
    pub(super) limit_seconds: u64,
}

impl CheckFiles {
    /// Writes the folder. Blocks.
    ///
    /// # Errors
    /// When no jail can be built, or the folder cannot be written.
    pub(super) fn write(&self, path: &Path) -> Result<RunDir, String> {
        let jail = self.jail.as_ref().map(JailInputs::build).transpose().map_err(|error| error.to_string())?;
        let (jail, variables) = jail.map(|built| (built.spec, built.variables)).unzip();
        let variables = variables.unwrap_or_default();
        let backend: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let inside = |argv: Vec<String>| match &jail {
            Some(jail) => jail::command_inside(&self.relay, jail, argv),
            None => argv,
        };
        let spec = RunSpec {
            run_id: None,
            env: RunEnv { marker: &self.marker, port: None, backend: &backend, configured: &BTreeMap::new() }.variables(),
            marker: self.marker.clone(),
            argv: inside([SHELL, "-c", self.line.as_str()].map(str::to_owned).to_vec()),
            setup: self.setup.spec(inside),
            cwd: self.cwd.clone(),
            first_line: None,
            output_limit: MAX_OUTPUT_BYTES,
            jail: jail.clone(),
            check: Some(CheckSpec { limit_seconds: self.limit_seconds }),
        };
        let run_dir = RunDir::create(path, &spec).map_err(|error| error.to_string())?;
        if jail.is_some() {
            prepare_run_dir(run_dir.path()).map_err(|error| error.to_string())?;
        }
        Ok(run_dir)
    }
}
