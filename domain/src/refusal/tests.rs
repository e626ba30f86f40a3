//! The codes, sentences and hints of refusals: programs rely on the codes, people and agents on the sentences.

use super::*;

/// One refusal of each kind.
fn every() -> Vec<Refusal> {
    let (task, run, hint) = (TaskId::new(7), RunId::new(3), "The hint.".to_owned());
    let mara = || "platform/mara".to_owned();
    let refusals = vec![
        Refusal::IllegalMove { task: task.clone(), phase: AgentKind::Coder, from: Status::InReview, to: Status::Backlog, who: Mover::Human },
        Refusal::IllegalMove { task: task.clone(), phase: AgentKind::Coder, from: Status::Done, to: Status::InReview, who: Mover::Coder },
        Refusal::not_found("run", &run),
        Refusal::invalid("title", "it is empty", "Say something."),
        Refusal::StaleRun { run: run.clone() },
        Refusal::WrongAgentKind { phase: AgentKind::Coder, action: "create tasks".to_owned(), hint: hint.clone() },
        Refusal::WrongTask { task: task.clone(), own: TaskId::new(8) },
        Refusal::WrongIdentity { own: "coder".to_owned(), claimed: "human".to_owned() },
        Refusal::WrongIdentity { own: "human".to_owned(), claimed: mara() },
        Refusal::NotClean { task: task.clone(), count: 2, paths: vec!["a.rs".to_owned(), "b.rs".to_owned()] },
        Refusal::NoCommits { task: task.clone(), base: "main".to_owned() },
        Refusal::EmptyDiff { task: task.clone() },
        Refusal::CommentNeeded { task: task.clone(), to: Status::InProgress },
        Refusal::ReasonNeeded { task: task.clone(), to: Status::Cancelled },
        Refusal::EmptyPlan { task: task.clone() },
        Refusal::SelfReview { task: task.clone() },
        Refusal::HeadMoved { task: task.clone(), head: "b2".to_owned(), judged: "a1".to_owned() },
        Refusal::NothingToApprove { task: task.clone() },
        Refusal::DependenciesUnfinished { task: task.clone(), open: vec![TaskId::new(1), TaskId::new(2)] },
        Refusal::DependencyCycle { cycle: vec![TaskId::new(1), TaskId::new(2), TaskId::new(1)] },
        Refusal::RunEnding { task: task.clone(), run },
        Refusal::NoLiveRun(task.to_string()),
        Refusal::WrongStatus { task: task.clone(), status: Status::Done, problem: "nothing is to be started".to_owned(), hint: hint.clone() },
        Refusal::NoQuestion { task: task.clone() },
        Refusal::NoPendingPlan,
        Refusal::NothingToLand { detail: "the branches are the same".to_owned() },
        Refusal::Repository { code: "base-gone", detail: "main does not exist".to_owned(), hint },
        Refusal::Unauthorized,
        Refusal::HumanOnly { action: "landing".to_owned() },
        Refusal::NotRegistered,
        Refusal::AgentLeft { agent: mara() },
        Refusal::UnknownAgent { name: "marra".to_owned(), nearest: vec!["platform/mara".to_owned(), "mark".to_owned()] },
        Refusal::UnknownAgent { name: "zzz".to_owned(), nearest: Vec::new() },
        Refusal::AmbiguousAgent { name: "ole".to_owned(), candidates: vec!["blue/ole".to_owned(), "red/ole".to_owned()] },
        Refusal::AgentUnresponsive { name: mara(), since: Some(Timestamp::from_milliseconds(0)) },
        Refusal::AgentUnresponsive { name: mara(), since: None },
        Refusal::NameTaken { name: mara() },
        Refusal::UnreadMessages { count: 2 },
        Refusal::LeadOnly { agent: mara(), action: "approving a task".to_owned() },
        Refusal::Untrusted { agent: mara(), action: "verifying a task".to_owned() },
        Refusal::NotAssignee { task: task.clone(), assignee: None, action: "handing it in".to_owned() },
        Refusal::NotAssignee { task: task.clone(), assignee: Some("ole".to_owned()), action: "handing it in".to_owned() },
        Refusal::IllegalStage { task: task.clone(), from: Stage::Assigned, to: Stage::Completed, agent: mara(), next: Vec::new() },
        Refusal::IllegalStage {
            task: task.clone(),
            from: Stage::Assigned,
            to: Stage::Completed,
            agent: mara(),
            next: vec![Stage::InProgress, Stage::Failed],
        },
        Refusal::HatConflict { agent: mara(), hat: Role::Tester, worn: Role::Builder, task: TaskId::new(8) },
        Refusal::NotIndependent { task, agent: mara(), part: "built", action: "verify" },
        Refusal::AlreadyAcknowledged { handshake: 2, agent: mara() },
        Refusal::NotATarget { handshake: 2, agent: mara() },
        Refusal::GoalUnfinished { goal: GoalId::new(4), open: vec![TaskId::new(1), TaskId::new(2)] },
        Refusal::MinionLimit { agent: mara(), problem: "3 of 3 are at work".to_owned() },
    ];
    // Forces a compile error until a new variant is in the list above.
    for refusal in &refusals {
        match refusal {
            Refusal::IllegalMove { .. } | Refusal::NotFound { .. } | Refusal::Invalid { .. } | Refusal::StaleRun { .. } => {}
            Refusal::WrongAgentKind { .. } | Refusal::WrongTask { .. } | Refusal::WrongIdentity { .. } | Refusal::NotClean { .. } => {}
            Refusal::NoCommits { .. } | Refusal::EmptyDiff { .. } | Refusal::CommentNeeded { .. } | Refusal::ReasonNeeded { .. } => {}
            Refusal::EmptyPlan { .. } | Refusal::SelfReview { .. } | Refusal::HeadMoved { .. } | Refusal::NothingToApprove { .. } => {}
            Refusal::DependenciesUnfinished { .. } | Refusal::DependencyCycle { .. } | Refusal::RunEnding { .. } | Refusal::NoLiveRun(_) => {}
            Refusal::WrongStatus { .. } | Refusal::NoQuestion { .. } | Refusal::NoPendingPlan | Refusal::NothingToLand { .. } => {}
            Refusal::Repository { .. } | Refusal::Unauthorized | Refusal::HumanOnly { .. } | Refusal::NotRegistered | Refusal::AgentLeft { .. } => {}
            Refusal::UnknownAgent { .. } | Refusal::AmbiguousAgent { .. } | Refusal::AgentUnresponsive { .. } | Refusal::NameTaken { .. } => {}
            Refusal::UnreadMessages { .. } | Refusal::LeadOnly { .. } | Refusal::Untrusted { .. } | Refusal::NotAssignee { .. } => {}
            Refusal::IllegalStage { .. } | Refusal::HatConflict { .. } | Refusal::NotIndependent { .. } | Refusal::AlreadyAcknowledged { .. } => {}
            Refusal::NotATarget { .. } | Refusal::GoalUnfinished { .. } | Refusal::MinionLimit { .. } => {}
        }
    }
    refusals
}

#[test]
fn codes_sentences_and_hints_are_stable() {
    let page: Vec<String> = every().iter().map(|refusal| format!("{}: {refusal}\n    {}", refusal.code(), refusal.hint())).collect();
    insta::assert_snapshot!(page.join("\n"), @r#"
    illegal-move: human may not move TASK-007 from in_review to backlog
        From in_review you may move it to in_review (needs a verdict about the newest commit, from another session than its author's), or to done (needs nothing: the newest commit is approved by the move and joins the merge queue), or to in_progress (needs a comment that says what to change), or to cancelled (needs a reason).
    illegal-move: coder may not move TASK-007 from done to in_review
        From done this task is not yours to move as coder.
    not-found: run RUN-003 does not exist
        Look up the run on the board; ids are written like RUN-001.
    invalid: title: it is empty
        Say something.
    stale-run: RUN-003 is no longer the current run of its task, so nothing it writes is taken
        Stop here: the task was stopped, moved or given to a newer run. End your turn.
    not-your-role: a coder may not create tasks
        The hint.
    not-your-task: TASK-007 is not the task of this run, which is TASK-008
        Use TASK-008, or leave the argument as your <issue> names it.
    not-you: this token writes as coder, not as human
        Write as coder: who you are is decided by your token.
    not-you: this token writes as human, not as platform/mara
        Leave the name out to act as the person, whose token this is. As an agent, ask the person for a token of your own: vibe-relay token new --agent NAME --role ROLE.
    not-clean: TASK-007 has 2 files that are not committed: a.rs, b.rs
        Commit what belongs to the task, remove or ignore the rest, then move the task again.
    no-commits: TASK-007 has no commit beyond main
        Commit your work in the worktree, then move the task again.
    empty-diff: the commits of TASK-007 change nothing
        If nothing had to change, say why with add_comment, then move the task again.
    comment-needed: moving TASK-007 to in_progress needs a comment of this review that says what to change
        Call add_comment with file, line and what is wrong, then move the task again.
    reason-needed: moving TASK-007 to cancelled needs a reason
        Give the reason along with the move.
    empty-plan: TASK-007 has no children and no reason says why
        Call create_subtasks for TASK-007, or complete_task with a reason why there is nothing to do.
    own-work: the session that wrote TASK-007 may not judge it
        Another agent or the person must judge it.
    head-moved: TASK-007 is at b2 now, and a1 was judged
        The newest commit gets a review of its own: end your turn.
    nothing-to-approve: TASK-007 has no commit that could be approved
        Send it back to work, or close it without a merge.
    dependencies-open: TASK-007 waits for TASK-001, TASK-002
        Wait for them, or remove the dependency.
    dependency-circle: the dependencies make a circle: TASK-001 → TASK-002 → TASK-001
        Remove one of these dependencies.
    run-ending: TASK-007 has a run that is still ending
        Wait until RUN-003 has ended; that takes seconds.
    no-live-run: TASK-007 has no agent at work
        Add a comment instead: the next run reads the whole thread.
    not-now: TASK-007 is done: nothing is to be started
        The hint.
    no-question: TASK-007 has no open question
        Add a comment instead.
    no-plan-waiting: no plan waits for approval
        A plan waits only while its tasks are held by it; start single tasks with Start.
    nothing-to-land: there is nothing to land: the branches are the same
        Wait until a task was merged into the project branch.
    base-gone: main does not exist
        The hint.
    unauthorized: the request carries no valid token
        Open the link that `vibe-relay serve` printed, or send `Authorization: Bearer` with the token from the file beside the database.
    human-only: landing is for the person only
        Leave it to the person; tell them with add_comment.
    not-registered: this token belongs to a room and to no agent yet
        Call register with a name of your own; what you do afterwards is done under it.
    not-registered: platform/mara left the project
        Call register to come back as platform/mara; what was written to you is kept.
    unknown-agent: nobody here is called marra
        Did you mean platform/mara or mark? Call who to see all names.
    unknown-agent: nobody here is called zzz
        Call who to see the names.
    ambiguous-agent: ole could be blue/ole or red/ole
        Write the whole name, like blue/ole.
    dead-agent: platform/mara is gone since 00:00 UTC
        Call who to see who is there; what must not be lost belongs into a comment on the task.
    dead-agent: platform/mara is gone
        Call who to see who is there; what must not be lost belongs into a comment on the task.
    name-taken: the name platform/mara is taken
        Choose another name, or show the token that the name's agent was given. If that agent is you and the answer was lost, register again after a minute.
    unread: BLOCKED: You have 2 unread message(s). Call check_inbox first
        Call check_inbox, read, then send again.
    lead-only: approving a task is for a lead, and platform/mara is none
        Ask a lead with send; who shows who leads.
    unverified: platform/mara joined with a room token, and verifying a task asks for an agent that the person vouches for
        Ask the person for a token of your own: vibe-relay token new --agent NAME --role ROLE. Until then, leave it to others.
    not-assignee: TASK-007 is assigned to nobody, and handing it in is for its assignee
        Leave it to the assignee. A lead may assign the task to you, with update_task and assigned_to.
    not-assignee: TASK-007 is assigned to ole, and handing it in is for its assignee
        Leave it to the assignee. A lead may assign the task to you, with update_task and assigned_to.
    illegal-stage: TASK-007 is assigned: platform/mara may not make it completed
        You cannot change this task now. Its assignee begins it and hands it in first; a lead may give it to another one, with update_task and assigned_to.
    illegal-stage: TASK-007 is assigned: platform/mara may not make it completed
        You may make it in_progress or failed.
    hat-conflict: platform/mara may not wear the hat tester: it wore builder for TASK-008
        Give the hat to another agent; hat_history shows who wore what.
    not-independent: platform/mara built TASK-007, so somebody else must verify it
        Leave it to an agent that neither built nor approved it, or to the person.
    acknowledged-before: platform/mara acknowledged handshake #2 already
        Nothing more is asked of you; handshake_status shows who is still waited for.
    not-asked: handshake #2 does not ask platform/mara
        Leave it to those who were asked; handshake_status names them.
    goal-open: GOAL-004 has tasks that are not verified: TASK-001, TASK-002
        Have these verified with verify_task first, by agents that neither built nor approved them.
    no-minion: platform/mara may start no minion: 3 of 3 are at work
        Do it yourself, or wait until a minion has ended and log it with log_minion.
    "#);
}

#[test]
fn only_illegal_moves_list_allowed_targets() {
    for refusal in every() {
        let moves = matches!(refusal, Refusal::IllegalMove { .. });
        assert_eq!(!refusal.allowed().is_empty(), moves, "{refusal}");
    }
}

/// The caller can itself be a lead, so the hint never says "ask a lead".
#[test]
fn illegal_stage_hint_names_who_acts_next() {
    for from in Stage::ALL.iter().copied() {
        let hint = Refusal::IllegalStage { task: TaskId::new(7), from, to: Stage::Completed, agent: "mara".to_owned(), next: Vec::new() }.hint();
        let next = hint.strip_prefix("You cannot change this task now. ").unwrap();
        assert!(next.ends_with('.') && !next.contains("sk a lead"), "{from}: {hint}");
    }
}

#[test]
fn every_refusal_has_a_hint() {
    for refusal in every() {
        assert!(refusal.hint().ends_with('.'), "{refusal}");
    }
    let ids = ["project", "run", "task", "comment"].map(|what| Refusal::not_found(what, "x").hint());
    assert!(ids[0].contains("PROJ-001") && ids[1].contains("RUN-001") && ids[2].contains("TASK-001") && ids[3].contains("TASK-001"));
}
