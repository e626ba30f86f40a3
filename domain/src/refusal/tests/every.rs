//! One refusal of each kind, for the tests of their texts.

use crate::board::comment::CommentRefusal;
use crate::board::dependency::DependencyRefusal;
use crate::board::goal::GoalRefusal;
use crate::board::plan::PlanRefusal;
use crate::board::project::refusal::ProjectRefusal;
use crate::board::question::QuestionRefusal;
use crate::board::review::ReviewRefusal;
use crate::board::stage::Stage;
use crate::board::status::Status;
use crate::board::task::refusal::TaskRefusal;
use crate::board::transition::Mover;
use crate::board::transition::refusal::MoveRefusal;
use crate::context::import::{ImportRefusal, ImportSource};
use crate::context::memory::MemoryRefusal;
use crate::context::session::{ContextSessionId, SessionRefusal};
use crate::id::{CommentId, GoalId, ProjectId, RunId, TaskId};
use crate::refusal::*;
use crate::runs::agent_kind::AgentKind;
use crate::runs::check::CheckRefusal;
use crate::runs::land::blocking::BlockingFiles;
use crate::runs::land::{LandRefusal, ReturningCommit, ReturningCommits};
use crate::runs::permission::{PermissionAnswer, PermissionRefusal};
use crate::runs::preview::PreviewRefusal;
use crate::runs::publication::PublicationRefusal;
use crate::runs::publication::issue::IssueRefusal;
use crate::runs::run::RunRefusal;
use crate::team::agent::refusal::AgentRefusal;
use crate::team::handshake::HandshakeRefusal;
use crate::team::hat::HatRefusal;
use crate::team::message::MessageRefusal;
use crate::team::minion::MinionRefusal;
use crate::team::pairing::PairingRefusal;
use crate::team::person::{PersonRefusal, PersonRole};
use crate::team::role::Role;
use crate::team::token::refusal::TokenRefusal;
use crate::team::token::{Permission, TokenAudience};
use crate::time::Timestamp;
use crate::warroom::battle_plan::{BattlePlanRefusal, BattlePlanStatus};
use crate::warroom::claim::refusal::ClaimRefusal;
use crate::warroom::class::AgentClass;
use crate::warroom::class::refusal::ClassRefusal;
use crate::warroom::code_map::CodeMapRefusal;
use crate::warroom::debrief::DebriefRefusal;
use crate::warroom::handover::HandoverRefusal;
use crate::warroom::knowledge::KnowledgeKind;
use crate::warroom::knowledge::refusal::KnowledgeRefusal;
use crate::warroom::lead::{LeadPost, LeadRefusal, LeadRole};
use crate::warroom::model::{ModelRefusal, ModelRole};
use crate::warroom::old_task::OldTaskRefusal;
use crate::warroom::oracle::refusal::OracleRefusal;
use crate::warroom::result::{ResultPart, ResultRefusal};
use crate::warroom::trigger::TriggerWord;
use crate::warroom::trigger::refusal::TriggerRefusal;
use crate::warroom::workload::refusal::WorkloadRefusal;
use crate::warroom::zone::refusal::ZoneRefusal;

fn returning() -> ReturningCommits {
    let commit = ReturningCommit { sha: "0123456789".to_owned(), subject: "Add a key".to_owned(), author: "Ann".to_owned() };
    ReturningCommits { total: 7, commits: vec![commit], confirmation: "3f2a9c01d4e7".to_owned() }
}

/// One refusal of each kind.
pub(super) fn every() -> Vec<Refusal> {
    let (task, run, hint) = (TaskId::new(7), RunId::new(3), "The hint.".to_owned());
    let mara = || "platform/mara".to_owned();
    vec![
        MoveRefusal::Illegal { task: task.clone(), phase: AgentKind::Coder, from: Status::InReview, to: Status::Backlog, who: Mover::Human }.into(),
        MoveRefusal::Illegal { task: task.clone(), phase: AgentKind::Coder, from: Status::Done, to: Status::InReview, who: Mover::Coder }.into(),
        Refusal::not_found("run", &run),
        Refusal::invalid("title", "it is empty", "Say something."),
        RunRefusal::Stale { run: run.clone() }.into(),
        RunRefusal::WrongAgentKind { phase: AgentKind::Coder, action: "create tasks".to_owned(), hint: hint.clone() }.into(),
        RunRefusal::WrongTask { task: task.clone(), own: TaskId::new(8) }.into(),
        AgentRefusal::WrongIdentity { own: "coder".to_owned(), claimed: "human".to_owned() }.into(),
        AgentRefusal::WrongIdentity { own: "human".to_owned(), claimed: mara() }.into(),
        MoveRefusal::NotClean { task: task.clone(), count: 2, paths: vec!["a.rs".to_owned(), "b.rs".to_owned()] }.into(),
        MoveRefusal::NoCommits { task: task.clone(), base: "main".to_owned() }.into(),
        MoveRefusal::EmptyDiff { task: task.clone() }.into(),
        MoveRefusal::NestedRepository { task: task.clone(), paths: vec!["lib/one".to_owned(), "two".to_owned()] }.into(),
        MoveRefusal::AlreadySentBack { task: task.clone(), sha: "a1".to_owned() }.into(),
        MoveRefusal::CommentNeeded { task: task.clone(), to: Status::InProgress }.into(),
        MoveRefusal::ReasonNeeded { task: task.clone(), to: Status::Cancelled }.into(),
        PlanRefusal::Empty { task: task.clone() }.into(),
        MoveRefusal::SelfReview { task: task.clone() }.into(),
        MoveRefusal::PersonApproves { task: task.clone() }.into(),
        MoveRefusal::AgentApprovesFirst { task: task.clone(), sha: "a1".to_owned() }.into(),
        MoveRefusal::HeadMoved { task: task.clone(), head: "b2".to_owned(), judged: "a1".to_owned() }.into(),
        MoveRefusal::NothingToApprove { task: task.clone() }.into(),
        DependencyRefusal::Unfinished { task: task.clone(), open: vec![TaskId::new(1), TaskId::new(2)] }.into(),
        DependencyRefusal::Cycle { cycle: vec![TaskId::new(1), TaskId::new(2), TaskId::new(1)] }.into(),
        RunRefusal::StillEnding { task: task.clone(), run }.into(),
        RunRefusal::NotLive(task.to_string()).into(),
        PermissionRefusal::Answered { request: 1, answer: PermissionAnswer::Deny }.into(),
        PermissionRefusal::Closed { request: 1 }.into(),
        CheckRefusal::NotPassed { task: TaskId::new(2), commands: vec!["npm test".to_owned()] }.into(),
        TaskRefusal::WrongStatus { task: task.clone(), status: Status::Done, problem: "there is nothing to start".to_owned(), hint: hint.clone() }
            .into(),
        QuestionRefusal::NoneOpen { task: task.clone() }.into(),
        ReviewRefusal::Outdated { task: task.clone(), shown: "0123456789".to_owned(), head: Some("abcdef0123".to_owned()) }.into(),
        CommentRefusal::NotYours { comment: CommentId::new(4), author: "coder".to_owned() }.into(),
        PlanRefusal::NonePending.into(),
        LandRefusal::SyncPending { base_branch: "main".to_owned(), task: TaskId::new(7) }.into(),
        LandRefusal::BaseChecking { project: ProjectId::new(1), base_branch: "main".to_owned() }.into(),
        LandRefusal::BaseNotChecked { project: ProjectId::new(1), base_branch: "main".to_owned(), why: "`npm ci` ended with exit code 1".to_owned() }
            .into(),
        LandRefusal::NothingToLand { detail: "the branches are the same".to_owned() }.into(),
        ProjectRefusal::AgentsWork { project: ProjectId::new(1), runs: vec![RunId::new(3), RunId::new(4)] }.into(),
        ProjectRefusal::AtWork { project: ProjectId::new(1), runs: vec![RunId::new(3)], taken_over: vec![TaskId::new(2)] }.into(),
        ProjectRefusal::IsDeleted { project: ProjectId::new(1) }.into(),
        ProjectRefusal::OtherRepository {
            project: ProjectId::new(1),
            path: "/home/ann/other".to_owned(),
            missing: vec!["the tip of main (0123456)".to_owned()],
        }
        .into(),
        LandRefusal::NothingToUndo { project: ProjectId::new(1) }.into(),
        LandRefusal::NotTheLastLanding { project: ProjectId::new(1), landing: 1, last: 2 }.into(),
        LandRefusal::MovedSinceLanding { base_branch: "main".to_owned(), landed: "0123456789".to_owned(), found: Some("abcdef0123".to_owned()) }
            .into(),
        LandRefusal::LandingPushed { remote_branch: "origin/main".to_owned(), landed: "0123456789".to_owned(), is_merge: true }.into(),
        LandRefusal::CheckoutDirty {
            action: "landing",
            files: Box::new(BlockingFiles { changed: vec!["src/a.rs".to_owned()], ..BlockingFiles::default() }),
        }
        .into(),
        LandRefusal::BaseMissing { project: ProjectId::new(1), base_branch: "main".to_owned(), near: vec!["maint".to_owned()] }.into(),
        LandRefusal::CommitsReturn { project: ProjectId::new(1), base_branch: "main".to_owned(), returning: Box::new(returning()) }.into(),
        RepositoryRefusal { code: "base-gone", detail: "main does not exist".to_owned(), hint }.into(),
        GeneralRefusal::Unauthorized.into(),
        PersonRefusal::HumanOnly { action: "landing".to_owned() }.into(),
        PersonRefusal::WrongRole { role: PersonRole::Viewer, action: "landing".to_owned() }.into(),
        PersonRefusal::NotByCompanion { action: "landing".to_owned() }.into(),
        GeneralRefusal::RateLimited { what: "writes", seconds: 3 }.into(),
        TokenRefusal::Expired { at: Timestamp::from_milliseconds(0) }.into(),
        TokenRefusal::WrongAudience { wanted: TokenAudience::Mcp }.into(),
        TokenRefusal::WrongAudience { wanted: TokenAudience::Api }.into(),
        TokenRefusal::NotPermitted { permission: Permission::Write, action: "calling send".to_owned() }.into(),
        TokenRefusal::NotYours.into(),
        TokenRefusal::NotRefreshable.into(),
        TokenRefusal::OfOwner.into(),
        TokenRefusal::OfRun.into(),
        TokenRefusal::OfPerson.into(),
        PairingRefusal::NoHost.into(),
        PairingRefusal::WhichHost { hosts: vec!["desk.example.org".to_owned(), "desk.lan".to_owned()] }.into(),
        PairingRefusal::OtherHost { host: "evil.example".to_owned(), hosts: vec!["desk.example.org".to_owned()] }.into(),
        AgentRefusal::NotRegistered.into(),
        AgentRefusal::Left { agent: mara() }.into(),
        AgentRefusal::Unknown { name: "marra".to_owned(), nearest: vec!["platform/mara".to_owned(), "mark".to_owned()] }.into(),
        AgentRefusal::Unknown { name: "zzz".to_owned(), nearest: Vec::new() }.into(),
        AgentRefusal::Ambiguous { name: "ole".to_owned(), candidates: vec!["blue/ole".to_owned(), "red/ole".to_owned()] }.into(),
        AgentRefusal::Unresponsive { name: mara(), since: Some(Timestamp::from_milliseconds(0)) }.into(),
        AgentRefusal::Unresponsive { name: mara(), since: None }.into(),
        AgentRefusal::NameTaken { name: mara() }.into(),
        MessageRefusal::Unread { count: 2 }.into(),
        AgentRefusal::LeadOnly { agent: mara(), action: "approving a task".to_owned() }.into(),
        AgentRefusal::Untrusted { agent: mara(), action: "verifying a task".to_owned() }.into(),
        TaskRefusal::NotAssignee { task: task.clone(), assignee: None, action: "submitting it".to_owned() }.into(),
        TaskRefusal::NotAssignee { task: task.clone(), assignee: Some("ole".to_owned()), action: "submitting it".to_owned() }.into(),
        TaskRefusal::IllegalStage { task: task.clone(), from: Stage::Assigned, to: Stage::Completed, agent: mara(), next: Vec::new() }.into(),
        TaskRefusal::IllegalStage {
            task: task.clone(),
            from: Stage::Assigned,
            to: Stage::Completed,
            agent: mara(),
            next: vec![Stage::InProgress, Stage::Failed],
        }
        .into(),
        HatRefusal::Conflict { agent: mara(), hat: Role::Tester, worn: Role::Builder, task: TaskId::new(8) }.into(),
        MoveRefusal::NotIndependent { task, agent: mara(), part: "built", action: "verify" }.into(),
        HandshakeRefusal::AlreadyAcknowledged { handshake: 2, agent: mara() }.into(),
        HandshakeRefusal::NotATarget { handshake: 2, agent: mara() }.into(),
        GoalRefusal::Unfinished { goal: GoalId::new(4), open: vec![TaskId::new(1), TaskId::new(2)] }.into(),
        MinionRefusal::LimitReached { agent: mara(), problem: "3 of 3 are running".to_owned() }.into(),
        SessionRefusal::Closed { session: ContextSessionId::new(5) }.into(),
        SessionRefusal::StaysOpen { session: ContextSessionId::new(5) }.into(),
        SessionRefusal::NotYours { session: ContextSessionId::new(5), creator: mara() }.into(),
        SessionRefusal::AdminOnly.into(),
        MemoryRefusal::Exists { key: "build".to_owned() }.into(),
        MemoryRefusal::Missing { key: "build".to_owned() }.into(),
        MemoryRefusal::Full { entries: 1_000 }.into(),
        MemoryRefusal::Changed { key: "build".to_owned() }.into(),
        ImportRefusal::Unusable { path: "/a.db".to_owned(), origin: ImportSource::DeadDrop, problem: "it has no table messages".to_owned() }.into(),
        ClaimRefusal::Blank.into(),
        ClaimRefusal::TooLong { bytes: 600, most: 512 }.into(),
        ClaimRefusal::TooDeep { names: 70, most: 64 }.into(),
        ClaimRefusal::NotText { path: "a?b".to_owned() }.into(),
        ClaimRefusal::Outside { path: "../../etc".to_owned() }.into(),
        ClaimRefusal::WholeRepository.into(),
        ClaimRefusal::GitFolder { path: ".git/config".to_owned() }.into(),
        ClaimRefusal::Taken { path: "src/lib.rs".to_owned(), holder: mara(), since: Timestamp::from_milliseconds(0), ahead: 2 }.into(),
        ClaimRefusal::Deadlock { path: "a.rs".to_owned(), holder: mara(), waiting: "ole".to_owned(), wanted: "b.rs".to_owned() }.into(),
        ClaimRefusal::TooMany { agent: mara(), claims: 500 }.into(),
        ClaimRefusal::TooManyWaits { agent: mara(), waits: 100 }.into(),
        ClaimRefusal::NotHeld { agent: mara(), path: "src/lib.rs".to_owned() }.into(),
        ClaimRefusal::HeldByOther { path: "src/lib.rs".to_owned(), holder: mara() }.into(),
        ClaimRefusal::ReasonNeeded { path: "src/lib.rs".to_owned(), holder: mara() }.into(),
        ClassRefusal::ChangesNoCode { agent: mara(), class: AgentClass::Oracle }.into(),
        ClassRefusal::Fixed { agent: mara(), class: AgentClass::Recon }.into(),
        ClassRefusal::CreatesNoTasks { agent: mara(), class: AgentClass::Oracle }.into(),
        ClassRefusal::ReportDue { class: AgentClass::Coder, age_minutes: 6, due_minutes: 5 }.into(),
        LeadRefusal::NotLead { agent: mara(), class: AgentClass::Recon }.into(),
        LeadRefusal::Fixed { agent: mara(), post: LeadPost { role: LeadRole::ZoneLead, zone: Some("audio".to_owned()) } }.into(),
        LeadRefusal::OutsideZone {
            agent: mara(),
            zone: "audio".to_owned(),
            action: "closing tasks".to_owned(),
            subject: "src/video/a.rs of TASK-007".to_owned(),
        }
        .into(),
        LeadRefusal::WholeProject { agent: mara(), zone: "audio".to_owned(), action: "ending the session".to_owned() }.into(),
        LeadRefusal::OutsideParty {
            agent: mara(),
            zone: "audio".to_owned(),
            action: "sending task assignments".to_owned(),
            recipient: "platform/jon".to_owned(),
            other: Some("video".to_owned()),
        }
        .into(),
        PreviewRefusal::NoCommand { project: ProjectId::new(1) }.into(),
        PreviewRefusal::NoFiles { task: TaskId::new(4), status: Status::Backlog }.into(),
        PreviewRefusal::NothingMerged { project: ProjectId::new(1) }.into(),
        PreviewRefusal::NotRunning { name: "TASK-004".to_owned() }.into(),
        IssueRefusal::NotAnIssue { given: "the menu".to_owned() }.into(),
        IssueRefusal::NoHost { number: 7 }.into(),
        IssueRefusal::NoProgram { program: "gh" }.into(),
        IssueRefusal::NotRead { program: "gh", output: "To get started, run: gh auth login".to_owned() }.into(),
        IssueRefusal::Imported { address: "https://github.com/ann/site/issues/7".to_owned(), task: TaskId::new(4) }.into(),
        PublicationRefusal::NothingMerged { branch: "vibe-relay/PROJ-001".to_owned() }.into(),
        PublicationRefusal::BranchMoved { branch: "vibe-relay/PROJ-001".to_owned() }.into(),
        PublicationRefusal::NoRemote { branch: "vibe-relay/PROJ-001".to_owned() }.into(),
        PublicationRefusal::NoHost { url: "/srv/site.git".to_owned() }.into(),
        PublicationRefusal::NothingToSettle { project: ProjectId::new(1) }.into(),
        PublicationRefusal::NoUpstream { branch: "main".to_owned() }.into(),
        PublicationRefusal::NotSignedIn { program: "gh" }.into(),
        PublicationRefusal::NotLanded { project: ProjectId::new(1) }.into(),
        PublicationRefusal::NoProgram { program: "gh" }.into(),
        PublicationRefusal::NotUploaded { remote: "origin".into(), branch: "vibe-relay/PROJ-001".into(), output: "missing object".into() }.into(),
        PublicationRefusal::NotPushed {
            remote: "origin".to_owned(),
            branch: "vibe-relay/PROJ-001".to_owned(),
            output: "Permission denied (publickey).".to_owned(),
        }
        .into(),
        PublicationRefusal::NoPullRequest { branch: "vibe-relay/PROJ-001".to_owned(), output: "To get started, run: gh auth login".to_owned() }
            .into(),
        LeadRefusal::NoGeneral { agent: mara(), class: AgentClass::Coder }.into(),
        LeadRefusal::NameOfOther { agent: mara(), project: ProjectId::new(2) }.into(),
        LeadRefusal::NameOfGeneral { agent: mara() }.into(),
        LeadRefusal::GeneralOnly { agent: mara(), role: LeadRole::Commander }.into(),
        ModelRefusal::NotAllowed {
            model: "claude-haiku-4-5".to_owned(),
            role: ModelRole::Coder,
            allowed: vec!["opus".to_owned(), "gemini pro".to_owned()],
        }
        .into(),
        BattlePlanRefusal::Missing { agent: mara(), action: "creating tasks".to_owned() }.into(),
        BattlePlanRefusal::Ended { plan: 3, status: BattlePlanStatus::Superseded }.into(),
        HandoverRefusal::FilesMissing { count: 1, paths: "notes.md".to_owned() }.into(),
        HandoverRefusal::FileOutside { path: "/etc/passwd".to_owned() }.into(),
        HandoverRefusal::Needed { agent: mara() }.into(),
        HandoverRefusal::NothingLeft { agent: mara() }.into(),
        ResultRefusal::PartsMissing { parts: vec![ResultPart::Next, ResultPart::Citations] }.into(),
        ResultRefusal::NoFile { path: "../notes.md".to_owned() }.into(),
        ResultRefusal::Missing { task: TaskId::new(7) }.into(),
        ResultRefusal::ClosedElsewhere { task: TaskId::new(7) }.into(),
        DebriefRefusal::OpenTasks { tasks: vec![TaskId::new(7), TaskId::new(8)], more: 3 }.into(),
        DebriefRefusal::Missing.into(),
        OldTaskRefusal::Unreviewed { action: "creating tasks".to_owned(), tasks: vec![TaskId::new(7)], more: 0 }.into(),
        WorkloadRefusal::ContextUsedUp { agent: mara(), percent: 12 }.into(),
        TriggerRefusal::LeadOnly { agent: mara(), word: TriggerWord::Rally }.into(),
        TriggerRefusal::NoAgent { word: TriggerWord::Sitrep }.into(),
        TriggerRefusal::NoZone { word: TriggerWord::HotZone }.into(),
        TriggerRefusal::NoSubject { word: TriggerWord::Recon }.into(),
        TriggerRefusal::ForAll { word: TriggerWord::Retreat }.into(),
        TriggerRefusal::OtherRecipient { word: TriggerWord::Sitrep, target: "ben".to_owned(), recipient: mara() }.into(),
        TriggerRefusal::ToPerson { word: TriggerWord::Sitrep, target: "human".to_owned() }.into(),
        TriggerRefusal::NotOneWord { word: TriggerWord::FenixDown }.into(),
        TriggerRefusal::LongNote { word: TriggerWord::FenixDown, most: 500 }.into(),
        TriggerRefusal::NotActive { word: TriggerWord::HotZone }.into(),
        TriggerRefusal::Stopped { word: TriggerWord::MoonCrash, author: "lena".to_owned() }.into(),
        KnowledgeRefusal::Topic { topic: "../x".to_owned() }.into(),
        KnowledgeRefusal::Hunch { words: "i think".to_owned() }.into(),
        KnowledgeRefusal::NoEvidence.into(),
        KnowledgeRefusal::TooMuch.into(),
        KnowledgeRefusal::NotLive { kind: KnowledgeKind::Trap, topic: "port".to_owned() }.into(),
        KnowledgeRefusal::Closed { kind: KnowledgeKind::Intel, topic: "deps".to_owned() }.into(),
        KnowledgeRefusal::Unread { topics: vec!["deps".to_owned(), "port".to_owned()] }.into(),
        ZoneRefusal::Paths { zone: "audio".to_owned(), paths: 0, most: 50 }.into(),
        ZoneRefusal::WholeRepository { path: "**".to_owned() }.into(),
        ZoneRefusal::PathTaken { path: "src/**".to_owned(), zone: "core".to_owned() }.into(),
        ZoneRefusal::TooMany { zones: 100 }.into(),
        ZoneRefusal::NoExpert { zone: "audio".to_owned() }.into(),
        OracleRefusal::NoZone { given: "README.md".to_owned() }.into(),
        OracleRefusal::NoOracle { zone: "audio".to_owned() }.into(),
        OracleRefusal::OwnZone { zone: "audio".to_owned() }.into(),
        OracleRefusal::Unanswered { task: TaskId::new(9), open: 2 }.into(),
        OracleRefusal::NoMailbox { zone: "audio".to_owned() }.into(),
        ZoneRefusal::NoCodeowners { branch: "main".to_owned() }.into(),
        CodeMapRefusal::NotMade { reason: "it was killed".to_owned() }.into(),
        CodeMapRefusal::Missing.into(),
    ]
}
