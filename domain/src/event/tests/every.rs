//! One event of each kind, for the tests of this folder.

use super::super::*;
use crate::board::attention::Attention;
use crate::board::attention::AttentionKind;
use crate::board::comment::AuthorRole;
use crate::board::goal::GoalStatus;
use crate::board::status::{HeldBy, Status};
use crate::board::wait_reason::WaitReason;
use crate::context::import::{ImportKind, ImportSource};
use crate::context::memory::MemoryScope;
use crate::context::session::ContextSessionId;
use crate::context::session::visibility::Visibility;
use crate::id::{CommentId, GoalId, QuestionId};
use crate::runs::agent_kind::AgentKind;
use crate::runs::check::{CheckEvent, CheckOutcome, CheckStage, CheckState};
use crate::runs::condition::RunCondition;
use crate::runs::failure::{EndClass, FailureClass};
use crate::runs::hand_over::HandOverReason;
use crate::runs::limit::{LimitMeasure, LimitScope, LimitUse};
use crate::runs::parking::{ParkReason, Parking};
use crate::runs::pause::PauseEvent;
use crate::runs::permission::{PermissionAnswer, PermissionEvent};
use crate::runs::preview::PreviewEvent;
use crate::runs::publication::pull_request::PullRequestState;
use crate::runs::sandbox::{Access, AccessKind, SandboxEvent, SandboxTier};
use crate::team::contract::ContractType;
use crate::team::minion::MinionStatus;
use crate::team::person::PersonRole;
use crate::team::role::Role;
use crate::warroom::battle_plan::{BattlePlanScope, BattlePlanStatus};
use crate::warroom::claim::ReleaseReason;
use crate::warroom::handover::HandoverEvent;
use crate::warroom::knowledge::KnowledgeEvent;
use crate::warroom::old_task::OldTask;
use crate::warroom::raid_log::Priority;
use crate::warroom::trigger::{TriggerEnd, TriggerWord};

/// One event of each kind, in the order of the list.
pub(super) fn every() -> Vec<Event> {
    let (sha, mara) = (|| "a1".to_owned(), || "platform/mara".to_owned());
    let address = || "https://github.com/ann/site/pull/7".to_owned();
    vec![
        ProjectEvent::Created {}.into(),
        ProjectEvent::Edited {}.into(),
        ProjectEvent::Completed {}.into(),
        ProjectEvent::Reopened {}.into(),
        ProjectEvent::Paused {}.into(),
        ProjectEvent::Resumed {}.into(),
        ProjectEvent::Archived {}.into(),
        ProjectEvent::Restored {}.into(),
        ProjectEvent::Deleted {}.into(),
        ProjectEvent::Removed { project: ProjectId::new(2), by: mara() }.into(),
        ProjectEvent::Erased {}.into(),
        ProjectEvent::BranchMoved { sha: sha() }.into(),
        ProjectEvent::BaseMoved { sha: sha() }.into(),
        ProjectEvent::BaseMerged { base_branch: "main".to_owned(), sha: sha() }.into(),
        ProjectEvent::BaseNotFetched { base_branch: "main".to_owned(), detail: "origin: no route to host".to_owned() }.into(),
        ProjectEvent::BaseFetched { base_branch: "main".to_owned() }.into(),
        ProjectEvent::BaseReplaced { branch: "trunk".to_owned(), sha: sha() }.into(),
        ProjectEvent::Relocated { repo_path: "/home/ann/moved".to_owned() }.into(),
        ProjectEvent::Landed { sha: sha(), base_branch: "main".to_owned(), tasks: 4 }.into(),
        ProjectEvent::LandingUndone { base_branch: "main".to_owned(), sha: sha(), before: "a0".to_owned(), tasks: 4 }.into(),
        ProjectEvent::PullRequestSentBack { pull_request: address(), task: TaskId::new(4) }.into(),
        ProjectEvent::PullRequestNeedsYou { pull_request: address(), detail: "test failed".to_owned() }.into(),
        ProjectEvent::PullRequestMerged { pull_request: address(), base_branch: "main".to_owned(), sha: sha(), tasks: 4 }.into(),
        ProjectEvent::PullRequestClosed { pull_request: address() }.into(),
        ProjectEvent::PullRequestSettled { pull_request: address() }.into(),
        ProjectEvent::Published { remote: "origin".to_owned(), branch: "vibe-relay/PROJ-001".to_owned(), sha: sha(), pull_request: None }.into(),
        PlanEvent::Approved {}.into(),
        PlanEvent::Revised {}.into(),
        TaskEvent::Created {}.into(),
        TaskEvent::Edited { fields: vec!["title".to_owned()] }.into(),
        TaskEvent::Moved { from: Status::Backlog, to: Status::InProgress, reason: None }.into(),
        TaskEvent::Approved { sha: sha() }.into(),
        TaskEvent::ApprovalVoided { sha: sha() }.into(),
        TaskEvent::Merged { sha: sha() }.into(),
        TaskEvent::Held { by: HeldBy::Stop }.into(),
        TaskEvent::Released {}.into(),
        TaskEvent::AttentionRequested { attention: Attention::new(AttentionKind::Conflict, "a.rs") }.into(),
        TaskEvent::AttentionCleared {}.into(),
        TaskEvent::WaitReasonChanged { wait_reason: Some(WaitReason::BlockedBy { tasks: vec![TaskId::new(2)] }) }.into(),
        TaskEvent::Assigned { to: Some(mara()) }.into(),
        TaskEvent::SubmissionStored {}.into(),
        TaskEvent::Verified { by: mara() }.into(),
        TaskEvent::Aged { old: Some(OldTask::Unreviewed) }.into(),
        TaskEvent::Published { pull_request: address(), sha: sha() }.into(),
        TaskEvent::PullRequestEnded { pull_request: address(), state: PullRequestState::Closed }.into(),
        TaskEvent::Linked { goal: Some(GoalId::new(6)) }.into(),
        CommentEvent::Added { comment: CommentId::new(4), author_role: AuthorRole::Coder }.into(),
        CommentEvent::Edited { comment: CommentId::new(4) }.into(),
        CommentEvent::Removed { comment: CommentId::new(4) }.into(),
        QuestionEvent::Asked { question: QuestionId::new(5) }.into(),
        QuestionEvent::Answered { question: QuestionId::new(5) }.into(),
        GoalEvent::Created { goal: GoalId::new(6) }.into(),
        GoalEvent::Moved { goal: GoalId::new(6), from: GoalStatus::Open, to: GoalStatus::Active }.into(),
        RunChange::Started { phase: AgentKind::Coder, attempt: 2 }.into(),
        RunChange::SessionSet { session_id: "s".to_owned() }.into(),
        RunChange::UsageReported { cost_micro_usd: 7, tokens: 8 }.into(),
        RunChange::StopRequested {}.into(),
        RunChange::ConditionChanged { condition: Some(RunCondition::Unreachable { detail: "its folder is gone".to_owned() }) }.into(),
        RunChange::CheckoutLeft { detail: Some("permission denied".to_owned()) }.into(),
        RunChange::HandOverRequested { reason: HandOverReason::Limit { limit: limit_use() } }.into(),
        RunChange::Reminded {}.into(),
        RunChange::Ended { end: EndClass::Failed, failure: Some(FailureClass::Crashed) }.into(),
        RunChange::AccessRefused { access: vec![Access::new(AccessKind::Write, "~/.bashrc")] }.into(),
        RunChange::CheckpointTaken { checkpoint: sha(), files: 2 }.into(),
        RunChange::MessageQueued {}.into(),
        RunChange::MessageDelivered {}.into(),
        InterruptEvent::Requested {}.into(),
        InterruptEvent::Over {}.into(),
        PermissionEvent::Asked { request: 1, tool: "Bash".to_owned() }.into(),
        PermissionEvent::Answered { request: 1, answer: PermissionAnswer::Deny }.into(),
        PermissionEvent::Closed { request: 1 }.into(),
        CheckEvent::Changed { stage: CheckStage::Full, state: CheckState::Passed }.into(),
        CheckEvent::Ended { command: "npm test".to_owned(), outcome: CheckOutcome::Failed }.into(),
        PreviewEvent::Requested {}.into(),
        PreviewEvent::Started { port: 4001 }.into(),
        PreviewEvent::Answered { port: 4001 }.into(),
        PreviewEvent::Ended { why: "a person stopped it".to_owned() }.into(),
        PreviewEvent::Failed { why: "Error: no module".to_owned() }.into(),
        CheckoutEvent::Created { branch: "vr/TASK-001/work".to_owned() }.into(),
        CheckoutEvent::Removed { rescue: None }.into(),
        RescueEvent::Restored { reference: "refs/vibe-relay/rescue/TASK-001/uncommitted".to_owned(), branch: "again".to_owned() }.into(),
        RescueEvent::Dropped { reference: "refs/vibe-relay/rescue/TASK-001/uncommitted".to_owned(), sha: sha() }.into(),
        RescueEvent::Expired { reference: "refs/vibe-relay/rescue/TASK-001/uncommitted".to_owned(), sha: sha() }.into(),
        ParkingEvent::Parked {
            parking: Parking {
                reason: ParkReason::RateLimited,
                since: Timestamp::from_milliseconds(0),
                until: Timestamp::from_milliseconds(0),
                detail: "limit".to_owned(),
                failed_probes: 1,
            },
        }
        .into(),
        ParkingEvent::Resumed { reason: ParkReason::RateLimited }.into(),
        PauseEvent::Paused {}.into(),
        PauseEvent::Resumed {}.into(),
        LimitEvent::Near { limit: limit_use() }.into(),
        LimitEvent::Raised { scope: LimitScope::Day }.into(),
        SandboxEvent::Chosen { tier: SandboxTier::Jail }.into(),
        TokenEvent::Created {}.into(),
        TokenEvent::Changed { token: "0123456789ab".parse().unwrap() }.into(),
        TokenEvent::Refreshed { token: "0123456789ab".parse().unwrap() }.into(),
        TokenEvent::Revoked { token: "0123456789ab".parse().unwrap() }.into(),
        PersonEvent::Added { person: "ann".to_owned(), role: PersonRole::Member }.into(),
        PersonEvent::RoleChanged { person: "ann".to_owned(), role: PersonRole::Viewer }.into(),
        PersonEvent::Removed { person: "ann".to_owned() }.into(),
        BrowserSessionEvent::Opened { session: 1 }.into(),
        BrowserSessionEvent::Revoked { session: 1 }.into(),
        AgentEvent::Registered { agent: mara(), roles: vec![Role::Lead, Role::Tester] }.into(),
        AgentEvent::StatusSet { agent: mara(), status: Some("Writes tests".to_owned()) }.into(),
        AgentEvent::ContextReported { agent: mara(), percent_left: Some(41) }.into(),
        AgentEvent::Left { agent: mara() }.into(),
        AgentEvent::Renamed { agent: mara(), new_name: "platform/mara-audio".to_owned() }.into(),
        MessageEvent::Sent { message: 8, from: mara(), to: "all".to_owned(), is_cc: false }.into(),
        MessageEvent::InboxDelivered { agent: mara(), messages: 3 }.into(),
        MessageEvent::Read { message: 8 }.into(),
        HatEvent::Assigned { agent: mara(), hat: Role::Tester }.into(),
        HandshakeEvent::Initiated { handshake: 2 }.into(),
        HandshakeEvent::Acknowledged { handshake: 2, agent: mara() }.into(),
        HandshakeEvent::Completed { handshake: 2 }.into(),
        ContractEvent::Declared { contract: 3, name: "save".to_owned(), contract_type: ContractType::Function, version: 2 }.into(),
        MinionEvent::SpawnPolicySet { scope: "global".to_owned() }.into(),
        MinionEvent::Logged { minion: 4, status: MinionStatus::Spawned }.into(),
        SessionEvent::Created { session: ContextSessionId::new(5) }.into(),
        SessionEvent::Closed { session: ContextSessionId::new(5) }.into(),
        SessionEvent::MessageAdded { session: ContextSessionId::new(5), message: 6, visibility: Visibility::Private }.into(),
        SessionEvent::PrivateRead { session: ContextSessionId::new(5), messages: 2 }.into(),
        MemoryEvent::Set { key: "build".to_owned(), scope: MemoryScope::Task, owner: "kind:coder".to_owned(), task: Some(TaskId::new(7)) }.into(),
        MemoryEvent::Deleted { key: "build".to_owned(), scope: MemoryScope::Global, owner: "name:mara".to_owned(), task: None }.into(),
        ImportEvent::Imported { source: ImportSource::DeadDrop, record: ImportKind::Message, records: 3 }.into(),
        ClaimEvent::Granted { agent: mara(), path: "src/lib.rs".to_owned() }.into(),
        ClaimEvent::Queued { agent: "ole".to_owned(), path: "src/lib.rs".to_owned(), holder: mara() }.into(),
        ClaimEvent::Released { agent: mara(), path: "src/lib.rs".to_owned(), reason: ReleaseReason::Forced }.into(),
        BattlePlanEvent::Set { plan: 3, scope: BattlePlanScope::Zone, zone: Some("audio".to_owned()) }.into(),
        BattlePlanEvent::Ended { plan: 3, status: BattlePlanStatus::Completed }.into(),
        RaidLogEvent::Logged { entry: 5, priority: Priority::High }.into(),
        HandoverEvent::Recorded { agent: mara(), handover: 6, automatic: true }.into(),
        HandoverEvent::Continued { agent: mara(), handover: 6 }.into(),
        ResultEvent::Submitted { result: 7 }.into(),
        DebriefEvent::Filed { debrief: 2 }.into(),
        DebriefEvent::SessionEnded {}.into(),
        TriggerEvent::Given { trigger: 8, word: TriggerWord::StandDown, target: Some(mara()) }.into(),
        TriggerEvent::Ended { trigger: 9, word: TriggerWord::Retreat, target: None, end: TriggerEnd::Withdrawn }.into(),
        KnowledgeEvent::IntelWritten { knowledge: 3, topic: "deps".to_owned(), version: 2 }.into(),
        KnowledgeEvent::TrapWritten { knowledge: 4, topic: "port".to_owned(), version: 1 }.into(),
        KnowledgeEvent::NoteWritten { knowledge: 5, topic: mara(), version: 1 }.into(),
        KnowledgeEvent::IntelArchived { knowledge: 3, topic: "deps".to_owned() }.into(),
        KnowledgeEvent::TrapResolved { knowledge: 4, topic: "port".to_owned() }.into(),
        ZoneEvent::Set { zone: "audio".to_owned() }.into(),
        ZoneEvent::Removed { zone: "audio".to_owned() }.into(),
        OracleEvent::Asked { question: 7, zones: vec!["audio".to_owned()], oracle: mara() }.into(),
        OracleEvent::Answered { question: 7, oracle: mara(), asker: "human".to_owned() }.into(),
    ]
}

pub(super) fn limit_use() -> LimitUse {
    LimitUse { scope: LimitScope::Task, measure: LimitMeasure::Cost, used: 8, limit: 10 }
}
