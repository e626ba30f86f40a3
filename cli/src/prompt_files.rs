//! Reads the files of the person that replace what agents are told.
//!
//! A file that cannot replace its text is an error: the built-in text in its place would be noticed too late. Must not know what a prompt says.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use domain::config::Config;
use domain::prompt::{Prompt, PromptRefusal, Prompts};
use domain::runs::agent_kind::AgentKind;

/// Why a file does not replace what agents are told. Each says which setting names the file, and how to do without it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PromptError {
    #[error("the prompt {} {refusal}, or {}", path.display(), origin.remedy())]
    Refused { path: PathBuf, origin: Origin, refusal: PromptRefusal },
    #[error("the prompt {} {}, or {}", path.display(), why_unreadable(reason, "put a text file there"), origin.remedy())]
    Unreadable { path: PathBuf, origin: Origin, reason: io::Error },
    #[error("the folder of prompts {} {}, or correct or remove \"prompts_path\"", path.display(), why_unreadable(reason, "make it a folder"))]
    Folder { path: PathBuf, reason: io::Error },
}

/// The reason why a file is used as a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The configuration names it for this kind of agent.
    Named(AgentKind),
    /// It is in the folder of prompts.
    Folder,
    /// It is beside the database.
    BesideDatabase,
}

impl Origin {
    /// How to use the text of this program, as an imperative.
    fn remedy(self) -> String {
        match self {
            Self::Named(phase) => format!("remove \"agents.{phase}.system_prompt_file\", which names it"),
            Self::Folder => "delete the file to use the built-in text (\"prompts_path\" names its folder)".to_owned(),
            Self::BesideDatabase => "delete the file to use the built-in text".to_owned(),
        }
    }
}

/// `other` is the remedy if something else is in the place.
fn why_unreadable(reason: &io::Error, other: &str) -> String {
    match reason.kind() {
        ErrorKind::NotFound => "does not exist; create it".to_owned(),
        ErrorKind::InvalidData => "is not UTF-8; save it as UTF-8".to_owned(),
        ErrorKind::PermissionDenied => format!("cannot be read ({reason}); change its permissions"),
        _ => format!("cannot be read ({reason}); {other}"),
    }
}

/// Reads every prompt of the configuration.
///
/// # Errors
/// When a file cannot be read or is refused, or a named file or folder does not exist.
pub(crate) fn read(config: &Config) -> Result<Prompts, PromptError> {
    if let Some(folder) = &config.prompts_path {
        std::fs::read_dir(folder).map_err(|reason| PromptError::Folder { path: folder.clone(), reason })?;
    }
    let mut prompts = Prompts::default();
    for prompt in Prompt::ALL {
        if let Some((path, origin)) = file(config, *prompt)? {
            let text = std::fs::read_to_string(&path).map_err(|reason| PromptError::Unreadable { path: path.clone(), origin, reason })?;
            let refused = |refusal| PromptError::Refused { path: path.clone(), origin, refusal };
            prompts.replace(*prompt, path.clone(), &text).map_err(refused)?;
        }
    }
    Ok(prompts)
}

/// The file that replaces a prompt: the one that is named for its kind of agent, or that in the folder of prompts, or beside the database.
///
/// # Errors
/// When it cannot be said whether there is a file.
fn file(config: &Config, prompt: Prompt) -> Result<Option<(PathBuf, Origin)>, PromptError> {
    let phase = AgentKind::ALL.iter().find(|phase| Prompt::from(**phase) == prompt);
    if let Some((phase, named)) = phase.and_then(|phase| Some((phase, config.agent(*phase).system_prompt_file.clone()?))) {
        return Ok(Some((named, Origin::Named(*phase))));
    }
    for (path, origin) in places(config, prompt) {
        match exists(&path) {
            Ok(true) => return Ok(Some((path, origin))),
            Ok(false) => {}
            // Its folder is a file, or a link to nothing.
            Err(reason) => return Err(PromptError::Unreadable { path, origin, reason }),
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
fn places(config: &Config, prompt: Prompt) -> Vec<(PathBuf, Origin)> {
    let beside = prompt.is_onboarding().then(|| (config.db_path.with_file_name(prompt.file()), Origin::BesideDatabase));
    config.prompts_path.iter().map(|folder| (folder.join(prompt.file()), Origin::Folder)).chain(beside).collect()
}

/// Every path on which the prompts depend, whether it exists or not, with the folders in which files may appear.
pub(crate) fn paths(config: &Config) -> Vec<PathBuf> {
    let named = config.agents.each().into_iter().filter_map(|agent| agent.system_prompt_file.clone());
    let possible: Vec<PathBuf> = Prompt::ALL.iter().flat_map(|prompt| places(config, *prompt)).map(|(path, _)| path).collect();
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
            read(&self.config()).unwrap_err().to_string()
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
        assert!(read(&config).unwrap_err().to_string().contains("missing.md does not exist"), "a named file must exist");
    }

    #[test]
    fn broken_file_is_refused_with_its_setting_and_a_remedy() {
        let files = Files::new();
        let path = "prompts/reminder/resume.md";
        for (text, reason) in [
            (&b" \n"[..], "resume.md is empty; write its text, or delete the file to use the built-in text (\"prompts_path\" names its folder)"),
            (b"\xff", "resume.md is not UTF-8; save it as UTF-8, or delete the file"),
            (&[b'x'; 70_000], "resume.md has 70000 bytes, and every agent pays for them; shorten it to at most 65536, or delete the file"),
        ] {
            files.write(path, text);
            assert!(files.error().contains(reason), "{}", files.error());
        }
        std::fs::remove_file(files.path(path)).unwrap();
        std::os::unix::fs::symlink("nowhere", files.path(path)).unwrap();
        assert!(files.error().contains("resume.md does not exist; create it, or delete the file"), "a link to nothing");
        std::fs::remove_dir_all(files.path("prompts/reminder")).unwrap();
        std::os::unix::fs::symlink("nowhere", files.path("prompts/reminder")).unwrap();
        assert!(files.error().contains("prompts/reminder/") && files.error().contains("does not exist"), "{}", files.error());
        std::fs::remove_file(files.path("prompts/reminder")).unwrap();
        files.write("prompts/reminder", "Not a folder.");
        assert!(files.error().contains("prompts/reminder/") && files.error().contains("put a text file there"), "{}", files.error());
        std::fs::remove_dir_all(files.path("prompts")).unwrap();
        assert!(files.error().ends_with("/prompts does not exist; create it, or correct or remove \"prompts_path\""), "{}", files.error());
        files.write("prompts", "Not a folder.");
        assert!(files.error().contains("; make it a folder, or correct or remove"), "{}", files.error());
    }

    #[test]
    fn named_file_and_one_beside_the_database_have_their_own_remedies() {
        let files = Files::new();
        files.write("data/protocol.md", "");
        assert!(
            files.error().ends_with("/data/protocol.md is empty; write its text, or delete the file to use the built-in text"),
            "{}",
            files.error()
        );
        let mut config = files.config();
        config.agents.coder.system_prompt_file = Some(files.path("mine.md"));
        for (text, reason) in [(None, "does not exist; create it"), (Some(""), "is empty; write its text")] {
            text.into_iter().for_each(|text| files.write("mine.md", text));
            let error = read(&config).unwrap_err().to_string();
            let expected = format!("/mine.md {reason}, or remove \"agents.coder.system_prompt_file\", which names it");
            assert!(error.ends_with(&expected), "{error}");
        }
        files.write("mine.md", "Mine.");
        let forbidden = std::io::Error::from(ErrorKind::PermissionDenied);
        let error = PromptError::Unreadable { path: files.path("mine.md"), origin: Origin::Named(AgentKind::Coder), reason: forbidden };
        assert!(error.to_string().contains("cannot be read (permission denied); change its permissions, or remove"), "{error}");
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
