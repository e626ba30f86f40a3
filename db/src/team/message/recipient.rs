//! Resolves whom a message is for: a participant, the expert of a zone, or several of both. Must not send anything.

use domain::refusal::Refusal;
use domain::team::agent::EVERYONE;
use domain::warroom::claim::ClaimPath;
use domain::warroom::oracle::expert::Expert;
use domain::warroom::oracle::refusal::OracleRefusal;
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

/// A recipient, and whether it was named by its zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recipient {
    pub(super) name: String,
    pub(super) by_zone: bool,
}

/// Returns the recipients that `given` names, separated by commas, each once and without the sender.
pub(super) async fn resolve(tx: &mut Tx, roster: &Roster, sender: &str, given: &str) -> Result<Vec<Recipient>> {
    let given: Vec<&str> = given.split(',').map(str::trim).collect();
    if given.len() > MAX_RECIPIENTS {
        let problem = format!("{} recipients were given", given.len());
        return Err(Refusal::invalid("to", problem, format!("Name at most {MAX_RECIPIENTS}, or send it to all.")).into());
    }
    let mut found: Vec<Recipient> = Vec::new();
    for one in &given {
        let recipient = match one.strip_prefix(ZONE) {
            Some(zone) if roster.entry(one).is_none() => Recipient { name: expert(tx, roster, sender, zone).await?, by_zone: true },
            _ => Recipient { name: roster.mailbox(tx, sender, one).await?, by_zone: false },
        };
        match found.iter_mut().find(|known| known.name == recipient.name) {
            Some(known) => known.by_zone &= recipient.by_zone,
            None => found.push(recipient),
        }
    }
    if given.len() > 1 && found.iter().any(|one| one.name == EVERYONE) {
        return Err(Refusal::invalid("to", "\"all\" stands alone", "Send the message to all, and to nobody else.").into());
    }
    if found.len() > 1 {
        found.retain(|one| one.name != sender);
    }
    if matches!(found.as_slice(), [one] if one.name == sender) {
        let hint = "Choose another recipient; put notes that you want to keep into a comment on the task.";
        return Err(Refusal::invalid("to", "you cannot send a message to yourself", hint).into());
    }
    Ok(found)
}

/// Returns who answers questions about a zone, or about the zone of a file: its oracle, or else its owner.
async fn expert(tx: &mut Tx, roster: &Roster, sender: &str, given: &str) -> Result<String> {
    let zones = zones::of_project(&mut tx.connection, &roster.project).await?;
    let zone = find(&zones, given)?;
    let mut refused = ZoneRefusal::NoExpert { zone: zone.name.clone() }.into();
    if Expert::of(zone).is_some_and(|expert| matches!(expert, Expert::Managed { .. })) {
        // A message starts nobody, so that nobody would read it.
        return Err(OracleRefusal::NoMailbox { zone: zone.name.clone() }.into());
    }
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
