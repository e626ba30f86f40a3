//! The tools of the team: agents, messages, handshakes, contracts, hats, minions and tokens.
//!
//! It must not know the tools of other areas.

mod agent;
mod contract;
mod handshake;
mod hat;
mod message;
mod minion;
mod onboarding;
mod token;

use super::definition::ToolDefinition;

pub(super) const TOOLS: &[&[ToolDefinition]] =
    &[agent::TOOLS, contract::TOOLS, handshake::TOOLS, hat::TOOLS, message::TOOLS, minion::TOOLS, token::TOOLS];
