//! A hundred agents that claim, release, crash and leave at once: no path ever has two holders, and each waiting agent is told once.

use std::collections::{BTreeMap, BTreeSet};

use domain::event::Event;
use domain::warroom::claim::{ClaimEvent, ClaimOutcome, ClaimPath};

use super::claim::path;
use crate::Caller;
use crate::tests::store::Store;

const AGENTS: usize = 100;
const CLAIMS: usize = 10;
const PATHS: usize = 200;

/// A path by number, in one of its spellings.
fn spelled(number: usize, spelling: usize) -> String {
    let (folder, file) = (number / 20, number % 20);
    match spelling % 4 {
        0 => format!("src/m{folder}/f{file}.rs"),
        1 => format!("./src/m{folder}/F{file}.rs"),
        2 => format!("SRC//m{folder}/./f{file}.rs"),
        _ => format!("src/x/../m{folder}/f{file}.RS"),
    }
}

/// A number that looks random and is the same in each run of the test.
fn scattered(seed: usize) -> usize {
    let mut state = seed as u64 + 0x9E37_79B9_7F4A_7C15;
    state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    usize::try_from((state ^ (state >> 31)) >> 8).unwrap_or_default()
}

async fn work(store: &Store, agent: &Caller, number: usize) {
    for turn in 0..CLAIMS {
        let chance = scattered(number * CLAIMS + turn);
        let given = spelled(chance % PATHS, chance / PATHS);
        let outcome = store.claim(agent, &given).await.unwrap();
        if matches!(outcome, ClaimOutcome::Held { .. }) && chance.is_multiple_of(3) {
            store.db.release_file(agent, &store.project, &path(&given), None).await.unwrap();
        }
    }
    // Every fourth agent leaves, with what it holds and waits for.
    if number.is_multiple_of(4) {
        store.leaves(agent, &format!("agent-{number}")).await;
    }
}

/// Replays the log: who holds and who waits after each event. Panics if a path has two holders.
fn replay(events: &[Event]) -> (BTreeMap<String, String>, usize) {
    let mut held: BTreeMap<String, String> = BTreeMap::new();
    let mut passed_on = 0;
    let mut waits: BTreeSet<(String, String)> = BTreeSet::new();
    let key = |given: &str| given.parse::<ClaimPath>().unwrap().key().to_owned();
    for event in events {
        match event {
            Event::Claim(ClaimEvent::Granted { agent, path }) => {
                let before = held.insert(key(path), agent.clone());
                assert_eq!(before, None, "{path} was passed to {agent} while another held it");
                passed_on += usize::from(waits.remove(&(key(path), agent.clone())));
            }
            Event::Claim(ClaimEvent::Queued { agent, path, holder }) => {
                assert_eq!(held.get(&key(path)), Some(holder), "{agent} waits for {path}, which {holder} does not hold");
                waits.insert((key(path), agent.clone()));
            }
            Event::Claim(ClaimEvent::Released { agent, path, .. }) => {
                assert_eq!(held.remove(&key(path)).as_ref(), Some(agent), "{path} was released by another agent");
            }
            _ => {}
        }
    }
    (held, passed_on)
}

#[tokio::test]
async fn no_path_has_two_holders_and_every_waiting_agent_is_told_once() {
    let store = Store::board().await;
    let mut agents = Vec::new();
    for number in 0..AGENTS {
        agents.push(store.member(&format!("agent-{number}"), &[]).await);
    }
    let seq = store.db.latest();
    let works = agents.iter().enumerate().map(|(number, agent)| work(&store, agent, number));
    futures_util::future::join_all(works).await;
    let (held, passed_on) = replay(&store.since(seq).await);
    assert!(passed_on > 50, "the storm is too mild: {passed_on}");
    let claims = store.db.claims(&store.project, None).await.unwrap();
    let stored: BTreeMap<String, String> = claims.claims.iter().map(|claim| (claim.path.key().to_owned(), claim.agent.clone())).collect();
    assert_eq!(stored, held, "the rows are those of the log");
    let active: BTreeSet<String> = store.db.agents(&store.project).await.unwrap().into_iter().map(|agent| agent.name).collect();
    assert!(stored.values().all(|holder| active.contains(holder)), "no claim outlives its holder");
    let mut told = 0;
    for (number, agent) in agents.iter().enumerate().filter(|(number, _)| !number.is_multiple_of(4)) {
        let texts = store.inbox_texts(agent).await;
        let claims: Vec<&String> = texts.iter().filter(|text| text.starts_with("[CLAIM] ")).collect();
        told += claims.len();
        assert_eq!(claims.iter().collect::<BTreeSet<_>>().len(), claims.len(), "agent-{number} was told twice: {claims:?}");
    }
    assert!(told > 0 && told <= passed_on, "{told} of {passed_on}");
}
