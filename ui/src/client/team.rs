//! Requests about persons, browser sessions, agents, messages, handshakes, contracts, assignment and helpers.

use domain::id::{ProjectId, TaskId};
use domain::team::agent::Agent;
use domain::team::browser_session::BrowserSession;
use domain::team::contract::{Contract, ContractVersion, NewContract};
use domain::team::handshake::Handshake;
use domain::team::message::{Inbox, Message, NewMessage, Unread};
use domain::team::minion::{Minion, SpawnPolicy};
use domain::team::pairing::{NewPairing, Pairing};
use domain::team::person::{NewPerson, Person, PersonPatch, PersonRole};
use domain::team::role::Role;
use domain::team::token::{Token, TokenName};
use domain::wire::{
    Assign, CreatedPersonToken, CreatedToken, List, MessageView, NewHandshake, NewToken, ReadInbox, RemoveAgent, SetSpawnPolicy, TokenPatch,
};
use gloo_net::http::{Method, Request};
use serde::de::IgnoredAny;

use super::{Client, Empty, Failure, project_path, task_path};

/// The part of a project's messages to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MessageFilter {
    pub(crate) task: Option<TaskId>,
    pub(crate) agent: Option<String>,
}

impl Client {
    pub(crate) async fn agents(self, project: ProjectId) -> Result<List<Agent>, Failure> {
        self.get(&project_path(&project, "/agents?departed=true")).await
    }

    pub(crate) async fn create_token(self, project: ProjectId, new: NewToken) -> Result<CreatedToken, Failure> {
        self.send(Method::POST, &project_path(&project, "/tokens"), &new).await
    }

    pub(crate) async fn create_invite_token(self, project: ProjectId) -> Result<CreatedToken, Failure> {
        self.send(Method::POST, &project_path(&project, "/invite-token"), &Empty {}).await
    }

    pub(crate) async fn remove_agent(self, project: ProjectId, name: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/agents/remove"), &RemoveAgent { name }).await
    }

    /// The newest `count` messages, or those before the message `before`, oldest first.
    pub(crate) async fn messages(
        self,
        project: ProjectId,
        filter: MessageFilter,
        before: Option<i64>,
        count: u32,
    ) -> Result<List<MessageView>, Failure> {
        let mut query = vec![("count", count.to_string())];
        query.extend(before.map(|before| ("before", before.to_string())));
        query.extend(filter.task.map(|task| ("task", task.to_string())));
        query.extend(filter.agent.map(|agent| ("agent", agent)));
        let path = project_path(&project, "/messages");
        self.finish(Request::get(&path).query(query.iter().map(|(name, value)| (*name, value.as_str())))).await
    }

    pub(crate) async fn send_message(self, project: ProjectId, new: NewMessage) -> Result<Message, Failure> {
        self.send(Method::POST, &project_path(&project, "/messages"), &new).await
    }

    /// Messages to the reader that are not read yet.
    pub(crate) async fn unread(self, project: ProjectId) -> Result<Unread, Failure> {
        self.get(&project_path(&project, "/inbox")).await
    }

    /// Marks one message to the reader as read.
    pub(crate) async fn read_message(self, message: i64) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &format!("/api/messages/{message}/read"), &Empty {}).await
    }

    pub(crate) async fn read_inbox(self, project: ProjectId, ack: Option<i64>) -> Result<Inbox, Failure> {
        self.send(Method::POST, &project_path(&project, "/inbox/read"), &ReadInbox { ack }).await
    }

    pub(crate) async fn persons(self) -> Result<List<Person>, Failure> {
        self.get("/api/persons").await
    }

    pub(crate) async fn add_person(self, new: NewPerson) -> Result<Person, Failure> {
        self.send(Method::POST, "/api/persons", &new).await
    }

    pub(crate) async fn change_person_role(self, person: i64, role: PersonRole) -> Result<Person, Failure> {
        self.send(Method::PATCH, &format!("/api/persons/{person}"), &PersonPatch { role }).await
    }

    pub(crate) async fn remove_person(self, person: i64) -> Result<IgnoredAny, Failure> {
        self.send(Method::DELETE, &format!("/api/persons/{person}"), &Empty {}).await
    }

    /// Creates a person's token and sign-in link. Earlier ones are revoked, and the person's browsers signed out.
    pub(crate) async fn create_person_token(self, person: i64) -> Result<CreatedPersonToken, Failure> {
        self.send(Method::POST, &format!("/api/persons/{person}/token"), &Empty {}).await
    }

    /// Tokens, newest first, after the first `after`.
    pub(crate) async fn tokens(self, after: i64) -> Result<List<Token>, Failure> {
        self.get(&format!("/api/tokens?after={after}")).await
    }

    pub(crate) async fn change_token(self, name: TokenName, patch: TokenPatch) -> Result<IgnoredAny, Failure> {
        self.send(Method::PATCH, &format!("/api/tokens/{name}"), &patch).await
    }

    pub(crate) async fn revoke_token(self, name: TokenName) -> Result<IgnoredAny, Failure> {
        self.send(Method::DELETE, &format!("/api/tokens/{name}"), &Empty {}).await
    }

    pub(crate) async fn sessions(self) -> Result<List<BrowserSession>, Failure> {
        self.get("/api/sessions").await
    }

    /// Creates the link that signs a phone in.
    pub(crate) async fn pair(self, new: NewPairing) -> Result<Pairing, Failure> {
        self.send(Method::POST, "/api/pairings", &new).await
    }

    pub(crate) async fn revoke_session(self, session: i64) -> Result<IgnoredAny, Failure> {
        self.send(Method::DELETE, &format!("/api/sessions/{session}"), &Empty {}).await
    }

    pub(crate) async fn handshakes(self, project: ProjectId) -> Result<List<Handshake>, Failure> {
        self.get(&project_path(&project, "/handshakes")).await
    }

    pub(crate) async fn initiate_handshake(self, project: ProjectId, new: NewHandshake) -> Result<Handshake, Failure> {
        self.send(Method::POST, &project_path(&project, "/handshakes"), &new).await
    }

    pub(crate) async fn acknowledge(self, handshake: i64) -> Result<Handshake, Failure> {
        self.send(Method::POST, &format!("/api/handshakes/{handshake}/acknowledge"), &Empty {}).await
    }

    pub(crate) async fn contracts(self, project: ProjectId) -> Result<List<Contract>, Failure> {
        self.get(&project_path(&project, "/contracts")).await
    }

    pub(crate) async fn declare(self, project: ProjectId, new: NewContract) -> Result<Contract, Failure> {
        self.send(Method::POST, &project_path(&project, "/contracts"), &new).await
    }

    pub(crate) async fn versions(self, contract: i64) -> Result<List<ContractVersion>, Failure> {
        self.get(&format!("/api/contracts/{contract}/versions")).await
    }

    pub(crate) async fn spawn_policies(self, project: ProjectId) -> Result<List<SpawnPolicy>, Failure> {
        self.get(&project_path(&project, "/spawn-policies")).await
    }

    pub(crate) async fn set_spawn_policy(self, project: ProjectId, policy: SetSpawnPolicy) -> Result<SpawnPolicy, Failure> {
        self.send(Method::PUT, &project_path(&project, "/spawn-policies"), &policy).await
    }

    pub(crate) async fn minions(self, project: ProjectId) -> Result<List<Minion>, Failure> {
        self.get(&project_path(&project, "/minions")).await
    }

    /// Assigns a task to an external agent, or back to managed agents.
    pub(crate) async fn assign(self, task: TaskId, assigned_to: Option<String>, role_hat: Option<Role>) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/assign"), &Assign { assigned_to, role_hat }).await
    }
}
