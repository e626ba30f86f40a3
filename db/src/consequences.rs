//! Applies the consequences of each cause in the same transaction. Use cases of different nouns meet only here.
//!
//! | cause | consequences |
//! |---|---|
//! | a task changed ([`task_changed`]) | attention of its dependents, the status of its goal, a round of orchestration, the status of the project; when that is complete, plans of managed agents end and routine entries of the raid log go |
//! | a task moved ([`task_moved`]) | the result of its managed agents is derived when it is done, they leave when it is finished, the claims of one that is put back pass on, notices to leads and assignee, its question is closed |
//! | an agent joined ([`agent_joined`]) | it receives the broadcasts that it missed, the attention that it had left is cleared from its tasks |
//! | an agent left ([`agent_left`]) | its minions fail, its claims pass on, handshakes stop waiting for it, its open tasks need attention |
//! | a person left ([`person_left`]) | handshakes stop waiting for them, the senders of what they have not read are notified |
//! | a project was removed ([`project_removed`]) | all rows about it are removed, and its events are replaced by empty ones |
//! | the questions to a managed oracle changed ([`oracle_questions`]) | its task opens, or is done |
//! | a run ended ([`run_ended`]) | its minions fail, its inbox is settled, the claims of an attempt that failed or was stopped pass on, a failure is retried or needs attention |
//!
//! Must not decide whether a cause is legal.

pub(crate) mod agent_joined;
pub(crate) mod agent_left;
pub(crate) mod oracle_questions;
pub(crate) mod person_left;
pub(crate) mod project_removed;
pub(crate) mod run_ended;
pub(crate) mod task_changed;
pub(crate) mod task_moved;
