//! The requests by which the person takes part among agents. What becomes of a refusal is said one file up.

use domain::board::goal::{Goal, NewGoal};
use domain::id::{GoalId, ProjectId, TaskId};
use domain::team::agent::Agent;
use domain::team::contract::{Contract, ContractVersion, NewContract};
use domain::team::handshake::Handshake;
use domain::team::message::{Inbox, Message, NewMessage, Unread};
use domain::team::minion::{Minion, SpawnPolicy};
use domain::team::role::Role;
use domain::wire::{
    Assign, CreatedToken, LinkGoal, List, MessageView, NewHandshake, NewToken, Notes, ReadInbox, RejectVerification, RemoveAgent, SetSpawnPolicy,
    TaskView,
};
use gloo_net::http::{Method, Request};
use serde::de::IgnoredAny;

use super::{Client, Failure, empty, project_path, task_path};

/// Which part of what was said is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) task: Option<TaskId>,
    pub(crate) agent: Option<String>,
}

impl Client {
    pub(crate) async fn agents(self, project: ProjectId) -> Result<List<Agent>, Failure> {
        self.get(&project_path(&project, "/agents")).await
    }

    pub(crate) async fn make_token(self, project: ProjectId, new: NewToken) -> Result<CreatedToken, Failure> {
        self.send(Method::POST, &project_path(&project, "/tokens"), &new).await
    }

    pub(crate) async fn make_room_token(self, project: ProjectId) -> Result<CreatedToken, Failure> {
        self.send(Method::POST, &project_path(&project, "/room-token"), &empty()).await
    }

    pub(crate) async fn remove_agent(self, project: ProjectId, name: String) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &project_path(&project, "/agents/remove"), &RemoveAgent { name }).await
    }

    /// The newest `count` messages, or those before one of them, oldest first.
    pub(crate) async fn messages(self, project: ProjectId, said: Said, before: Option<i64>, count: u32) -> Result<List<MessageView>, Failure> {
        let mut query = vec![("count", count.to_string())];
        query.extend(before.map(|before| ("before", before.to_string())));
        query.extend(said.task.map(|task| ("task", task.to_string())));
        query.extend(said.agent.map(|agent| ("agent", agent)));
        let path = project_path(&project, "/messages");
        self.finish(Request::get(&path).query(query.iter().map(|(name, value)| (*name, value.as_str())))).await
    }

    pub(crate) async fn say(self, project: ProjectId, new: NewMessage) -> Result<Message, Failure> {
        self.send(Method::POST, &project_path(&project, "/messages"), &new).await
    }

    /// What the person was written and not given yet.
    pub(crate) async fn unread(self, project: ProjectId) -> Result<Unread, Failure> {
        self.get(&project_path(&project, "/inbox")).await
    }

    pub(crate) async fn read_inbox(self, project: ProjectId, ack: Option<i64>) -> Result<Inbox, Failure> {
        self.send(Method::POST, &project_path(&project, "/inbox/read"), &ReadInbox { ack }).await
    }

    pub(crate) async fn goals(self, project: ProjectId) -> Result<List<Goal>, Failure> {
        self.get(&project_path(&project, "/goals")).await
    }

    pub(crate) async fn create_goal(self, project: ProjectId, new: NewGoal) -> Result<Goal, Failure> {
        self.send(Method::POST, &project_path(&project, "/goals"), &new).await
    }

    /// Signs a goal off.
    pub(crate) async fn verify_goal(self, goal: GoalId, notes: Option<String>) -> Result<Goal, Failure> {
        self.send(Method::POST, &format!("/api/goals/{goal}/verify"), &Notes { notes }).await
    }

    pub(crate) async fn handshakes(self, project: ProjectId) -> Result<List<Handshake>, Failure> {
        self.get(&project_path(&project, "/handshakes")).await
    }

    pub(crate) async fn begin_handshake(self, project: ProjectId, new: NewHandshake) -> Result<Handshake, Failure> {
        self.send(Method::POST, &project_path(&project, "/handshakes"), &new).await
    }

    pub(crate) async fn acknowledge(self, handshake: i64) -> Result<Handshake, Failure> {
        self.send(Method::POST, &format!("/api/handshakes/{handshake}/acknowledge"), &empty()).await
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

    pub(crate) async fn approve(self, task: TaskId, notes: Option<String>) -> Result<TaskView, Failure> {
        self.send(Method::POST, &task_path(&task, "/approve"), &Notes { notes }).await
    }

    pub(crate) async fn verify(self, task: TaskId, notes: Option<String>) -> Result<TaskView, Failure> {
        self.send(Method::POST, &task_path(&task, "/verify"), &Notes { notes }).await
    }

    pub(crate) async fn reject_verification(self, task: TaskId, reason: String) -> Result<TaskView, Failure> {
        self.send(Method::POST, &task_path(&task, "/reject-verification"), &RejectVerification { reason }).await
    }

    /// Gives a task to an agent from outside, or back to those that the runner starts.
    pub(crate) async fn assign(self, task: TaskId, assigned_to: Option<String>, role_hat: Option<Role>) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/assign"), &Assign { assigned_to, role_hat }).await
    }

    pub(crate) async fn link_goal(self, task: TaskId, goal_id: Option<GoalId>) -> Result<IgnoredAny, Failure> {
        self.send(Method::POST, &task_path(&task, "/goal"), &LinkGoal { goal_id }).await
    }
}
