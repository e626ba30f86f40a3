//! Reads the files of the person that replace what agents are told.
//!
//! A file that cannot replace its text is an error: the built-in text in its place would be noticed too late. Must not know what a prompt says.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use domain::config::Config;
use domain::prompt::{Prompt, Prompts};
use domain::runs::agent_kind::AgentKind;

use crate::error::CliError;

/// Reads every prompt of the configuration.
///
/// # Errors
/// When a file cannot be read or is refused, or a named file or folder does not exist.
pub(crate) fn read(config: &Config) -> Result<Prompts, CliError> {
    if let Some(folder) = &config.prompts_path {
        std::fs::read_dir(folder).map_err(CliError::io(format!("read the folder of prompts {}", folder.display())))?;
    }
    let mut prompts = Prompts::default();
    for prompt in Prompt::ALL {
        if let Some(path) = file(config, *prompt)? {
            let text = std::fs::read_to_string(&path).map_err(CliError::io(format!("read the prompt {}", path.display())))?;
            let refused = |source| CliError::Prompt { path: path.clone(), source };
            prompts.replace(*prompt, path.clone(), &text).map_err(refused)?;
        }
    }
    Ok(prompts)
}

/// The file that replaces a prompt: the one that is named for its kind of agent, or that in the folder of prompts, or beside the database.
///
/// # Errors
/// When it cannot be said whether there is a file.
fn file(config: &Config, prompt: Prompt) -> Result<Option<PathBuf>, CliError> {
    let named = AgentKind::ALL.iter().find(|phase| Prompt::from(**phase) == prompt);
    let named = named.and_then(|phase| config.agent(*phase).system_prompt_file.clone());
    if named.is_some() {
        return Ok(named);
    }
    for path in places(config, prompt) {
        if exists(&path).map_err(CliError::io(format!("look for the prompt {}", path.display())))? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Whether there is a file. A link to nothing is one, because it is a mistake; a folder that is such a link is an error.
fn exists(path: &Path) -> io::Result<bool> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            if let Some(folder) = path.parent().filter(|folder| folder.is_symlink()) {
                folder.metadata()?;
            }
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// The places where a file may be, in order.
fn places(config: &Config, prompt: Prompt) -> Vec<PathBuf> {
    let beside = prompt.is_onboarding().then(|| config.db_path.with_file_name(prompt.file()));
    config.prompts_path.iter().map(|folder| folder.join(prompt.file())).chain(beside).collect()
}

/// Every path on which the prompts depend, whether it exists or not, with the folders in which files may appear.
pub(crate) fn paths(config: &Config) -> Vec<PathBuf> {
    let named = config.agents.each().into_iter().filter_map(|agent| agent.system_prompt_file.clone());
    let possible: Vec<PathBuf> = Prompt::ALL.iter().flat_map(|prompt| places(config, *prompt)).collect();
    let folders = possible.iter().filter_map(|path| path.parent().map(Path::to_owned)).collect::<Vec<_>>();
    named.chain(possible).chain(folders).collect()
}

/// Things about the replaced prompts that are probably mistakes, each as a sentence.
pub(crate) fn doubts(config: &Config) -> Vec<String> {
    let mut doubts: Vec<String> = config
        .prompts
        .replaced()
        .filter_map(|(prompt, file)| {
            let missing = prompt.missing_placeholders(config.prompts.text(prompt));
            (!missing.is_empty()).then(|| format!("{} lacks {}, so agents are not told what it stands for", file.display(), missing.join(", ")))
        })
        .collect();
    if let Some(folder) = &config.prompts_path {
        let unknown =
            files_below(folder, Path::new("")).into_iter().filter(|name| !Prompt::ALL.iter().any(|prompt| Path::new(prompt.file()) == name));
        doubts.extend(unknown.map(|name| format!("{} replaces nothing, because no prompt has this name", folder.join(name).display())));
    }
    doubts
}

/// The Markdown files in a folder and the folders in it, relative to `top`. Deeper ones hold no prompts.
fn files_below(top: &Path, below: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(top.join(below)) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let name = below.join(entry.file_name());
        if entry.path().is_dir() && below.as_os_str().is_empty() {
            found.extend(files_below(top, &name));
        } else if name.extension().is_some_and(|extension| extension == "md") {
            found.push(name);
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::full_text;

    struct Files(tempfile::TempDir);

    impl Files {
        fn new() -> Self {
            let files = Self(tempfile::tempdir().unwrap());
            std::fs::create_dir(files.path("prompts")).unwrap();
            files
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, text: impl AsRef<[u8]>) {
            std::fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
            std::fs::write(self.path(name), text).unwrap();
        }

        fn config(&self) -> Config {
            Config { prompts_path: Some(self.path("prompts")), db_path: self.path("data/board.db"), ..Config::default() }
        }

        fn error(&self) -> String {
            full_text(&read(&self.config()).unwrap_err())
        }
    }

    #[test]
    fn every_prompt_is_replaced_by_its_file() {
        let files = Files::new();
        for prompt in Prompt::ALL {
            files.write(&format!("prompts/{}", prompt.file()), format!("My {}.", prompt.file()));
        }
        let prompts = read(&files.config()).unwrap();
        for prompt in Prompt::ALL {
            assert_eq!(prompts.text(*prompt), format!("My {}.\n", prompt.file()));
        }
        assert!(Prompt::ALL.iter().all(|prompt| paths(&files.config()).contains(&files.path("prompts").join(prompt.file()))));
    }

    #[test]
    fn named_file_goes_before_the_folder_and_the_folder_before_the_database() {
        let files = Files::new();
        let mut config = files.config();
        files.write("data/protocol.md", "beside");
        files.write("data/coder.md", "not a place for it");
        files.write("prompts/coder.md", "folder");
        assert_eq!(read(&config).unwrap().text(Prompt::Protocol), "beside\n");
        files.write("prompts/protocol.md", "folder");
        files.write("named.md", "named");
        config.agents.coder.system_prompt_file = Some(files.path("named.md"));
        let prompts = read(&config).unwrap();
        assert_eq!((prompts.text(Prompt::Protocol), prompts.text(Prompt::Coder)), ("folder\n", "named\n"));
        config.agents.coder.system_prompt_file = Some(files.path("missing.md"));
        assert!(full_text(&read(&config).unwrap_err()).contains("missing.md"), "a named file must exist");
    }

    #[test]
    fn broken_file_is_refused_with_its_name_and_the_reason() {
        let files = Files::new();
        let path = "prompts/reminder/resume.md";
        for (text, reason) in [(&b" \n"[..], "is empty; write the text, or delete the file"), (b"\xff", "UTF-8"), (&[b'x'; 70_000], "70000 bytes")] {
            files.write(path, text);
            let error = files.error();
            assert!(error.contains("reminder/resume.md") && error.contains(reason), "{error}");
        }
        std::fs::remove_file(files.path(path)).unwrap();
        std::os::unix::fs::symlink("nowhere", files.path(path)).unwrap();
        assert!(files.error().contains("reminder/resume.md"), "a link to nothing");
        std::fs::remove_dir_all(files.path("prompts/reminder")).unwrap();
        std::os::unix::fs::symlink("nowhere", files.path("prompts/reminder")).unwrap();
        assert!(files.error().starts_with("could not look for the prompt") && files.error().contains("prompts/reminder/"), "{}", files.error());
        std::fs::remove_file(files.path("prompts/reminder")).unwrap();
        files.write("prompts/reminder", "Not a folder.");
        assert!(files.error().contains("prompts/reminder/"), "{}", files.error());
        std::fs::remove_dir_all(files.path("prompts")).unwrap();
        assert!(files.error().starts_with("could not read the folder of prompts"), "{}", files.error());
    }

    #[test]
    fn lost_placeholders_and_unknown_names_are_doubts() {
        let files = Files::new();
        files.write("prompts/reminder/conflict.md", "{sha} conflicts with {branch}.");
        files.write("prompts/coders.md", "Typing error.");
        files.write("prompts/notes.txt", "Not Markdown.");
        let mut config = files.config();
        config.prompts = read(&config).unwrap();
        let doubts = doubts(&config);
        assert_eq!(doubts.len(), 2, "{doubts:?}");
        assert!(doubts[0].contains("conflict.md lacks {conflicts}") && doubts[1].contains("coders.md replaces nothing"), "{doubts:?}");
    }
}
