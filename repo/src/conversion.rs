//! Finds out whether git changes the contents of files when it writes them to a checkout: line ends, `$Id$`, links and modes.
//!
//! In doubt it does. Must not convert anything: libgit2 does that, file by file.

use std::fs;
use std::path::PathBuf;

use git2::{Config, IndexEntry};

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;

impl Repository {
    /// Whether a checkout of `files` can differ from their blobs, because of the configuration or of an attribute file.
    pub(crate) fn converts(&self, handle: &git2::Repository, files: &[IndexEntry]) -> Result<bool, RepoError> {
        let config = handle.config().and_then(|mut config| config.snapshot());
        let config = config.attempting(|| "read the configuration of the repository".into())?;
        if changes_files(&config) || self.attribute_files(&config).iter().any(|file| fs::read(file).is_ok_and(|text| has_conversion(&text))) {
            return Ok(true);
        }
        for file in files.iter().filter(|file| file.path == b".gitattributes" || file.path.ends_with(b"/.gitattributes")) {
            let reading = || format!("read {}", String::from_utf8_lossy(&file.path));
            if has_conversion(handle.find_blob(file.id).attempting(reading)?.content()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The attribute files outside of commits.
    pub(crate) fn attribute_files(&self, config: &Config) -> Vec<PathBuf> {
        let own = self.git_dir().join("info/attributes");
        let named = config.get_path("core.attributesFile").ok();
        let xdg = std::env::var_os("XDG_CONFIG_HOME").map(|folder| PathBuf::from(folder).join("git/attributes"));
        let home = std::env::home_dir().map(|home| home.join(".config/git/attributes"));
        let system = Config::find_system().ok().map(|config| config.with_file_name("gitattributes"));
        [Some(own), named, xdg, home, system, Some("/etc/gitattributes".into())].into_iter().flatten().collect()
    }
}

/// Whether a setting has an effect on all files.
fn changes_files(config: &Config) -> bool {
    let text = |name: &str| config.get_string(name).unwrap_or_default().to_lowercase();
    let is = |name: &str, default| config.get_bool(name).unwrap_or(default);
    let line_ends = text("core.autocrlf");
    !(line_ends.is_empty() || line_ends == "input" || !is("core.autocrlf", true))
        || text("core.eol") == "crlf"
        || is("core.ignoreCase", false)
        || !is("core.symlinks", true)
        || !is("core.fileMode", true)
}

/// Whether an attribute file names a conversion, for any path.
fn has_conversion(attributes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(attributes);
    text.split_whitespace().any(|word| word == "ident" || word == "eol=crlf" || word == "crlf" || word.starts_with("crlf="))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::{oid, tree_index};
    use crate::testing::TestRepository;

    fn converts(sample: &TestRepository) -> bool {
        let repository = sample.repository();
        let handle = repository.handle().unwrap();
        let head = oid(&repository.ref_sha("main").unwrap().unwrap()).unwrap();
        let files: Vec<_> = tree_index(&handle, head).unwrap().iter().collect();
        repository.converts(&handle, &files).unwrap()
    }

    #[test]
    fn settings_and_attributes_that_change_files_are_found() {
        let settings =
            [("core.autocrlf", "true"), ("core.eol", "crlf"), ("core.ignorecase", "true"), ("core.symlinks", "false"), ("core.filemode", "no")];
        for (name, value) in settings {
            let sample = TestRepository::new();
            sample.configure(name, value);
            assert!(converts(&sample), "{name}");
        }
        for attributes in ["*.bat eol=crlf\n", "* text ident\n", "[attr]dos crlf\n", "* crlf=input\n"] {
            let sample = TestRepository::new();
            sample.write("sub/.gitattributes", attributes);
            sample.commit_all("attributes");
            assert!(converts(&sample), "{attributes}");
        }
        let sample = TestRepository::new();
        let personal = sample.beside("attributes");
        fs::write(&personal, "* ident\n").unwrap();
        sample.configure("core.attributesFile", personal.to_str().unwrap());
        assert!(converts(&sample));
    }

    #[test]
    fn usual_settings_and_attributes_change_no_file() {
        let sample = TestRepository::new();
        sample.write(".gitattributes", "* text=auto eol=lf\n*.png binary\n*.rs diff=rust -ident\n*.lock -diff linguist-generated\n");
        sample.commit_all("attributes");
        for (name, value) in [("core.autocrlf", "input"), ("core.eol", "lf")] {
            sample.configure(name, value);
        }
        assert!(!converts(&sample));
        sample.configure("core.autocrlf", "false");
        assert!(!converts(&sample));
    }
}
