//! Three pairs of eyes hold in long random histories of assignees, leads, testers, untrusted agents and the human.

use std::collections::BTreeSet;

use domain::board::card::Card;
use domain::board::goal::NewGoal;
use domain::board::reducer::Board;
use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::{NewTask, TaskUpdate};
use domain::id::GoalId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::team::hat::hats_conflict;
use domain::team::role::Role;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::tests::external_agents::{complete_result, submission};
use crate::tests::store::{Store, evidence, head, new_task, whole_board};
use crate::{Caller, Error, MoveRequest, Result};

const HISTORIES: u64 = 6;
const STEPS: u32 = 300;

struct World {
    store: Store,
    dice: StdRng,
    callers: Vec<Caller>,
    goals: Vec<GoalId>,
}

impl World {
    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.dice.random_range(0..from.len())].clone()
    }

    fn name(&mut self) -> String {
        self.pick(&["ben", "lena", "tess", "rob", "pia", "human", "coder-TASK-001"]).to_owned()
    }

    fn hat(&mut self) -> Option<Role> {
        self.pick(&[None, None, None, None, Some(Role::Pen), Some(Role::Fixer), Some(Role::Tester), Some(Role::Shipper)])
    }

    /// Takes one step as a random caller on a random path.
    async fn step(&mut self) -> Result<()> {
        let (db, project) = (self.store.db.clone(), self.store.project.clone());
        let cards = whole_board(&db, &project).await?.cards;
        let card = self.pick(&cards);
        let task = card.id;
        // Choose the assignee often, so that work progresses.
        let assignee = self.callers.iter().find(|caller| caller.name().is_some() && caller.name() == card.contributors.assigned_to).cloned();
        let caller = match assignee.filter(|_| self.dice.random_range(0..3) == 0) {
            Some(assignee) => assignee,
            None => self.pick(&self.callers.clone()),
        };
        let (name, hat, goal) = (self.name(), self.hat(), self.pick(&self.goals.clone()));
        let found = self.pick(&[EvidenceResult::Nothing, EvidenceResult::Nothing, evidence(), head("head")]);
        // Mostly choose the next legal stage.
        let next = match card.status {
            _ if self.dice.random_range(0..3) == 0 => self.dice.random_range(0..24),
            Status::Backlog if card.contributors.assigned_to.is_none() => 19,
            Status::Backlog => 2,
            Status::InProgress => 8,
            Status::InReview => 10,
            Status::Done => 13,
            Status::Cancelled => 0,
        };
        match next {
            0 | 1 => {
                let assigned_to = self.dice.random::<bool>().then_some(name);
                // Other callers are refused; trying it every time adds nothing.
                let leads = ["human", "lena"].map(Some).contains(&caller.name().as_deref());
                let goal_id = (leads || self.dice.random_range(0..5) == 0).then_some(goal);
                let new = NewTask { assigned_to, role_hat: hat, goal_id, ..new_task("Task") };
                db.create_task(&caller, &project, new).await.map(drop)
            }
            2..8 => {
                let stage = self.pick(&[
                    None,
                    Some(Stage::Assigned),
                    Some(Stage::InProgress),
                    Some(Stage::Review),
                    Some(Stage::Completed),
                    Some(Stage::Verified),
                    Some(Stage::Failed),
                ]);
                let assigned_to = (self.dice.random_range(0..3) == 0).then_some(name);
                let update = TaskUpdate { stage, assigned_to, result: self.dice.random::<bool>().then(|| "Words".to_owned()) };
                db.update_task(&caller, &task, update, found).await.map(drop)
            }
            8..10 => {
                db.submit_result(&caller, &task, complete_result()).await?;
                db.submit_for_review(&caller, &task, submission("Done")).await.map(drop)
            }
            10..12 => db.approve_task(&caller, &task, None, found).await.map(drop),
            12 => db.reject_task(&caller, &task, "Not yet").await.map(drop),
            13..16 => db.verify_task(&caller, &task, None).await.map(drop),
            16 => db.reject_verification(&caller, &task, "No").await.map(drop),
            17..19 => {
                let to = self.pick(Status::ALL);
                let request = MoveRequest { to, reason: Some("failed".to_owned()), merge: self.dice.random() };
                db.move_task(&caller, &task, request, found).await.map(drop)
            }
            19 => db.assign_task(&caller, &task, self.dice.random::<bool>().then_some(name), hat).await.map(drop),
            20 => db.assign_role_hat(&caller, &task, hat.unwrap_or(Role::Builder)).await.map(drop),
            21 => db.verify_goal(&caller, &goal, None).await.map(drop),
            22 => db.link_task(&caller, &task, self.dice.random::<bool>().then_some(&goal)).await.map(drop),
            _ => {
                // Sometimes a managed coder takes an unassigned task.
                db.start_task(&Caller::owner(), &task).await?;
                let reserved = self.store.reserve(&task, AgentKind::Coder, "base").await?;
                self.store.end(&reserved.run.id, domain::runs::failure::EndClass::Stopped, None).await;
                Ok(())
            }
        }
    }

    async fn cards(&self) -> Vec<Card> {
        whole_board(&self.store.db, &self.store.project).await.unwrap().cards
    }

    async fn approvals(&self) -> BTreeSet<(String, String)> {
        let all =
            sqlx::query_as("SELECT task_id, agent_name FROM contributions WHERE kind = 'approved'").fetch_all(&self.store.db.readers).await.unwrap();
        all.into_iter().collect()
    }

    /// Checks the invariants against the cards and approvals before the step.
    async fn check(&self, before: &[Card], approved_before: &BTreeSet<(String, String)>, what: &str) {
        let (db, project) = (&self.store.db, &self.store.project);
        let approvals = self.approvals().await;
        for (task, approver) in approvals.difference(approved_before) {
            let card = before.iter().find(|card| card.id.as_str() == task).unwrap();
            // Only the human may approve their own work.
            assert!(approver == "human" || !card.contributors.built_by.contains(approver), "{what}: {approver} approved {card:?}");
        }
        for card in self.cards().await {
            let Some(verifier) = &card.contributors.verified_by else { continue };
            assert_eq!(card.status, Status::Done, "{what}");
            assert!(!card.contributors.built_by.contains(verifier), "{what}: {card:?}");
            assert!(!approvals.contains(&(card.id.to_string(), verifier.clone())), "{what}: {card:?}");
            assert!(verifier != "rob", "{what}: rob is not trusted");
        }
        let hats = db.hats(project).await.unwrap();
        for one in &hats {
            let clash = hats.iter().find(|other| other.agent_name == one.agent_name && hats_conflict(one.role_hat, other.role_hat));
            assert_eq!(clash, None, "{what}: {one:?}");
        }
        for goal in db.goals(project).await.unwrap() {
            assert_eq!(goal.status.after_progress(goal.progress), goal.status, "{what}: {goal:?}");
        }
    }
}

/// Counts completed tasks, verified tasks and refusals for lack of independence.
async fn history(seed: u64) -> [usize; 3] {
    let store = Store::board().await;
    let any = [Role::Pen, Role::Builder, Role::Fixer, Role::Tester, Role::Shipper];
    let mut callers = vec![Caller::owner(), store.member("lena", &[Role::Lead]).await, store.guest("rob").await];
    for name in ["ben", "tess", "pia"] {
        callers.push(store.member(name, &any).await);
    }
    let mut goals = Vec::new();
    for title in ["One", "Two"] {
        let new = NewGoal { title: title.to_owned(), description: None };
        goals.push(store.db.create_goal(&Caller::owner(), &store.project, new).await.unwrap().id);
    }
    store.task("One").await;
    let mut world = World { store, dice: StdRng::seed_from_u64(seed), callers, goals };
    let (mut done, mut dependent) = (0, 0);
    let mut folded = Board { cards: Vec::new(), seq: 0, ..whole_board(&world.store.db, &world.store.project).await.unwrap() };
    for step in 0..STEPS {
        let what = format!("seed {seed}, step {step}");
        let (cards, approvals) = (world.cards().await, world.approvals().await);
        match world.step().await {
            Ok(()) => done += 1,
            Err(Error::Refused(refused)) => dependent += usize::from(refused.code() == "not-independent"),
            Err(error) => panic!("{what}: {error:?}"),
        }
        world.check(&cards, &approvals, &what).await;
    }
    let verified = world.store.kinds_since(0).await.into_iter().filter(|kind| *kind == "task_verified").count();
    for envelope in world.store.db.events_after(0, None, u32::MAX).await.unwrap() {
        folded.apply(&envelope);
    }
    assert_eq!(folded, whole_board(&world.store.db, &world.store.project).await.unwrap(), "seed {seed}");
    [done, verified, dependent]
}

#[tokio::test]
async fn no_contributor_verifies_its_own_work() {
    let mut sum = [0; 3];
    for seed in 0..HISTORIES {
        sum.iter_mut().zip(history(seed).await).for_each(|(sum, more)| *sum += more);
    }
    assert!(sum[0] > 200 && sum[1] >= 10 && sum[2] >= 10, "too one-sided to show anything: {sum:?}");
}
