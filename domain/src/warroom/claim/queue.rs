//! The claims and the waiting agents of one repository, and the rules by which a path passes to an agent. Must not know how they are stored.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Claim, ClaimPath, ClaimWait};
use crate::id::ProjectId;

/// The claims of a repository by path, and the agents that wait in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Claims {
    pub claims: Vec<Claim>,
    pub waits: Vec<ClaimWait>,
}

/// The answer to an agent that asks for a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision<'c> {
    /// A claim of its own covers the path.
    Held(&'c Claim),
    Free,
    /// Another agent holds it, and `ahead` agents wait for it already.
    Taken {
        holder: &'c Claim,
        ahead: usize,
    },
    /// The holder waits, perhaps through others, for a path that the agent holds.
    Deadlock {
        holder: &'c Claim,
        wanted: &'c ClaimWait,
    },
}

/// An agent of a project.
type Holder<'c> = (&'c ProjectId, &'c str);

impl Claims {
    pub fn decide<'c>(&'c self, project: &'c ProjectId, agent: &'c str, path: &'c ClaimPath) -> Decision<'c> {
        let who = (project, agent);
        if let Some(own) = self.claims.iter().find(|claim| holder(claim) == who && claim.path.covers(path)) {
            return Decision::Held(own);
        }
        let Some(taken) = self.blocking(who, path).next() else { return Decision::Free };
        if let Some(wanted) = self.blocking(who, path).find_map(|claim| self.wait_for(holder(claim), who, &mut BTreeSet::new())) {
            return Decision::Deadlock { holder: taken, wanted };
        }
        let ahead = self.waits.iter().take_while(|wait| waiter(wait) != who || wait.path != *path).filter(|wait| wait.path.overlaps(path)).count();
        Decision::Taken { holder: taken, ahead }
    }

    /// The waiting agents whose paths are free, in their order: each of them gets its path, so that a later one may have to wait for it.
    pub fn next_in_line(&self) -> Vec<&ClaimWait> {
        let mut chosen: Vec<&ClaimWait> = Vec::new();
        for wait in &self.waits {
            let is_chosen = |other: &&ClaimWait| waiter(other) != waiter(wait) && other.path.overlaps(&wait.path);
            if self.blocking(waiter(wait), &wait.path).next().is_none() && !chosen.iter().any(is_chosen) {
                chosen.push(wait);
            }
        }
        chosen
    }

    /// The claim that an agent in line waits for.
    pub fn holder_for<'c>(&'c self, wait: &'c ClaimWait) -> Option<&'c Claim> {
        self.blocking(waiter(wait), &wait.path).next()
    }

    /// The claims of other agents that keep `who` from a path.
    fn blocking<'s>(&'s self, who: Holder<'s>, path: &'s ClaimPath) -> impl Iterator<Item = &'s Claim> {
        self.claims.iter().filter(move |claim| holder(claim) != who && claim.path.overlaps(path))
    }

    /// Returns the wait of an agent, or of those that it waits for, that ends only if `target` releases something.
    fn wait_for<'s>(&'s self, agent: Holder<'s>, target: Holder<'s>, visited: &mut BTreeSet<Holder<'s>>) -> Option<&'s ClaimWait> {
        if !visited.insert(agent) {
            return None;
        }
        self.waits.iter().filter(|wait| waiter(wait) == agent).find_map(|wait| {
            let holders: Vec<Holder<'_>> = self.blocking(agent, &wait.path).map(holder).collect();
            if holders.contains(&target) {
                return Some(wait);
            }
            holders.into_iter().find_map(|next| self.wait_for(next, target, visited))
        })
    }
}

fn holder(claim: &Claim) -> Holder<'_> {
    (&claim.project_id, &claim.agent)
}

fn waiter(wait: &ClaimWait) -> Holder<'_> {
    (&wait.project_id, &wait.agent)
}

#[cfg(test)]
mod tests;
