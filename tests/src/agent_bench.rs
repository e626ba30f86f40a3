//! A workspace for one agent: a repository, a scenario and an MCP server that records calls. It must not know whether the agent is real or
//! scripted.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::agent::Agent;
use crate::{claude, git};

/// Whether an agent starts a session or resumes one.
#[derive(Debug, Clone, Copy)]
pub enum Session<'a> {
    New(&'a str),
    Resume(&'a str),
}

/// The folder of one agent with its worktree, scenario and recorded calls.
#[derive(Debug)]
pub struct AgentBench {
    folder: TempDir,
    recorder: PathBuf,
}

impl AgentBench {
    /// Prepares a repository with these files. `recorder` is the MCP server's program, `recording_mcp` of this crate.
    ///
    /// # Errors
    /// A file could not be written.
    pub fn new(scenario: &str, files: &[(&str, &str)], recorder: &Path) -> io::Result<Self> {
        let bench = Self { folder: tempfile::tempdir()?, recorder: recorder.to_owned() };
        git::repository(&bench.worktree(), files)?;
        std::fs::write(bench.path("scenario.json"), scenario)?;
        std::fs::write(bench.path("role.md"), "You are a part of a test.")?;
        let server = json!({"command": bench.recorder, "args": [bench.path("calls")], "alwaysLoad": true});
        std::fs::write(bench.path("mcp.json"), json!({"mcpServers": {"vibe-relay": server}}).to_string())?;
        Ok(bench)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder in which the agent works.
    pub fn worktree(&self) -> PathBuf {
        self.path("worktree")
    }

    /// A prompt in the form that the runner writes. `rest` follows the issue.
    pub fn prompt(&self, phase: &str, title: &str, rest: &str) -> String {
        let worktree = self.worktree();
        let lines = format!("Title: {title}\nDescription: none\nPhase: {phase}\nBranch: main\nWorktree: {}", worktree.display());
        format!("<issue>\n{lines}\nTask: TASK-007\nBase: main\nProject: PROJ-001\nParent: TASK-001\n</issue>\n{rest}")
    }

    /// Starts the real program against a scripted model.
    ///
    /// # Errors
    /// `claude` is not installed or could not be started.
    pub fn real(&self, session: Session<'_>, base_url: &str) -> io::Result<Agent> {
        self.real_with(session, base_url, &json!({}))
    }

    /// The same with settings, such as hooks.
    ///
    /// # Errors
    /// As [`Self::real`], or the settings could not be written.
    pub fn real_with(&self, session: Session<'_>, base_url: &str, settings: &Value) -> io::Result<Agent> {
        std::fs::write(self.path("settings.json"), settings.to_string())?;
        let program = claude::find().map_err(io::Error::other)?;
        let mut variables = claude::environment(&self.path("config"), base_url);
        variables.push(("CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD".to_owned(), "1".to_owned()));
        let settings = ["--settings".to_owned(), self.path("settings.json").display().to_string()];
        self.start(&program, self.arguments(session).into_iter().chain(settings).collect(), variables)
    }

    /// Starts the scripted agent, `scripted_agent` of this crate.
    ///
    /// # Errors
    /// The program could not be started.
    pub fn scripted(&self, session: Session<'_>, program: &Path) -> io::Result<Agent> {
        let mut arguments = vec!["--scenario".to_owned(), self.path("scenario.json").display().to_string()];
        arguments.extend(self.arguments(session));
        let variables = claude::environment(&self.path("config"), "http://127.0.0.1:9");
        self.start(program, arguments, variables)
    }

    fn start(&self, program: &Path, arguments: Vec<String>, mut variables: Vec<(String, String)>) -> io::Result<Agent> {
        variables.extend(git::IDENTITY.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Agent::start(program, &arguments, &variables, &self.worktree())
    }

    /// The flags that a runner passes to `claude`.
    fn arguments(&self, session: Session<'_>) -> Vec<String> {
        let path = |name: &str| self.path(name).display().to_string();
        let (flag, id) = match session {
            Session::New(id) => ("--session-id", id),
            Session::Resume(id) => ("--resume", id),
        };
        let fixed = "-p --output-format stream-json --input-format stream-json --verbose --replay-user-messages --strict-mcp-config \
                     --setting-sources user --dangerously-skip-permissions --model claude-sonnet-4-5 --tools Bash,Read,Edit,Write";
        let mut arguments: Vec<String> = fixed.split_whitespace().map(str::to_owned).collect();
        for (flag, value) in [
            (flag, id.to_owned()),
            ("--append-system-prompt-file", path("role.md")),
            ("--mcp-config", path("mcp.json")),
            ("--add-dir", path("worktree")),
        ] {
            arguments.extend([flag.to_owned(), value]);
        }
        arguments
    }

    /// The MCP calls so far, oldest first, with the path of this folder replaced.
    ///
    /// # Errors
    /// A recorded line is not valid JSON.
    pub fn calls(&self) -> io::Result<Vec<Value>> {
        let text = match std::fs::read_to_string(self.path("calls")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read?.replace(&self.folder.path().display().to_string(), "BENCH"),
        };
        text.lines().map(|line| serde_json::from_str(line).map_err(io::Error::other)).collect()
    }
}
