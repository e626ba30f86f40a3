//! Resolves whom a message is for: a participant, the expert of a zone, or several of both. Must not send anything.

use domain::refusal::Refusal;
use domain::team::agent::EVERYONE;
use domain::warroom::claim::ClaimPath;
use domain::warroom::zone::Zone;
use domain::warroom::zone::lookup::zone_of;
use domain::warroom::zone::refusal::ZoneRefusal;

use crate::engine::tx::Tx;
use crate::error::{Error, Result};
use crate::team::agent::row::roster::Roster;
use crate::warroom::zone::row as zones;

/// The most recipients of one message.
const MAX_RECIPIENTS: usize = 10;
/// The beginning of a recipient that is the expert of a zone: `zone/audio`, or `zone/src/audio/mix.rs` for the zone of a file.
const ZONE: &str = "zone/";

/// Returns the recipients that `given` names, separated by commas, each once and without the sender.
pub(super) async fn resolve(tx: &mut Tx, roster: &Roster, sender: &str, given: &str) -> Result<Vec<String>> {
    let given: Vec<&str> = given.split(',').map(str::trim).collect();
    if given.len() > MAX_RECIPIENTS {
        let problem = format!("{} recipients were given", given.len());
        return Err(Refusal::invalid("to", problem, format!("Name at most {MAX_RECIPIENTS}, or send it to all.")).into());
    }
    let mut names: Vec<String> = Vec::new();
    for one in &given {
        let name = match one.strip_prefix(ZONE) {
            Some(zone) if roster.entry(one).is_none() => expert(tx, roster, sender, zone).await?,
            _ => roster.mailbox(tx, sender, one).await?,
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if given.len() > 1 && names.iter().any(|name| name == EVERYONE) {
        return Err(Refusal::invalid("to", "\"all\" stands alone", "Send the message to all, and to nobody else.").into());
    }
    if names.len() > 1 {
        names.retain(|name| name != sender);
    }
    if names == [sender] {
        let hint = "Choose another recipient; put notes that you want to keep into a comment on the task.";
        return Err(Refusal::invalid("to", "you cannot send a message to yourself", hint).into());
    }
    Ok(names)
}

/// Returns who answers questions about a zone, or about the zone of a file: its oracle, or else its owner.
async fn expert(tx: &mut Tx, roster: &Roster, sender: &str, given: &str) -> Result<String> {
    let zones = zones::of_project(&mut tx.connection, &roster.project).await?;
    let zone = find(&zones, given)?;
    let mut refused = ZoneRefusal::NoExpert { zone: zone.name.clone() }.into();
    for name in zone.oracle.iter().chain(&zone.owner) {
        match roster.mailbox(tx, sender, name).await {
            Err(Error::Refused(refusal)) => refused = refusal,
            resolved => return resolved,
        }
    }
    Err(refused.into())
}

/// The zone with this name, or else the one of this file.
fn find<'z>(zones: &'z [Zone], given: &str) -> std::result::Result<&'z Zone, Refusal> {
    if let Some(named) = zones.iter().find(|zone| zone.name == given) {
        return Ok(named);
    }
    let unknown =
        || Refusal::invalid("to", format!("{given} is neither a zone nor in one"), "Call get_zones for the zones and whom to ask, or ask a lead.");
    let path: ClaimPath = given.parse().map_err(|_| unknown())?;
    zone_of(zones, &path).ok_or_else(unknown)
}
