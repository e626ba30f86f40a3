//! Counts requests against the limits of their caller. Must not know tools or routes.

use domain::rate_limit::Cost;
use domain::refusal::Refusal;

use crate::caller::{Caller, agent_call_scope, invite_call_scope};
use crate::engine::act::Act;
use crate::engine::open::Db;

impl Db {
    /// Counts a request of a caller before it is carried out. An agent has one allowance, also after it replaced its token. A person has one
    /// for each token and browser. The server itself has no limit.
    ///
    /// # Errors
    /// When the caller has to wait. Then nothing is counted.
    pub fn spend(&self, caller: &Caller, act: &Act, cost: Cost) -> Result<(), Refusal> {
        let key = match caller {
            Caller::Runner => return Ok(()),
            Caller::Person(_) => act.credential.clone().unwrap_or_default(),
            Caller::Run(run) => run.run_id.to_string(),
            Caller::Agent(agent) => agent_call_scope(&agent.project_id, &agent.name),
            Caller::Invite(invite) => invite_call_scope(&invite.project_id),
        };
        Ok(self.rate_limiter.spend(key, cost, crate::uptime())?)
    }
}
