//! Tools that write, close and read knowledge: intel, traps and notes.
//!
//! It must not know what counts as confirmed, nor who has to read.

use db::{KnowledgeQuery, KnowledgeRead};
use domain::text::excerpt;
use domain::warroom::knowledge::{Knowledge, KnowledgeKind, KnowledgeState, NewClosing, NewKnowledge};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{EVERY_KIND, Managed, Need};

/// The most live topics that an answer lists, and the characters of the body of each.
const MAX_TOPICS: u32 = 50;
const MAX_SHOWN: usize = 100;

/// Managed agents have the files in their worktree; a longer list of tools would cost every session of them.
const EVERYONE: Audience =
    Audience { managed: Managed::of(EVERY_KIND).listed_for(Need::Never), human: true, external: External::Everyone, invite: false };
/// A managed oracle keeps notes, and has to read what is new.
const ORACLES: Audience = Audience { managed: Managed::of(EVERY_KIND).listed_for(Need::Never).listed_to_oracles(), ..EVERYONE };

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "write_intel",
        description: "Call this to write down a confirmed finding for all agents, or its next version. Hunches belong in write_note.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: EVERYONE,
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, write_intel),
    },
    ToolDefinition {
        name: "write_trap",
        description: "Call this when you meet a hazard that others would meet too, with the files that it is about.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: EVERYONE,
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, write_trap),
    },
    ToolDefinition {
        name: "resolve_trap",
        description: "Call this when a trap is gone. Say how it was removed, with evidence.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: EVERYONE,
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, resolve_trap),
    },
    ToolDefinition {
        name: "archive_intel",
        description: "Call this when intel no longer holds, with reason and evidence.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: EVERYONE,
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, archive_intel),
    },
    ToolDefinition {
        name: "write_note",
        description: "Call this to keep what is not confirmed, or only for you and your successor.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: ORACLES,
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, write_note),
    },
    ToolDefinition {
        name: "read_intel",
        description: "Call this to read intel and traps that you have not read, or those of one topic. Required before an oracle sends.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: ORACLES,
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, read_intel),
    },
];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteIntel {
    /// A word such as upstream-deps.
    topic: String,
    body: String,
    /// file:line, or "$ " with a command and its output below.
    evidence: String,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn write_intel(call: Call, given: WriteIntel) -> Result<Answer, Failure> {
    let new = NewKnowledge { kind: KnowledgeKind::Intel, topic: given.topic, body: given.body, evidence: given.evidence, paths: Vec::new() };
    write(call, given.project, new).await
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteTrap {
    /// A word such as port-in-use.
    topic: String,
    body: String,
    /// file:line, or "$ " with a command and its output below.
    evidence: String,
    /// Files, folders or patterns such as src/*.rs. Omit it for the whole repository.
    #[schemars(with = "Vec<String>")]
    #[serde(default, deserialize_with = "arguments::list")]
    paths: Vec<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn write_trap(call: Call, given: WriteTrap) -> Result<Answer, Failure> {
    let new = NewKnowledge { kind: KnowledgeKind::Trap, topic: given.topic, body: given.body, evidence: given.evidence, paths: given.paths };
    write(call, given.project, new).await
}

async fn write(call: Call, project: ProjectArgument, new: NewKnowledge) -> Result<Answer, Failure> {
    let project = call.project(project).await?;
    let item = call.db.write_knowledge(&call.caller, &project, new).await?;
    Ok(Answer::new(format!("Stored as {}, version {}.", item.file(), item.version), json!({"knowledge": item})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Close {
    topic: String,
    #[serde(alias = "how")]
    reason: String,
    /// file:line, or "$ " with a command and its output below.
    evidence: String,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn resolve_trap(call: Call, given: Close) -> Result<Answer, Failure> {
    close(call, given, KnowledgeKind::Trap).await
}

async fn archive_intel(call: Call, given: Close) -> Result<Answer, Failure> {
    close(call, given, KnowledgeKind::Intel).await
}

async fn close(call: Call, given: Close, kind: KnowledgeKind) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let new = NewClosing { reason: given.reason, evidence: given.evidence };
    let item = call.db.close_knowledge(&call.caller, &project, kind, &given.topic, new).await?;
    Ok(Answer::new(format!("Kept as {}.", item.file()), json!({"knowledge": item})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteNote {
    content: String,
    /// Instead of adding it to your notes.
    #[serde(default)]
    replace: bool,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn write_note(call: Call, given: WriteNote) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let item = call.db.write_note(&call.caller, &project, &given.content, given.replace).await?;
    Ok(Answer::new(format!("Stored in {}, {} bytes.", item.file(), item.body.len()), json!({"knowledge": item})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadIntel {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    topic: Option<String>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn read_intel(call: Call, given: ReadIntel) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let KnowledgeRead { items, unread } = call.db.read_knowledge(&call.caller, &project, given.topic.as_deref()).await?;
    let mut text = items.iter().map(|item| format!("{}:\n{}", item.file(), item.markdown())).collect::<Vec<_>>().join("\n");
    if unread > 0 {
        text += &format!("\n({unread} more are unread: call read_intel again)");
    } else if items.is_empty() {
        let mut topics = Vec::new();
        for kind in [KnowledgeKind::Intel, KnowledgeKind::Trap] {
            let query = KnowledgeQuery { kind: Some(kind), state: Some(KnowledgeState::Live), before: None, limit: Some(MAX_TOPICS) };
            topics.extend(call.db.knowledge(&project, &query).await?.iter().map(worded));
        }
        text = if topics.is_empty() {
            "There is no intel and no trap.".to_owned()
        } else {
            format!("Nothing is unread. Topics:\n{}", topics.join("\n"))
        };
    }
    let items: Vec<Value> = items.iter().map(|item| json!(item)).collect();
    Ok(Answer::new(text, json!({"knowledge": items, "unread": unread})))
}

fn worded(item: &Knowledge) -> String {
    format!("{} [{}]: {}", item.topic, item.kind, excerpt(&item.body, MAX_SHOWN))
}
