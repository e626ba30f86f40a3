//! External agents for tests: how they join, write to each other and work on tasks.

use std::time::Duration;

use domain::board::card::Card;
use domain::board::stage::Stage;
use domain::board::task::{NewTask, Submission, Task, TaskUpdate};
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::team::agent::{Registration, is_short_for};
use domain::team::message::{Inbox, Message, NewMessage};
use domain::team::role::Role;
use domain::team::token::{Permissions, TokenTerms};
use domain::warroom::battle_plan::NewBattlePlan;
use domain::warroom::handover::NewHandover;
use domain::warroom::result::NewTaskResult;

use crate::engine::tx::NoEventReason;
use crate::tests::store::{Store, new_task};
use crate::{AgentCaller, Caller, InviteCaller, Result, now};

impl Store {
    /// Registers a trusted agent.
    pub(super) async fn member(&self, name: &str, roles: &[Role]) -> Caller {
        let token = self.db.create_agent_token(&Caller::owner(), &self.project, named(name, roles), TokenTerms::default()).await.unwrap();
        self.db.caller(&token).await.unwrap().unwrap()
    }

    /// Registers an agent with an invite token.
    pub(super) async fn guest(&self, name: &str) -> Caller {
        let token = self.db.register(&self.invite(), &self.project, named(name, &[]), None).await.unwrap().token.unwrap();
        self.db.caller(&token).await.unwrap().unwrap()
    }

    pub(super) fn invite(&self) -> Caller {
        Caller::Invite(InviteCaller { project_id: self.project.clone(), permissions: Permissions::default(), expires_at: None, call_id: None })
    }

    /// Sets a battle plan, so that external leads may create and assign tasks.
    pub(super) async fn plan_battle(&self) {
        let new = NewBattlePlan { plan: "Win".to_owned(), ..NewBattlePlan::default() };
        self.db.set_battle_plan(&Caller::owner(), &self.project, new).await.unwrap();
    }

    /// Removes an agent, after it handed over.
    pub(super) async fn leaves(&self, by: &Caller, name: &str) {
        let full = self.db.agents(&self.project).await.unwrap().into_iter().map(|agent| agent.name).find(|full| is_short_for(name, full)).unwrap();
        let own = AgentCaller { project_id: self.project.clone(), name: full, permissions: Permissions::default(), call_id: None };
        self.db.hand_over(&Caller::Agent(own), &self.project, manifest("Nothing is open.")).await.unwrap();
        self.db.deregister(by, &self.project, name).await.unwrap();
    }

    pub(super) async fn send(&self, from: &Caller, to: &str, content: &str) -> Result<Message> {
        Ok(self.db.send(from, &self.project, message(to, content)).await?.message)
    }

    /// Checks the agent's inbox, redelivered messages included.
    pub(super) async fn inbox(&self, who: &Caller) -> Inbox {
        self.db.check_inbox(who, &self.project, None).await.unwrap()
    }

    /// Checks the inbox and returns the texts. Redelivered ones are in brackets.
    pub(super) async fn inbox_texts(&self, who: &Caller) -> Vec<String> {
        message_texts(&self.inbox(who).await)
    }

    /// Makes an agent unresponsive: its last heartbeat is ten minutes old, and this process has tracked heartbeats for as long.
    pub(super) async fn make_unresponsive(&self, name: &str) {
        self.db.presence.listen_since(now().before(Duration::from_secs(600)));
        self.backdate("UPDATE agents SET last_seen = $1, heartbeat_at = $1 WHERE name = $2", Duration::from_secs(600), name).await;
    }

    /// Backdates the agent's registration by a minute.
    pub(super) async fn registered_a_minute_ago(&self, name: &str) {
        self.backdate("UPDATE agents SET registered_at = $1 WHERE name = $2", Duration::from_secs(60), name).await;
    }

    /// Runs a statement with the time `ago` as `$1` and a name or id as `$2`.
    pub(super) async fn backdate(&self, statement: &'static str, ago: Duration, of: &str) {
        let of = of.to_owned();
        let write = self.db.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::Heartbeat);
                sqlx::query(statement).bind(now().before(ago).to_string()).bind(of).execute(&mut tx.connection).await?;
                Ok(())
            })
        });
        write.await.unwrap();
    }
}

pub(super) fn named(name: &str, roles: &[Role]) -> Registration {
    Registration { name: name.to_owned(), roles: roles.to_vec(), ..Registration::default() }
}

pub(super) fn manifest(text: &str) -> NewHandover {
    NewHandover { manifest: text.to_owned(), files: Vec::new() }
}

pub(super) fn message(to: &str, content: &str) -> NewMessage {
    NewMessage { to: to.to_owned(), content: content.to_owned(), cc: Vec::new(), task_id: None, reply_to: None }
}

pub(super) fn call(caller: &Caller, id: &str) -> Caller {
    caller.clone().with_call_id(Some(id.to_owned()))
}

/// Returns the texts in the order of the response. Redelivered ones are in brackets.
pub(super) fn message_texts(inbox: &Inbox) -> Vec<String> {
    let word = |content: &str, again: bool| if again { format!("({content})") } else { content.to_owned() };
    inbox.messages.iter().map(|given| word(&given.message.content, given.redelivered)).collect()
}

/// A lead, a builder and a tester.
pub(super) struct Crew {
    pub(super) lena: Caller,
    pub(super) ben: Caller,
    pub(super) tess: Caller,
}

/// They have a battle plan.
pub(super) async fn crew(store: &Store) -> Crew {
    store.plan_battle().await;
    Crew {
        lena: store.member("lena", &[Role::Lead]).await,
        ben: store.member("ben", &[Role::Builder]).await,
        tess: store.member("tess", &[Role::Tester]).await,
    }
}

/// Creates a task that is assigned to an external agent.
pub(super) async fn assigned(store: &Store, title: &str, to: &str) -> TaskId {
    let new = NewTask { assigned_to: Some(to.to_owned()), ..new_task(title) };
    store.db.create_task(&Caller::owner(), &store.project, new).await.unwrap().card.id
}

/// Lets the assignee start the task and submit it, with its result.
pub(super) async fn submit(store: &Store, task: &TaskId, by: &Caller) {
    stage(store, by, task, Stage::InProgress).await.unwrap();
    leave_result(store, task, by).await;
    store.db.submit_for_review(by, task, submission("Done as asked")).await.unwrap();
}

/// Submits a complete result of a task.
pub(super) async fn leave_result(store: &Store, task: &TaskId, by: &Caller) {
    store.db.submit_result(by, task, complete_result()).await.unwrap();
}

pub(super) fn complete_result() -> NewTaskResult {
    let content = "# What I tried\nA trie\n# What worked\nThe trie\n# Next agent\nUmlauts: src/search.rs:12".to_owned();
    NewTaskResult { content, file: None }
}

/// Creates a task that was submitted and approved by a lead.
pub(super) async fn completed(store: &Store, title: &str, crew: &Crew) -> TaskId {
    let task = assigned(store, title, "ben").await;
    submit(store, &task, &crew.ben).await;
    store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await.unwrap();
    task
}

pub(super) fn submission(summary: &str) -> Submission {
    Submission { summary: summary.to_owned(), files_changed: None, test_results: None }
}

pub(super) async fn stage(store: &Store, caller: &Caller, task: &TaskId, stage: Stage) -> Result<Task> {
    update(store, caller, task, TaskUpdate { stage: Some(stage), ..TaskUpdate::default() }).await
}

pub(super) async fn update(store: &Store, caller: &Caller, task: &TaskId, update: TaskUpdate) -> Result<Task> {
    store.db.update_task(caller, task, update, EvidenceResult::Nothing).await
}

pub(super) fn contributors(card: &Card) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
    let card = &card.contributors;
    format!("{} / {} / {} / {}", name(&card.assigned_to), card.built_by.join("+"), name(&card.approved_by), name(&card.verified_by))
}

/// Lists the messages that `name` received by name, oldest first: sender, first line, and whether it is a copy.
pub(super) async fn messages_to(store: &Store, name: &str) -> Vec<String> {
    let select = "SELECT m.from_agent, m.content, d.kind = 'copy' FROM messages m JOIN deliveries d ON d.message_id = m.id
        WHERE d.recipient = $1 AND d.kind <> 'broadcast' ORDER BY m.id";
    let rows: Vec<(String, String, bool)> = sqlx::query_as(select).bind(name).fetch_all(&store.db.readers).await.unwrap();
    let line = |content: &str| content.lines().next().unwrap_or_default().to_owned();
    rows.iter().map(|(from, content, copy)| format!("{from}: {}{}", line(content), if *copy { " (copy)" } else { "" })).collect()
}
