//! The board equals the fold of the log after long random histories of legal and illegal moves by all kinds of callers.

use domain::board::attention::AttentionKind;
use domain::board::project::PlanApproval;
use domain::board::reducer::Board;
use domain::board::status::{HeldBy, Status};
use domain::board::task::{NewTask, TaskPatch};
use domain::board::transition::{Mover, rule};
use domain::board::wait_reason::WaitReason;
use domain::id::{RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, EvidenceResult};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::sandbox::SandboxTier;
use domain::runs::usage::Usage;
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::tests::external_agents::{message, named};
use crate::tests::store::{Store, clean, head, new_task, parts, whole_board};
use crate::{Caller, Error, MoveRequest, NewRun, Result, RunEnd};

const HISTORIES: u64 = 12;
const STEPS: u32 = 120;

struct World {
    store: Store,
    dice: StdRng,
    /// All callers that ever had a token, including ended runs.
    callers: Vec<Caller>,
}

impl World {
    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.dice.random_range(0..from.len())].clone()
    }

    fn caller(&mut self) -> Caller {
        let callers = self.callers.clone();
        // Choose the human and the runner often, because most agents have ended.
        match self.dice.random_range(0..10) {
            0..3 => Caller::owner(),
            3 => Caller::Runner,
            _ => self.pick(&callers[callers.len().saturating_sub(4)..]),
        }
    }

    fn run(&mut self) -> RunId {
        let last = self.callers.iter().filter(|caller| caller.run().is_some()).count() as u64;
        RunId::new(self.dice.random_range(last.saturating_sub(3)..=last).max(1))
    }

    fn found(&mut self) -> EvidenceResult {
        let dirty = Evidence { dirty_count: 1, ..clean() };
        let empty = Evidence { diff_empty: true, ..clean() };
        self.pick(&[
            EvidenceResult::Nothing,
            EvidenceResult::Evidence(clean()),
            EvidenceResult::Evidence(clean()),
            EvidenceResult::Evidence(dirty),
            EvidenceResult::Evidence(empty),
            head("head"),
            head("head"),
            head("newer"),
        ])
    }

    /// Moves a card to any status and checks that the transition table decides.
    async fn wander(&mut self, caller: Caller, task: TaskId) -> Result<()> {
        let (to, found) = (self.pick(Status::ALL), self.found());
        let reason = self.pick(&[None, Some("obsolete".to_owned()), Some("failed".to_owned()), Some("Because".to_owned())]);
        let request = MoveRequest { to, reason, merge: self.dice.random() };
        let card = self.store.card(&task).await;
        // Of the external agents, one is a lead.
        let mover = caller.mover().or(matches!(caller, Caller::Agent(_)).then_some(Mover::Lead));
        let aim = if mover == Some(Mover::Reviewer) && to == Status::Done { Status::InReview } else { to };
        let legal = mover.is_some_and(|mover| rule(card.phase, card.status, aim, mover).is_some());
        let outcome = self.store.db.move_task(&caller, &task, request, found).await;
        assert!(legal || outcome.is_err(), "{caller:?} moved {task} from {} to {to}", card.status);
        outcome.map(|_| ())
    }

    /// Takes one step as a random caller.
    async fn step(&mut self) -> Result<()> {
        let board = whole_board(&self.store.db, &self.store.project).await?;
        let tasks: Vec<TaskId> = board.cards.iter().map(|card| card.id.clone()).collect();
        let task = self.pick(&tasks);
        let other = self.pick(&tasks);
        let (caller, run) = (self.caller(), self.run());
        let db = self.store.db.clone();
        let project = self.store.project.clone();
        match self.dice.random_range(0..36) {
            0..8 => self.wander(caller, task).await,
            8..13 => self.start(task).await,
            13..15 => {
                let class = self.pick(EndClass::ALL);
                let failure = (class == EndClass::Failed).then(|| self.pick(FailureClass::ALL));
                let end = RunEnd { failure, turn_ended: true, ..RunEnd::new(class, 2) };
                db.end_run(&run, end).await.map(|_| ())
            }
            15 => {
                let new = NewTask { start: self.dice.random(), depends_on: vec![other], ..new_task("Task") };
                db.create_task(&caller, &project, new).await.map(|_| ())
            }
            16 => db.create_subtasks(&caller, &task, parts(&["A", "B"])).await.map(|_| ()),
            17 => db.add_comment(&caller, &task, "Words", None).await.map(|_| ()),
            18 => db.stop_task(&caller, &task).await.map(|_| ()),
            19 => db.start_task(&caller, &task).await.map(|_| ()),
            20 => db.edit_task(&caller, &task, TaskPatch { depends_on: Some(vec![other]), ..TaskPatch::default() }).await.map(|_| ()),
            21 => db.ask_question(&caller, "Which?", Vec::new(), None).await.map(|_| ()),
            22 => db.answer(&caller, &task, "This").await.map(|_| ()),
            23 => db.approve_plan(&caller, &project).await.map(|_| ()),
            24 => db.revise_plan(&caller, &project, "Other").await.map(|_| ()),
            25 => db.record_merge_failure(&task, "head", "It conflicts").await.map(|_| ()),
            26 => db.revoke_approval(&task, "newer").await,
            27 => db.set_wait_reasons(vec![(task, Some(WaitReason::Held { by: HeldBy::Human })), (other, None)]).await,
            28 => db.request_attention(&task, AttentionKind::Conflict, "a.rs").await,
            29 => {
                let (cost_micro_usd, tokens) = (self.dice.random_range(0..3), self.dice.random_range(0..100));
                let usage = Usage { cost_micro_usd, context_tokens: Some(tokens), context_limit: Some(100), ..Usage::default() };
                db.run_usage(&run, usage).await
            }
            30..35 => self.talk(caller).await,
            _ => {
                let sha = self.dice.random_range(0..1000).to_string();
                db.record_merge(&task, "head", "vibe-relay/PROJ-001", &sha, "tree").await.map(|_| ())
            }
        }
    }

    /// Takes one collaboration step as a random caller.
    async fn talk(&mut self, caller: Caller) -> Result<()> {
        let (db, project) = (self.store.db.clone(), self.store.project.clone());
        let name = self.pick(&["ann", "ole", "all", "human", "coder-TASK-002", "nobody"]);
        match self.dice.random_range(0..8) {
            0 => db.send(&caller, &project, message(name, "Words")).await.map(|_| ()),
            1..3 => db.check_inbox(&caller, &project, None).await.map(|_| ()),
            3 => db.deregister(&caller, &project, name).await,
            4 => {
                let token = db.register(&self.store.invite(), &project, named(name, &[]), None).await?.token;
                self.callers.extend(db.caller(&token.unwrap_or_default()).await?);
                Ok(())
            }
            5 => {
                self.store.plan_battle().await;
                let token = db.create_agent_token(&Caller::owner(), &project, named("ann", &[Role::Lead]), TokenTerms::default()).await?;
                self.callers.extend(db.caller(&token).await?);
                Ok(())
            }
            6 => db.initiate_handshake(&caller, &project, "The plan", Vec::new()).await.map(|_| ()),
            _ => db.acknowledge(&caller, self.dice.random_range(1..4)).await.map(|_| ()),
        }
    }

    async fn start(&mut self, task: TaskId) -> Result<()> {
        let card = self.store.card(&task).await;
        let phase = if card.status == Status::InReview { AgentKind::Reviewer } else { card.phase };
        let (sha, run_dirs) = (Some("head".to_owned()), "runs".into());
        let new = NewRun { task, phase, status: card.status, sha, worktree_path: None, runs_root: run_dirs, port: None, sandbox: SandboxTier::None };
        let reserved = self.store.db.reserve_run(new).await?;
        let caller = self.store.db.caller(&reserved.token).await?;
        self.callers.extend(caller);
        Ok(())
    }
}

/// Checks the invariants of a board.
fn check(board: &Board, seed: u64) {
    for card in &board.cards {
        let what = format!("seed {seed}: {card:?}");
        assert_eq!(card.status == Status::Cancelled, card.cancel_reason.is_some(), "{what}");
        assert!(card.approved_sha.is_none() || matches!(card.status, Status::InReview | Status::Done), "{what}");
        assert!(card.held_by.is_none() || card.status.is_open(), "{what}");
        assert!(
            card.status != Status::Done
                || card.run.as_ref().is_none_or(|run| run.phase != AgentKind::Reviewer || run.stopping || card.approved_sha.is_some()),
            "{what}"
        );
    }
}

async fn take_in(store: &Store, board: &mut Board) {
    for envelope in store.db.events_after(board.seq, None, u32::MAX).await.unwrap() {
        board.apply(&envelope);
    }
}

async fn history(seed: u64) -> (u32, u32) {
    let approval = if seed.is_multiple_of(2) { PlanApproval::Auto } else { PlanApproval::Ask };
    let (store, _) = Store::plan(approval).await;
    store.task("One").await;
    let mut folded = Board { cards: Vec::new(), seq: 0, ..whole_board(&store.db, &store.project).await.unwrap() };
    take_in(&store, &mut folded).await;
    let mut world = World { store, dice: StdRng::seed_from_u64(seed), callers: vec![Caller::owner(), Caller::Runner] };
    let (mut done, mut refused) = (0, 0);
    let mut rows = world.store.dump().await;
    for step in 0..STEPS {
        let outcome = world.step().await;
        let before = std::mem::replace(&mut rows, world.store.dump().await);
        match outcome {
            Ok(()) => done += 1,
            Err(Error::Refused(_)) => {
                refused += 1;
                assert_eq!(world.store.db.latest(), folded.seq, "seed {seed}, step {step}");
                assert_eq!(rows, before, "seed {seed}, step {step}");
            }
            Err(error) => panic!("seed {seed}, step {step}: {error:?}"),
        }
        take_in(&world.store, &mut folded).await;
        assert_eq!(folded, whole_board(&world.store.db, &world.store.project).await.unwrap(), "seed {seed}, step {step}");
        check(&folded, seed);
    }
    world.store.check_fold().await;
    (done, refused)
}

#[tokio::test]
async fn board_equals_the_fold_of_the_log() {
    let (mut done, mut refused) = (0, 0);
    for seed in 0..HISTORIES {
        let (more_done, more_refused) = history(seed).await;
        (done, refused) = (done + more_done, refused + more_refused);
    }
    assert!(done > 500 && refused > 500, "too one-sided to show anything: {done} done, {refused} refused");
}
