//! The texts that agents read, and the texts of the person that replace them. They are in `agents/`.
//!
//! Pure. Must not know where the files of the person are, or what an agent is told when.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::runs::agent_kind::AgentKind;
use crate::team::role::Role;

/// The largest replacement. Every agent that reads it pays for it.
const MAX_BYTES: usize = 64 * 1024;

macro_rules! prompts {
    ($($name:ident = $file:literal,)+) => {
        /// A text for agents, named by its file below `agents/`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Prompt {
            $($name,)+
        }

        impl Prompt {
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The path below `agents/`, and below the person's folder of prompts.
            pub fn file(self) -> &'static str {
                match self {
                    $(Self::$name => $file,)+
                }
            }

            /// The text of this program. It ends with a line break.
            pub fn built_in(self) -> &'static str {
                match self {
                    $(Self::$name => include_str!(concat!("../../agents/", $file)),)+
                }
            }
        }
    };
}

prompts! {
    Planner = "planner.md",
    Coder = "coder.md",
    Reviewer = "reviewer.md",
    Orchestrator = "orchestrator.md",
    Oracle = "oracle.md",
    Jail = "jail/jail.md",
    JailNet = "jail/net.md",
    CoderChecks = "checks/coder.md",
    ReviewerChecks = "checks/reviewer.md",
    Findings = "context/findings.md",
    MoreFindings = "context/more.md",
    Memory = "context/memory.md",
    Traps = "context/traps.md",
    Handover = "context/handover.md",
    HandoverFiles = "context/files.md",
    HandoverLog = "context/log.md",
    NoOutcome = "reminder/no_outcome.md",
    PlannerOutcome = "reminder/planner.md",
    CoderOutcome = "reminder/coder.md",
    ReviewerOutcome = "reminder/reviewer.md",
    OrchestratorOutcome = "reminder/orchestrator.md",
    OracleOutcome = "reminder/oracle.md",
    Resume = "reminder/resume.md",
    ResumeOracle = "reminder/resume_oracle.md",
    Inbox = "reminder/inbox.md",
    MoreInbox = "reminder/more.md",
    InboxHook = "reminder/hook.md",
    Compact = "reminder/compact.md",
    NewSession = "reminder/new_session.md",
    HandOver = "reminder/hand_over.md",
    Ordered = "reminder/ordered.md",
    Denied = "reminder/denied.md",
    Conflict = "reminder/conflict.md",
    Sync = "reminder/sync.md",
    FailedChecks = "reminder/failed_checks.md",
    FailedMergeChecks = "reminder/failed_merge_checks.md",
    Protocol = "protocol.md",
    LeadRole = "roles/lead.md",
    BuilderRole = "roles/builder.md",
    FixerRole = "roles/fixer.md",
    TesterRole = "roles/tester.md",
    ReviewerRole = "roles/reviewer.md",
    ProductionalizerRole = "roles/productionalizer.md",
    PenRole = "roles/pen.md",
    ShipperRole = "roles/shipper.md",
    ResearcherRole = "roles/researcher.md",
    CoderRole = "roles/coder.md",
    MaintainerRole = "roles/maintainer.md",
    DemoerRole = "roles/demoer.md",
    DelivererRole = "roles/deliverer.md",
    PusherRole = "roles/pusher.md",
    SetupCollaboration = "prompts/setup-collaboration.md",
    DebugSession = "prompts/debug-session.md",
}

impl Prompt {
    /// Whether it is part of the onboarding text, whose files may also lie beside the database.
    pub fn is_onboarding(self) -> bool {
        self == Self::Protocol || self.file().starts_with("roles/")
    }

    /// The words in braces that `text` lacks. They stand for what only this program knows.
    pub fn missing_placeholders(self, text: &str) -> Vec<&'static str> {
        let mut missing: Vec<&str> = placeholders(self.built_in()).into_iter().filter(|placeholder| !text.contains(placeholder)).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }
}

/// The system prompt of a kind of agent.
impl From<AgentKind> for Prompt {
    fn from(phase: AgentKind) -> Self {
        match phase {
            AgentKind::Planner => Self::Planner,
            AgentKind::Coder => Self::Coder,
            AgentKind::Reviewer => Self::Reviewer,
            AgentKind::Orchestrator => Self::Orchestrator,
            AgentKind::Oracle => Self::Oracle,
        }
    }
}

/// The text for an agent that registers with a role.
impl From<Role> for Prompt {
    fn from(role: Role) -> Self {
        match role {
            Role::Lead => Self::LeadRole,
            Role::Builder => Self::BuilderRole,
            Role::Fixer => Self::FixerRole,
            Role::Tester => Self::TesterRole,
            Role::Reviewer => Self::ReviewerRole,
            Role::Productionalizer => Self::ProductionalizerRole,
            Role::Pen => Self::PenRole,
            Role::Shipper => Self::ShipperRole,
            Role::Researcher => Self::ResearcherRole,
            Role::Coder => Self::CoderRole,
            Role::Maintainer => Self::MaintainerRole,
            Role::Demoer => Self::DemoerRole,
            Role::Deliverer => Self::DelivererRole,
            Role::Pusher => Self::PusherRole,
        }
    }
}

/// All lower-case words in braces.
fn placeholders(text: &str) -> Vec<&str> {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let starts = text.match_indices('{').map(|(start, _)| start);
    starts
        .filter_map(|start| text[start..].find('}').map(|length| &text[start..=start + length]))
        .filter(|found| is_word(&found[1..found.len() - 1]))
        .collect()
}

/// The reason why a text does not replace a prompt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PromptRefusal {
    #[error("is empty; write its text")]
    Empty,
    #[error("has {bytes} bytes, and every agent pays for them; shorten it to at most {MAX_BYTES}")]
    TooLarge { bytes: usize },
}

/// The texts in use: those of the person, and else those of this program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prompts(BTreeMap<Prompt, Replacement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Replacement {
    file: PathBuf,
    text: String,
}

impl Prompts {
    /// Uses the text of `file` from now on.
    ///
    /// # Errors
    /// When the text is empty or too large. The text before stays.
    pub fn replace(&mut self, prompt: Prompt, file: PathBuf, text: &str) -> Result<(), PromptRefusal> {
        if text.trim().is_empty() {
            return Err(PromptRefusal::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(PromptRefusal::TooLarge { bytes: text.len() });
        }
        self.0.insert(prompt, Replacement { file, text: format!("{}\n", text.trim_end()) });
        Ok(())
    }

    /// The text for agents. It ends with a line break.
    pub fn text(&self, prompt: impl Into<Prompt>) -> &str {
        let prompt = prompt.into();
        self.0.get(&prompt).map_or(prompt.built_in(), |replacement| &replacement.text)
    }

    /// The file that replaces the built-in text.
    pub fn file(&self, prompt: impl Into<Prompt>) -> Option<&Path> {
        self.0.get(&prompt.into()).map(|replacement| replacement.file.as_path())
    }

    /// Every replaced text with its file.
    pub fn replaced(&self) -> impl Iterator<Item = (Prompt, &Path)> {
        self.0.iter().map(|(prompt, replacement)| (*prompt, replacement.file.as_path()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_a_prompt_and_can_be_replaced() {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents");
        let mut found = Vec::new();
        let mut folders = vec![top.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        found.sort_unstable();
        let mut known: Vec<&str> = Prompt::ALL.iter().map(|prompt| prompt.file()).collect();
        known.sort_unstable();
        assert_eq!(known, found);

        let mut prompts = Prompts::default();
        for prompt in Prompt::ALL {
            assert_eq!(prompts.text(*prompt), prompt.built_in());
            assert_eq!(prompt.built_in().trim_end().len() + 1, prompt.built_in().len(), "{prompt:?} ends with one line break");
            prompts.replace(*prompt, prompt.file().into(), &format!("Mine: {}", prompt.file())).unwrap();
        }
        for prompt in Prompt::ALL {
            assert_eq!(prompts.text(*prompt), format!("Mine: {}\n", prompt.file()));
            assert_eq!(prompts.file(*prompt), Some(Path::new(prompt.file())));
        }
        assert_eq!(prompts.replaced().count(), Prompt::ALL.len());
    }

    #[test]
    fn empty_and_huge_texts_are_refused_and_change_nothing() {
        let mut prompts = Prompts::default();
        prompts.replace(Prompt::Coder, "one.md".into(), "Mine.").unwrap();
        assert_eq!(prompts.replace(Prompt::Coder, "two.md".into(), " \n\t"), Err(PromptRefusal::Empty));
        let huge = "x".repeat(MAX_BYTES + 1);
        assert_eq!(prompts.replace(Prompt::Coder, "two.md".into(), &huge), Err(PromptRefusal::TooLarge { bytes: MAX_BYTES + 1 }));
        assert_eq!((prompts.text(AgentKind::Coder), prompts.file(AgentKind::Coder)), ("Mine.\n", Some(Path::new("one.md"))));
    }

    #[test]
    fn lost_placeholders_are_named() {
        assert_eq!(Prompt::Conflict.missing_placeholders("Merge {branch}: {conflicts}"), ["{sha}"]);
        assert_eq!(Prompt::Protocol.missing_placeholders("Be brief."), [""; 0]);
        for prompt in Prompt::ALL {
            assert!(prompt.missing_placeholders(prompt.built_in()).is_empty(), "{prompt:?}");
        }
    }

    #[test]
    fn each_role_has_its_own_short_text() {
        for role in Role::ALL {
            let text = Prompt::from(*role).built_in();
            assert_eq!(Prompt::from(*role).file(), format!("roles/{role}.md"));
            assert!(!text.trim().is_empty() && text.len() < 4_000, "{role}: {} bytes", text.len());
        }
        for phase in AgentKind::ALL {
            assert_eq!(Prompt::from(*phase).file(), format!("{phase}.md"));
        }
    }

    #[test]
    fn the_protocol_names_every_trigger_word() {
        for word in crate::warroom::trigger::TriggerWord::ALL {
            assert!(Prompt::Protocol.built_in().contains(&format!("`{word}`")), "{word}");
        }
    }
}
