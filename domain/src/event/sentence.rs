//! The history in words: one plain sentence for each kind of event.
//!
//! Must not know who reads it, except for the name that becomes "you".

use crate::actor::Actor;
use crate::board::comment::CommentEvent;
use crate::board::goal::{GoalEvent, GoalStatus};
use crate::board::plan::PlanEvent;
use crate::board::project::ProjectEvent;
use crate::board::question::QuestionEvent;
use crate::board::status::{HeldBy, Status};
use crate::board::task::event::TaskEvent;
use crate::context::import::{ImportEvent, ImportKind};
use crate::context::memory::MemoryEvent;
use crate::context::session::SessionEvent;
use crate::context::session::visibility::Visibility;
use crate::event::{Envelope, Event};
use crate::runs::agent_kind::AgentKind;
use crate::runs::checkout::CheckoutEvent;
use crate::runs::evidence::short;
use crate::runs::failure::EndClass;
use crate::runs::interrupt::InterruptEvent;
use crate::runs::limit::{LimitEvent, LimitScope};
use crate::runs::parking::ParkingEvent;
use crate::runs::pause::PauseEvent;
use crate::runs::permission::{PermissionAnswer, PermissionEvent};
use crate::runs::publication::pull_request::PullRequestState;
use crate::runs::rescue::RescueEvent;
use crate::runs::run::RunChange;
use crate::runs::sandbox::SandboxEvent;
use crate::team::agent::{AgentEvent, EVERYONE};
use crate::team::browser_session::BrowserSessionEvent;
use crate::team::contract::ContractEvent;
use crate::team::handshake::HandshakeEvent;
use crate::team::hat::HatEvent;
use crate::team::message::MessageEvent;
use crate::team::minion::{MinionEvent, MinionStatus};
use crate::team::person::PersonEvent;
use crate::team::token::TokenEvent;
use crate::text::excerpt;
use crate::warroom::battle_plan::BattlePlanEvent;
use crate::warroom::claim::ClaimEvent;
use crate::warroom::debrief::DebriefEvent;
use crate::warroom::handover::HandoverEvent;
use crate::warroom::knowledge::KnowledgeEvent;
use crate::warroom::old_task::OldTask;
use crate::warroom::oracle::OracleEvent;
use crate::warroom::raid_log::RaidLogEvent;
use crate::warroom::result::ResultEvent;
use crate::warroom::trigger::{TriggerEnd, TriggerEvent};
use crate::warroom::zone::ZoneEvent;

/// Characters of a reason or a status that a sentence repeats.
const QUOTED_CHARACTERS: usize = 120;

/// The kinds that only help to understand a run or a wait. A short history leaves them out.
pub const DETAILS: &[&str] = &[
    "wait_reason_changed",
    "run_session",
    "run_usage",
    "run_condition",
    "run_checkout_left",
    "run_nudged",
    "run_checkpoint",
    "message_queued",
    "message_delivered",
    "permission_closed",
    "check_ended",
    "preview_started",
    "preview_answered",
    "checkout_made",
    "checkout_removed",
    "inbox_read",
    "message_read",
    "agent_status",
    "agent_context",
    "project_branch_moved",
    "run_interrupt_over",
    "result_stored",
    "task_settled",
    "token_made",
    "browser_session_opened",
    "browser_session_revoked",
    "session_created",
    "session_message_added",
    "memory_set",
    "memory_deleted",
    "claim_granted",
    "claim_released",
    "raid_logged",
    "task_result_submitted",
    "debrief_filed",
    "note_written",
];

/// Words an event for `reader`, who is called "you".
pub fn sentence(envelope: &Envelope, reader: &Actor) -> String {
    let who = |name: &str| name_of(&Actor::from(name.to_owned()), reader);
    let is_own = |name: &str| envelope.actor == Actor::from(name.to_owned());
    let task = envelope.task_id.as_ref().map_or("a task", |id| id.as_str());
    let did = match &envelope.event {
        Event::Project(event) => project(event, &who),
        Event::Plan(PlanEvent::Approved {}) => "started the plan".to_owned(),
        Event::Plan(PlanEvent::Revised {}) => "sent the plan back".to_owned(),
        Event::Task(event) => of_task(event, task, &who),
        Event::Comment(CommentEvent::Added { .. }) => format!("commented on {task}"),
        Event::Comment(CommentEvent::Edited { .. }) => format!("edited a comment on {task}"),
        Event::Comment(CommentEvent::Removed { .. }) => format!("deleted a comment on {task}"),
        Event::Question(QuestionEvent::Asked { .. }) => format!("asked a question about {task}"),
        Event::Question(QuestionEvent::Answered { .. }) => format!("answered the question about {task}"),
        Event::Goal(GoalEvent::Created { goal }) => format!("created the goal {goal}"),
        Event::Goal(GoalEvent::Moved { goal, to, .. }) => match to {
            GoalStatus::Open => format!("reopened the goal {goal}"),
            GoalStatus::Active => format!("started work on the goal {goal}"),
            GoalStatus::PendingVerify => format!("finished the tasks of the goal {goal}"),
            GoalStatus::Verified => format!("signed off the goal {goal}"),
        },
        Event::Run(event) => run(event, task),
        Event::Interrupt(InterruptEvent::Requested {}) => format!("interrupted the agent on {task}"),
        Event::Interrupt(InterruptEvent::Over {}) => format!("let the agent on {task} continue"),
        Event::Permission(event) => permission(event, task),
        Event::Check(event) => event.sentence(envelope.task_id.as_ref().map_or("merged work", |id| id.as_str())),
        Event::Preview(event) => event.sentence(envelope.task_id.as_ref().map_or("the project", |id| id.as_str())),
        Event::Checkout(CheckoutEvent::Created { branch }) => format!("created the branch {branch}"),
        Event::Checkout(CheckoutEvent::Removed { rescue: None }) => format!("removed the checkout of {task}"),
        Event::Checkout(CheckoutEvent::Removed { rescue: Some(_) }) => format!("removed the checkout of {task} and kept its unmerged work"),
        Event::Rescue(RescueEvent::Restored { branch, .. }) => format!("restored kept work as the branch {branch}"),
        Event::Rescue(RescueEvent::Dropped { .. }) => "deleted kept work".to_owned(),
        Event::Rescue(RescueEvent::Expired { .. }) => "removed work that was kept for 30 days".to_owned(),
        Event::Parking(ParkingEvent::Parked { parking }) => {
            format!("suspended agent starts until {}: {}", parking.until.clock(), parking.reason.sentence())
        }
        Event::Parking(ParkingEvent::Resumed { .. }) => "resumed agent starts".to_owned(),
        Event::Pause(PauseEvent::Paused {}) => "paused all projects".to_owned(),
        Event::Pause(PauseEvent::Resumed {}) => "resumed all projects".to_owned(),
        Event::Limit(LimitEvent::Near { limit }) => format!("noticed that {}", limit.sentence()),
        Event::Limit(LimitEvent::Raised { scope }) => format!("raised the limit of {}", limited(*scope)),
        Event::Sandbox(SandboxEvent::Chosen { tier }) => format!("chose the sandbox {tier}"),
        Event::Token(TokenEvent::Created {}) => "created an access token".to_owned(),
        Event::Token(TokenEvent::Changed { token }) => format!("changed the access token {token}"),
        Event::Token(TokenEvent::Refreshed { token }) => format!("replaced its access token {token}"),
        Event::Token(TokenEvent::Revoked { token }) => format!("revoked the access token {token}"),
        Event::Person(PersonEvent::Added { person, role }) => format!("added {person} as {role}"),
        Event::Person(PersonEvent::RoleChanged { person, role }) => format!("made {person} a {role}"),
        Event::Person(PersonEvent::Removed { person }) => format!("removed {person}"),
        Event::BrowserSession(BrowserSessionEvent::Opened { .. }) => "signed in with a browser".to_owned(),
        Event::BrowserSession(BrowserSessionEvent::Revoked { .. }) => "ended a browser session".to_owned(),
        Event::Agent(AgentEvent::Registered { agent, .. }) if envelope.actor == Actor::Runner => format!("recorded that {} joined", who(agent)),
        Event::Agent(AgentEvent::Registered { .. }) => "joined".to_owned(),
        Event::Agent(AgentEvent::StatusSet { status: Some(status), .. }) => format!("set the status: {}", excerpt(status, QUOTED_CHARACTERS)),
        Event::Agent(AgentEvent::StatusSet { status: None, .. }) => "cleared its status".to_owned(),
        Event::Agent(AgentEvent::ContextReported { percent_left: Some(percent), .. }) => format!("reported that {percent} % of its context is left"),
        Event::Agent(AgentEvent::ContextReported { percent_left: None, .. }) => "reported what it holds in its context".to_owned(),
        Event::Agent(AgentEvent::Renamed { agent, new_name }) => format!("renamed {agent} to {new_name}"),
        Event::Agent(AgentEvent::Left { agent }) => format!("recorded that {} left", who(agent)),
        Event::Message(MessageEvent::Sent { to, .. }) if to == EVERYONE => "wrote to everyone".to_owned(),
        Event::Message(MessageEvent::Sent { to, is_cc: false, .. }) => format!("wrote to {}", who(to)),
        Event::Message(MessageEvent::Sent { to, is_cc: true, .. }) => format!("sent a copy to {}", who(to)),
        Event::Message(MessageEvent::InboxDelivered { agent, messages }) => format!("delivered {} to {}", count(*messages, "message"), who(agent)),
        Event::Message(MessageEvent::Read { .. }) => "read a message".to_owned(),
        Event::Hat(HatEvent::Assigned { agent, hat }) => format!("gave {} the role {hat} on {task}", who(agent)),
        Event::Handshake(HandshakeEvent::Initiated { .. }) => "asked agents to acknowledge a plan".to_owned(),
        Event::Handshake(HandshakeEvent::Acknowledged { .. }) => "acknowledged a plan".to_owned(),
        Event::Handshake(HandshakeEvent::Completed { .. }) => "completed the handshake about a plan".to_owned(),
        Event::Contract(ContractEvent::Declared { name, version, .. }) => format!("declared version {version} of the contract {name}"),
        Event::Minion(MinionEvent::SpawnPolicySet { .. }) => "changed how many helpers agents may start".to_owned(),
        Event::Minion(MinionEvent::Logged { status, .. }) => match status {
            MinionStatus::Spawned => "started a helper".to_owned(),
            MinionStatus::Completed => "received the result of a helper".to_owned(),
            MinionStatus::Failed => "lost a helper".to_owned(),
        },
        Event::Session(SessionEvent::Created { .. }) => "opened a session for findings".to_owned(),
        Event::Session(SessionEvent::Closed { .. }) => "closed a session for findings".to_owned(),
        Event::Session(SessionEvent::MessageAdded { visibility: Visibility::Public, .. }) => "shared a finding".to_owned(),
        Event::Session(SessionEvent::MessageAdded { .. }) => "wrote a private note".to_owned(),
        Event::Session(SessionEvent::PrivateRead { messages, .. }) => format!("read {} of others", count(*messages, "private note")),
        Event::Memory(MemoryEvent::Set { key, .. }) => format!("remembered {}", excerpt(key, QUOTED_CHARACTERS)),
        Event::Memory(MemoryEvent::Deleted { key, .. }) => format!("forgot {}", excerpt(key, QUOTED_CHARACTERS)),
        Event::Import(ImportEvent::Imported { source, record, records }) => {
            format!("imported {} from {}", count(*records, imported(*record)), source.program())
        }
        Event::Claim(ClaimEvent::Granted { agent, path }) if is_own(agent) => format!("claimed {}", excerpt(path, QUOTED_CHARACTERS)),
        Event::Claim(ClaimEvent::Granted { agent, path }) => format!("passed {} on to {}", excerpt(path, QUOTED_CHARACTERS), who(agent)),
        Event::Claim(ClaimEvent::Queued { path, holder, .. }) => {
            format!("started to wait for {}, which {} holds", excerpt(path, QUOTED_CHARACTERS), who(holder))
        }
        Event::Claim(ClaimEvent::Released { agent, path, .. }) if is_own(agent) => format!("released {}", excerpt(path, QUOTED_CHARACTERS)),
        Event::Claim(ClaimEvent::Released { agent, path, .. }) => {
            format!("released {}, which {} held", excerpt(path, QUOTED_CHARACTERS), who(agent))
        }
        Event::BattlePlan(BattlePlanEvent::Set { zone: Some(zone), .. }) => format!("set the battle plan of the zone {zone}"),
        Event::BattlePlan(BattlePlanEvent::Set { zone: None, .. }) => "set the battle plan".to_owned(),
        Event::BattlePlan(BattlePlanEvent::Ended { status, .. }) => format!("ended a battle plan as {status}"),
        Event::Handover(HandoverEvent::Recorded { automatic: false, .. }) => "left a handover for a successor".to_owned(),
        Event::Handover(HandoverEvent::Recorded { agent, automatic: true, .. }) => format!("recorded a handover for {}, which left none", who(agent)),
        Event::Handover(HandoverEvent::Continued { agent, .. }) if is_own(agent) => "read the handover of the session before".to_owned(),
        Event::Handover(HandoverEvent::Continued { agent, .. }) => format!("read the handover of {}", who(agent)),
        Event::Result(ResultEvent::Submitted { .. }) => format!("submitted the result of {task}"),
        Event::Debrief(DebriefEvent::Filed { .. }) => "filed a debrief".to_owned(),
        Event::Debrief(DebriefEvent::SessionEnded {}) => "ended the session of the war room".to_owned(),
        Event::Trigger(TriggerEvent::Given { word, target: Some(target), .. }) => format!("ordered {word} for {}", who(target)),
        Event::Trigger(TriggerEvent::Given { word, target: None, .. }) => format!("ordered {word} for all agents"),
        Event::Trigger(TriggerEvent::Ended { word, end: TriggerEnd::Withdrawn, .. }) => format!("withdrew the order {word}"),
        Event::Trigger(TriggerEvent::Ended { word, target, end: TriggerEnd::Unanswered, .. }) => {
            format!("removed {}, which did not answer the order {word}", target.as_deref().map(who).unwrap_or_default())
        }
        Event::Trigger(TriggerEvent::Ended { word, .. }) => format!("ended the order {word}"),
        Event::Knowledge(KnowledgeEvent::IntelWritten { topic, .. }) => format!("wrote intel about {topic}"),
        Event::Knowledge(KnowledgeEvent::TrapWritten { topic, .. }) => format!("wrote down the trap {topic}"),
        Event::Knowledge(KnowledgeEvent::NoteWritten { .. }) => "wrote a note".to_owned(),
        Event::Knowledge(KnowledgeEvent::IntelArchived { topic, .. }) => format!("archived the intel about {topic}"),
        Event::Knowledge(KnowledgeEvent::TrapResolved { topic, .. }) => format!("resolved the trap {topic}"),
        Event::Zone(ZoneEvent::Set { zone }) => format!("set the zone {zone}"),
        Event::Zone(ZoneEvent::Removed { zone }) => format!("removed the zone {zone}"),
        Event::Oracle(OracleEvent::Asked { zones, oracle, .. }) => format!("asked {oracle} about {}", zones.join(", ")),
        Event::Oracle(OracleEvent::Answered { asker, .. }) => format!("answered a question of {asker}"),
        Event::RaidLog(RaidLogEvent::Logged { priority, .. }) => format!("wrote an entry of {priority} priority into the raid log"),
    };
    let name = name_of(&envelope.actor, reader);
    // The name of a participant keeps its letters.
    match name.strip_prefix("the ") {
        Some(kind) => format!("The {kind} {did}"),
        None if envelope.actor == *reader => format!("You {did}"),
        None => format!("{name} {did}"),
    }
}

fn project(event: &ProjectEvent, who: &dyn Fn(&str) -> String) -> String {
    match event {
        ProjectEvent::Created {} => "created the project".to_owned(),
        ProjectEvent::Edited {} => "edited the project".to_owned(),
        ProjectEvent::Completed {} => "completed the project".to_owned(),
        ProjectEvent::Reopened {} => "reopened the project".to_owned(),
        ProjectEvent::Paused {} => "paused the project".to_owned(),
        ProjectEvent::Resumed {} => "resumed the project".to_owned(),
        ProjectEvent::Archived {} => "archived the project".to_owned(),
        ProjectEvent::Restored {} => "restored the project".to_owned(),
        ProjectEvent::Deleted {} => "deleted the project".to_owned(),
        ProjectEvent::Removed { project, by } => format!("removed {project}, which {} had deleted", who(by)),
        ProjectEvent::Erased {} => "did something in a project that was removed".to_owned(),
        ProjectEvent::BranchMoved { sha } => format!("moved the project branch to {}", short(sha)),
        ProjectEvent::BaseMoved { sha } => format!("noticed that the base branch is at {}", short(sha)),
        ProjectEvent::BaseMerged { base_branch, sha } => format!("merged {base_branch} at {} into the project branch", short(sha)),
        ProjectEvent::BaseNotFetched { base_branch, detail } => format!("could not fetch {base_branch}: {detail}"),
        ProjectEvent::BaseFetched { base_branch } => format!("fetched {base_branch} again"),
        ProjectEvent::BaseReplaced { branch, .. } => format!("made {branch} the base branch"),
        ProjectEvent::Relocated { repo_path } => format!("recorded that the repository is in {repo_path}"),
        ProjectEvent::Published { remote, branch, sha, pull_request } => {
            let opened = pull_request.as_ref().map(|url| format!(", with the pull request {url}")).unwrap_or_default();
            format!("pushed {branch} at {} to {remote}{opened}", short(sha))
        }
        ProjectEvent::PullRequestSentBack { pull_request, task } => format!("sent the findings about {pull_request} back as {task}"),
        ProjectEvent::PullRequestNeedsYou { pull_request, detail } => format!("asked you to look at {pull_request}: {detail}"),
        ProjectEvent::PullRequestMerged { pull_request, base_branch, tasks, .. } => {
            format!("noticed that {pull_request} was merged into {base_branch}, with {}", count(*tasks, "task"))
        }
        ProjectEvent::PullRequestClosed { pull_request } => format!("noticed that {pull_request} was closed without merging it"),
        ProjectEvent::PullRequestSettled { pull_request } => format!("looked at {pull_request}"),
        ProjectEvent::LandingUndone { base_branch, before, tasks, .. } => {
            format!("undid the landing of {}, so {base_branch} is at {} again", count(*tasks, "task"), short(before))
        }
        ProjectEvent::Landed { sha, base_branch, tasks } => format!("landed {} on {base_branch} at {}", count(*tasks, "task"), short(sha)),
    }
}

fn of_task(event: &TaskEvent, task: &str, who: &dyn Fn(&str) -> String) -> String {
    match event {
        TaskEvent::Created {} => format!("created {task}"),
        TaskEvent::Edited { fields } => format!("changed the {} of {task}", fields.join(", ").replace('_', " ")),
        TaskEvent::Moved { from: Status::InReview | Status::Done, to: Status::InProgress, reason } => format!("sent {task} back{}", quoted(reason)),
        TaskEvent::Moved { to, reason, .. } => match to {
            Status::Backlog => format!("moved {task} to To do"),
            Status::InProgress => format!("started {task}"),
            Status::InReview => format!("submitted {task} for review"),
            Status::Done => format!("finished {task}"),
            Status::Cancelled => format!("cancelled {task}{}", quoted(reason)),
        },
        TaskEvent::Approved { sha } => format!("approved {task} at {}", short(sha)),
        TaskEvent::ApprovalVoided { sha } => format!("withdrew the approval of {task} at {}, because it has newer commits", short(sha)),
        TaskEvent::Merged { sha } => format!("merged {task} at {}", short(sha)),
        TaskEvent::Held { by: HeldBy::Takeover } => format!("took {task} over"),
        TaskEvent::Held { by: HeldBy::Stop } => format!("stopped {task}"),
        TaskEvent::Held { by: HeldBy::Human | HeldBy::Plan } => format!("held {task}"),
        TaskEvent::Released {} => format!("let agents work on {task}"),
        TaskEvent::AttentionRequested { attention } => {
            format!("asked for a person on {task}: {}", excerpt(&attention.detail, QUOTED_CHARACTERS))
        }
        TaskEvent::AttentionCleared {} => format!("settled what {task} needed"),
        TaskEvent::WaitReasonChanged { wait_reason: Some(reason) } => format!("noted why {task} waits: {}", reason.sentence()),
        TaskEvent::WaitReasonChanged { wait_reason: None } => format!("noted that {task} no longer waits"),
        TaskEvent::Assigned { to: Some(name) } => format!("assigned {task} to {}", who(name)),
        TaskEvent::Assigned { to: None } => format!("removed the assignment of {task}"),
        TaskEvent::SubmissionStored {} => format!("stored the result of {task}"),
        TaskEvent::Verified { .. } => format!("verified {task}"),
        TaskEvent::Aged { old: Some(OldTask::Unreviewed) } => format!("left {task} to the next session"),
        TaskEvent::Aged { old: Some(OldTask::Stale) } => format!("put {task} aside as stale"),
        TaskEvent::Aged { old: None } => format!("decided that {task} is still open"),
        TaskEvent::Published { .. } => format!("pushed {task} for its pull request"),
        TaskEvent::PullRequestEnded { state: PullRequestState::Merged, .. } => format!("saw that the pull request of {task} was merged"),
        TaskEvent::PullRequestEnded { .. } => format!("saw that the pull request of {task} was closed"),
        TaskEvent::Linked { goal: Some(goal) } => format!("linked {task} to the goal {goal}"),
        TaskEvent::Linked { goal: None } => format!("removed {task} from its goal"),
    }
}

fn run(event: &RunChange, task: &str) -> String {
    match event {
        RunChange::Started { phase, attempt: 1 } => format!("started {} on {task}", phase.with_article()),
        RunChange::Started { phase, attempt } => format!("started {} on {task}, attempt {attempt}", phase.with_article()),
        RunChange::SessionSet { .. } => format!("recorded the session of the agent on {task}"),
        RunChange::UsageReported { .. } => format!("recorded what the agent on {task} used"),
        RunChange::StopRequested {} => format!("stopped the agent on {task}"),
        RunChange::ConditionChanged { condition: Some(condition) } => format!("noticed that the agent on {task} {}", condition.sentence()),
        RunChange::ConditionChanged { condition: None } => format!("noticed that the agent on {task} is working again"),
        RunChange::CheckoutLeft { detail: Some(_) } => format!("could not remove a checkout of {task}"),
        RunChange::CheckoutLeft { detail: None } => format!("removed a checkout of {task} that was left"),
        RunChange::HandOverRequested { reason } => format!("asked the agent on {task} to hand over, because {}", reason.sentence()),
        RunChange::Reminded {} => format!("reminded the agent on {task} of its card"),
        RunChange::Ended { end, failure } => match (end, failure) {
            (EndClass::Finished, _) => format!("recorded that the agent on {task} finished"),
            (EndClass::AwaitingAnswer, _) => format!("recorded that the agent on {task} waits for an answer"),
            (EndClass::Stopped, _) => format!("recorded that the agent on {task} stopped"),
            (EndClass::Limited, _) => format!("recorded that the agent on {task} handed over"),
            (EndClass::Failed | EndClass::Parked | EndClass::NotSetUp, Some(failure)) => {
                format!("ended an attempt on {task}: {}", failure.sentence())
            }
            (EndClass::Failed | EndClass::Parked | EndClass::NotSetUp, None) => format!("ended an attempt on {task}"),
        },
        RunChange::AccessRefused { access } => {
            format!("refused {} by the agent on {task}", count(u32::try_from(access.len()).unwrap_or(u32::MAX), "access"))
        }
        RunChange::CheckpointTaken { files, .. } => format!("kept {} of {task}", count(*files, "changed file")),
        RunChange::MessageQueued {} => format!("wrote to the agent on {task}"),
        RunChange::MessageDelivered {} => format!("delivered a message to the agent on {task}"),
    }
}

fn permission(event: &PermissionEvent, task: &str) -> String {
    match event {
        PermissionEvent::Asked { tool, .. } => format!("asked to use {tool} for {task}"),
        PermissionEvent::Answered { answer, .. } => match answer {
            PermissionAnswer::Allow => format!("allowed a use of a tool for {task}"),
            PermissionAnswer::Deny => format!("denied a use of a tool for {task}"),
            PermissionAnswer::Always => format!("allowed a use of a tool for the whole of {task}"),
        },
        PermissionEvent::Closed { .. } => format!("passed the answer to the agent on {task}"),
    }
}

/// The singular noun for imported records.
const fn imported(record: ImportKind) -> &'static str {
    match record {
        ImportKind::Agent => "agent",
        ImportKind::Session => "session",
        ImportKind::SessionMessage => "finding",
        ImportKind::Memory => "stored value",
        ImportKind::Goal => "goal",
        ImportKind::Task => "task",
        ImportKind::Message => "message",
        ImportKind::Contract => "contract",
    }
}

/// Names a participant within a sentence. A managed agent is called by its kind, because its task is named anyway.
fn name_of(actor: &Actor, reader: &Actor) -> String {
    match actor {
        actor if actor == reader => "you".to_owned(),
        Actor::Owner => "the owner".to_owned(),
        Actor::Person(name) => name.clone(),
        Actor::Runner => "the runner".to_owned(),
        Actor::Agent(name) => match name.split_once("-TASK-").and_then(|(kind, _)| kind.parse::<AgentKind>().ok()) {
            Some(kind) => format!("the {kind}"),
            None => name.clone(),
        },
    }
}

fn limited(scope: LimitScope) -> &'static str {
    match scope {
        LimitScope::Run => "an attempt",
        LimitScope::Task => "a task",
        LimitScope::Project => "the project",
        LimitScope::Day => "the day",
    }
}

fn quoted(reason: &Option<String>) -> String {
    reason.as_deref().map_or_else(String::new, |reason| format!(": {}", excerpt(reason, QUOTED_CHARACTERS)))
}

fn count(number: u32, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ if noun.ends_with('s') => format!("{number} {noun}es"),
        _ => format!("{number} {noun}s"),
    }
}
