//! External agents for tests: how they join, write to each other and work on tasks.

use std::time::Duration;

use domain::board::card::Card;
use domain::board::stage::Stage;
use domain::board::task::{NewTask, Submission, Task, TaskUpdate};
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::team::agent::Registration;
use domain::team::message::{Inbox, Message, NewMessage};
use domain::team::role::Role;

use crate::engine::tx::NoEventReason;
use crate::tests::store::{Store, new_task};
use crate::{Caller, InviteCaller, Result, now};

impl Store {
    /// An agent that the person vouches for.
    pub(super) async fn member(&self, name: &str, roles: &[Role]) -> Caller {
        let token = self.db.create_agent_token(&Caller::Human, &self.project, named(name, roles)).await.unwrap();
        self.db.caller(&token).await.unwrap().unwrap()
    }

    /// One that nobody vouches for.
    pub(super) async fn guest(&self, name: &str) -> Caller {
        let token = self.db.register(&self.room(), &self.project, named(name, &[]), None).await.unwrap().token.unwrap();
        self.db.caller(&token).await.unwrap().unwrap()
    }

    pub(super) fn room(&self) -> Caller {
        Caller::Invite(InviteCaller { project_id: self.project.clone(), call_id: None })
    }

    pub(super) async fn say(&self, from: &Caller, to: &str, content: &str) -> Result<Message> {
        Ok(self.db.send(from, &self.project, message(to, content)).await?.message)
    }

    /// What the agent is given, with what was given before.
    pub(super) async fn inbox(&self, who: &Caller) -> Inbox {
        self.db.check_inbox(who, &self.project, None).await.unwrap()
    }

    /// The same in words: what is given again stands in brackets.
    pub(super) async fn hears(&self, who: &Caller) -> Vec<String> {
        words(&self.inbox(who).await)
    }

    /// Lets an agent fall silent for so long that nobody listens behind its name, in a process that was there all the time.
    pub(super) async fn silence(&self, name: &str) {
        self.db.presence.listen_since(now().before(Duration::from_secs(600)));
        self.backdate("UPDATE agents SET last_seen = $1, heartbeat_at = $1 WHERE name = $2", Duration::from_secs(600), name).await;
    }

    /// Lets it have registered a minute ago.
    pub(super) async fn registered_a_minute_ago(&self, name: &str) {
        self.backdate("UPDATE agents SET registered_at = $1 WHERE name = $2", Duration::from_secs(60), name).await;
    }

    /// Runs a statement with the time `ago` as `$1` and a name or an id as `$2`.
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

pub(super) fn message(to: &str, content: &str) -> NewMessage {
    NewMessage { to: to.to_owned(), content: content.to_owned(), cc: Vec::new(), task_id: None, reply_to: None }
}

pub(super) fn call(caller: &Caller, id: &str) -> Caller {
    caller.clone().with_call_id(Some(id.to_owned()))
}

/// The contents in the order of the answer: what was given before stands in brackets.
pub(super) fn words(inbox: &Inbox) -> Vec<String> {
    let word = |content: &str, again: bool| if again { format!("({content})") } else { content.to_owned() };
    inbox.messages.iter().map(|given| word(&given.message.content, given.redelivered)).collect()
}

/// A lead, a builder and a tester.
pub(super) struct Crew {
    pub(super) lena: Caller,
    pub(super) ben: Caller,
    pub(super) tess: Caller,
}

pub(super) async fn crew(store: &Store) -> Crew {
    Crew {
        lena: store.member("lena", &[Role::Lead]).await,
        ben: store.member("ben", &[Role::Builder]).await,
        tess: store.member("tess", &[Role::Tester]).await,
    }
}

/// A task that is given to somebody from outside.
pub(super) async fn assigned(store: &Store, title: &str, to: &str) -> TaskId {
    let new = NewTask { assigned_to: Some(to.to_owned()), ..new_task(title) };
    store.db.create_task(&Caller::Human, &store.project, new).await.unwrap().card.id
}

/// Lets the assignee begin it and hand it in.
pub(super) async fn hand_in(store: &Store, task: &TaskId, by: &Caller) {
    stage(store, by, task, Stage::InProgress).await.unwrap();
    store.db.submit_for_review(by, task, submission("Done as asked")).await.unwrap();
}

/// The same, approved by a lead.
pub(super) async fn completed(store: &Store, title: &str, crew: &Crew) -> TaskId {
    let task = assigned(store, title, "ben").await;
    hand_in(store, &task, &crew.ben).await;
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

pub(super) fn hands(card: &Card) -> String {
    let name = |name: &Option<String>| name.clone().unwrap_or_else(|| "-".to_owned());
    let hands = &card.contributors;
    format!("{} / {} / {} / {}", name(&hands.assigned_to), hands.built_by.join("+"), name(&hands.approved_by), name(&hands.verified_by))
}

/// What `name` was written, oldest first: from whom, the first line, and whether as a copy.
pub(super) async fn told(store: &Store, name: &str) -> Vec<String> {
    let rows: Vec<(String, String, bool)> = sqlx::query_as("SELECT from_agent, content, is_cc FROM messages WHERE to_agent = $1 ORDER BY id")
        .bind(name)
        .fetch_all(&store.db.readers)
        .await
        .unwrap();
    let line = |content: &str| content.lines().next().unwrap_or_default().to_owned();
    rows.iter().map(|(from, content, copy)| format!("{from}: {}{}", line(content), if *copy { " (copy)" } else { "" })).collect()
}
