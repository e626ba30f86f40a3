//! The shortest way to a team: agents by token and by room, and what they tell each other.

use std::time::Duration;

use domain::team::agent::Registration;
use domain::team::message::{Inbox, Message, NewMessage};
use domain::team::role::Role;

use crate::engine::tx::NoEventReason;
use crate::tests::store::Store;
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
