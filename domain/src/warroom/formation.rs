//! Formations: how many agents of which class suit a repository of its size, and the work that is ready. A proposal, which a person applies.
//!
//! It must not know how a repository is measured, or who applies what.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::vocabulary::vocabulary;

/// The most lines that are worth counting: from here on, more change nothing.
pub const MAX_LINES: u64 = 500_000;

vocabulary! {
    /// The size of a team, from the smallest to the largest.
    FormationName, "formation" {
        /// Less than 50,000 lines: a coder knows all of it.
        Skirmish = "skirmish",
        /// Less than 200,000 lines: one oracle knows all of it.
        Dungeon = "dungeon",
        /// Less than 500,000 lines: oracles divide it into zones.
        Raid = "raid",
        /// More: leads divide it too.
        WorldBoss = "world_boss",
    }
}

/// The facts that decide a proposal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormationFacts {
    /// Lines of text in the repository, counted up to [`MAX_LINES`].
    pub lines: u64,
    /// The zones of the project, each with whether it has an oracle.
    pub zones: Vec<(String, bool)>,
    /// Open tasks of coders that wait for no other task.
    pub independent_tasks: u32,
    /// How many coders of the project work at the same time at most, if that is limited.
    pub max_coders: Option<u32>,
    /// How many managed agents of all projects work at the same time at most.
    pub max_parallel_agents: u32,
}

/// How many agents to have at the same time. `GET /api/projects/{id}/formation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Formation {
    pub formation: FormationName,
    /// The lines of text in the repository; 500,000 stands for that and more.
    pub lines: u64,
    /// Open tasks of coders that wait for no other task.
    pub independent_tasks: u32,
    /// Leads of the project, with one for each part of it in the largest formation.
    pub leads: u32,
    pub oracles: u32,
    /// Agents that look into single questions.
    pub recons: u32,
    /// Never more than there are independent tasks, but one.
    pub coders: u32,
    /// Agents that build and test; reviewers are of this class.
    pub builders: u32,
    /// Zones without an oracle, which coders have to explore by themselves.
    pub zones_without_oracle: Vec<String>,
    /// How many coders of the project may work at the same time now. None: only the configuration limits them.
    pub max_coders: Option<u32>,
    /// How many managed agents the configuration allows now, in all projects.
    pub max_parallel_agents: u32,
    /// The line for the configuration file, if it allows fewer agents than the coders and builders of the proposal.
    pub configuration: Option<String>,
}

impl FormationName {
    pub const fn of(lines: u64) -> Self {
        match lines {
            ..50_000 => Self::Skirmish,
            50_000..200_000 => Self::Dungeon,
            200_000..MAX_LINES => Self::Raid,
            MAX_LINES.. => Self::WorldBoss,
        }
    }

    /// The numbers of leads (in the largest formation, one for all and the others for parts), oracles, recons, coders and builders.
    const fn party(self) -> (RangeInclusive<u32>, RangeInclusive<u32>, u32, u32, u32) {
        match self {
            Self::Skirmish => (1..=1, 0..=0, 0, 1, 1),
            Self::Dungeon => (1..=1, 1..=1, 1, 1, 1),
            Self::Raid => (1..=1, 2..=3, 1, 2, 1),
            Self::WorldBoss => (3..=4, 4..=6, 2, 3, 2),
        }
    }
}

impl Formation {
    /// Proposes the formation for these facts. Within its bounds, each zone has an oracle, and in the largest formation there is a zone lead
    /// for two zones.
    pub fn propose(facts: FormationFacts) -> Self {
        let formation = FormationName::of(facts.lines);
        let (leads, oracles, recons, coders, builders) = formation.party();
        let zones = u32::try_from(facts.zones.len()).unwrap_or(u32::MAX);
        let coders = coders.min(facts.independent_tasks).max(1);
        let managed = coders + builders;
        Self {
            formation,
            lines: facts.lines,
            independent_tasks: facts.independent_tasks,
            leads: within(&leads, 1 + zones / 2),
            oracles: within(&oracles, zones),
            recons,
            coders,
            builders,
            zones_without_oracle: facts.zones.into_iter().filter(|(_, has_oracle)| !has_oracle).map(|(zone, _)| zone).collect(),
            max_coders: facts.max_coders,
            max_parallel_agents: facts.max_parallel_agents,
            configuration: (facts.max_parallel_agents < managed).then(|| format!("\"max_parallel_agents\": {managed}")),
        }
    }
}

fn within(range: &RangeInclusive<u32>, wanted: u32) -> u32 {
    wanted.clamp(*range.start(), *range.end())
}

#[cfg(test)]
mod tests;
