//! Zones: who sets them, what replaces what, bad input, and their bounds.

use domain::board::task::NewTask;
use domain::id::ProjectId;
use domain::team::role::Role;
use domain::warroom::commit_files::CommitFiles;
use domain::warroom::zone::lookup::zone_of;
use domain::warroom::zone::proposal::evidence::ProposalEvidence;
use domain::warroom::zone::{MAX_ZONES, NewZone, Zone};

use crate::tests::external_agents::message;
use crate::tests::store::{Store, code, new_task};
use crate::{Caller, Result};

fn new(name: &str, paths: &[&str]) -> NewZone {
    NewZone { name: name.to_owned(), paths: paths.iter().map(|path| (*path).to_owned()).collect(), ..NewZone::default() }
}

async fn set(store: &Store, by: &Caller, zone: NewZone) -> Result<Zone> {
    store.db.set_zone(by, &store.project, zone).await
}

#[tokio::test]
async fn zones_are_set_replaced_and_removed() {
    let store = Store::board().await;
    let lena = store.member("red/lena", &[Role::Lead]).await;
    store.member("red/ivy", &[]).await;
    let staffed = |oracle: &str| NewZone { owner: Some("lena".to_owned()), oracle: Some(oracle.to_owned()), ..new("audio", &["audio/", "mixer.rs"]) };
    let audio = set(&store, &lena, staffed("ivy")).await.unwrap();
    assert_eq!((audio.owner.as_deref(), audio.oracle.as_deref(), audio.author.as_str()), (Some("red/lena"), Some("red/ivy"), "red/lena"));
    let before = store.db.latest();
    assert_eq!(set(&store, &Caller::owner(), staffed("ivy")).await.unwrap(), audio, "the same again changes nothing");
    assert_eq!(store.db.latest(), before);
    let changed = set(&store, &Caller::owner(), staffed("human")).await.unwrap();
    assert_eq!((changed.oracle.as_deref(), changed.author.as_str()), (Some("human"), "human"));
    set(&store, &lena, new("core", &["src/"])).await.unwrap();
    let zones = store.db.zones(&store.project).await.unwrap();
    assert_eq!(zones.iter().map(|zone| zone.name.as_str()).collect::<Vec<_>>(), ["audio", "core"]);
    assert_eq!(zone_of(&zones, &"audio/mix.rs".parse().unwrap()), Some(&changed));
    store.leaves(&Caller::owner(), "red/lena").await;
    let kept = NewZone { owner: Some("red/lena".to_owned()), ..new("audio", &["audio/"]) };
    assert_eq!(set(&store, &Caller::owner(), kept).await.unwrap().owner.as_deref(), Some("red/lena"), "an owner that left stays");
    store.db.remove_zone(&Caller::owner(), &store.project, "audio").await.unwrap();
    assert_eq!(code(store.db.remove_zone(&Caller::owner(), &store.project, "audio").await), "not-found");
    assert_eq!(store.db.zones(&store.project).await.unwrap().len(), 1);
}

#[tokio::test]
async fn only_leads_change_zones_and_bad_input_is_refused() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let guest = store.guest("red/eve").await;
    set(&store, &Caller::owner(), new("core", &["src/"])).await.unwrap();
    assert_eq!(code(set(&store, &mara, new("audio", &["audio/"])).await), "lead-only");
    assert_eq!(code(store.db.remove_zone(&mara, &store.project, "core").await), "lead-only");
    assert!(set(&store, &guest, new("audio", &["audio/"])).await.is_err());
    let owned = |owner: &str| NewZone { owner: Some(owner.to_owned()), ..new("audio", &["audio/"]) };
    for (zone, expected) in [
        (new("Audio", &["audio/"]), "invalid"),
        (new("../etc", &["audio/"]), "invalid"),
        (new("audio", &[]), "zone-paths"),
        (new("audio", &["../etc"]), "claim-outside"),
        (new("audio", &["/etc/passwd"]), "claim-outside"),
        (new("audio", &["**"]), "zone-whole-repository"),
        (new("audio", &["SRC/"]), "zone-path-taken"),
        (owned("zoe"), "unknown-agent"),
        (owned("all"), "invalid"),
    ] {
        assert_eq!(code(set(&store, &Caller::owner(), zone.clone()).await), expected, "{zone:?}");
    }
    let unknown = ProjectId::new(99);
    assert_eq!(code(store.db.set_zone(&Caller::owner(), &unknown, new("audio", &["a"])).await), "not-found");
    assert_eq!(code(store.db.zones(&unknown).await), "not-found");
}

#[tokio::test]
async fn number_of_zones_is_bounded() {
    let store = Store::board().await;
    for number in 0..MAX_ZONES {
        set(&store, &Caller::owner(), new(&format!("z{number}"), &[&format!("folder{number}/")])).await.unwrap();
    }
    assert_eq!(code(set(&store, &Caller::owner(), new("more", &["more/"])).await), "zone-limit");
    set(&store, &Caller::owner(), new("z1", &["more/"])).await.unwrap();
}

#[tokio::test]
async fn question_goes_to_the_expert_of_each_zone_once() {
    let store = Store::board().await;
    let [mara, olga, vera] = [store.member("mara", &[]).await, store.member("olga", &[]).await, store.member("vera", &[]).await];
    let staffed = |name: &str, owner: Option<&str>, oracle: Option<&str>| NewZone {
        owner: owner.map(str::to_owned),
        oracle: oracle.map(str::to_owned),
        ..new(name, &[&format!("src/{name}/")])
    };
    for zone in [
        staffed("audio", Some("vera"), Some("olga")),
        staffed("codec", None, Some("olga")),
        staffed("video", Some("vera"), None),
        staffed("text", None, None),
    ] {
        set(&store, &Caller::owner(), zone).await.unwrap();
    }
    let ask = async |by: &Caller, to: &str| store.db.send(by, &store.project, message(to, "Who reads it?")).await;
    let before = store.dump().await;
    for (to, expected) in [
        ("zone/text", "zone-without-expert"),
        ("zone/nothing", "invalid"),
        ("zone/README.md", "invalid"),
        ("zone/../etc", "invalid"),
        ("zone/", "invalid"),
        ("zone/audio, all", "invalid"),
        ("zone/audio, nobody", "unknown-agent"),
        ("mara", "invalid"),
        (&["olga"; 11].join(","), "invalid"),
    ] {
        assert_eq!(code(ask(&mara, to).await), expected, "{to}");
    }
    assert_eq!(code(store.db.send(&Caller::owner(), &store.project, message("olga, vera", "sitrep")).await), "invalid", "an order");
    assert_eq!(store.dump().await, before);
    let sent = ask(&mara, "zone/audio, zone/src/codec/a.rs, zone/video, mara, vera").await.unwrap();
    let recipients: Vec<&str> = std::iter::once(&sent.message).chain(&sent.further).map(|sent| sent.to_agent.as_str()).collect();
    assert_eq!(recipients, ["olga", "vera"]);
    for expert in [&olga, &vera] {
        assert_eq!(code(ask(expert, "mara").await), "unread", "the question is its own and no copy");
        assert_eq!(store.inbox_texts(expert).await, ["Who reads it?"]);
    }
    // The owner answers for an oracle that left, and one that asks itself asks nobody.
    assert_eq!(code(ask(&olga, "zone/codec").await), "invalid");
    store.leaves(&olga, "olga").await;
    store
        .db
        .create_agent_token(
            &Caller::owner(),
            &store.project,
            domain::team::agent::Registration { name: "olga".into(), ..Default::default() },
            Default::default(),
        )
        .await
        .unwrap();
    assert_eq!(ask(&mara, "zone/audio").await.unwrap().message.to_agent, "olga", "the mailbox of a trusted agent stays");
    store.check_fold().await;
}

#[tokio::test]
async fn tasks_know_the_zones_of_their_planned_files() {
    let store = Store::board().await;
    let task = async |files: &[&str]| {
        let files = files.iter().map(|path| (*path).to_owned()).collect();
        store.db.create_task(&Caller::owner(), &store.project, NewTask { files, ..new_task("Task") }).await.unwrap().card.id
    };
    let [audio, both, none, nowhere] =
        [task(&["audio/a.rs"]).await, task(&["audio/", "src/lib.rs"]).await, task(&[]).await, task(&["README.md"]).await];
    let all = [audio.clone(), both.clone(), none, nowhere];
    let zones = async || store.db.zones_of_tasks(&store.project, &all).await.unwrap().into_iter().collect::<Vec<_>>();
    assert_eq!(zones().await, []);
    set(&store, &Caller::owner(), new("audio", &["audio/"])).await.unwrap();
    set(&store, &Caller::owner(), new("core", &["src/"])).await.unwrap();
    let words = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(zones().await, [(audio, words(&["audio"])), (both, words(&["audio", "core"]))]);
    assert_eq!(code(store.db.zones_of_tasks(&ProjectId::new(99), &all).await), "not-found");
}

#[tokio::test]
async fn several_zones_are_set_at_once_or_none() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let all = vec![new("audio", &["audio/"]), new("core", &["src/"])];
    let before = store.db.latest();
    assert_eq!(code(store.db.set_zones(&mara, &store.project, all.clone()).await), "lead-only");
    let clash = vec![new("audio", &["audio/"]), new("core", &["Audio/"])];
    assert_eq!(code(store.db.set_zones(&Caller::owner(), &store.project, clash).await), "zone-path-taken");
    assert_eq!((store.db.latest(), store.db.zones(&store.project).await.unwrap()), (before, Vec::new()));
    let set = store.db.set_zones(&Caller::owner(), &store.project, all.clone()).await.unwrap();
    assert_eq!(store.db.zones(&store.project).await.unwrap(), set);
    let before = store.db.latest();
    store.db.set_zones(&Caller::owner(), &store.project, all).await.unwrap();
    assert_eq!(store.db.latest(), before, "the same again changes nothing");
    let many = (0..=MAX_ZONES).map(|number| new(&format!("z{number}"), &[&format!("f{number}/")])).collect();
    assert_eq!(code(store.db.set_zones(&Caller::owner(), &store.project, many).await), "zone-limit");
}

#[tokio::test]
async fn proposals_know_the_zones_and_participants_and_change_nothing() {
    let store = Store::board().await;
    store.member("red/ivy", &[]).await;
    set(&store, &Caller::owner(), new("core", &["src/"])).await.unwrap();
    let files = CommitFiles { branch: "main".to_owned(), commit: "1234567".to_owned(), files: [].into() };
    let text = "/src/ @ivy\n/audio/ @ivy\n/docs/ @human\n".to_owned();
    let evidence = ProposalEvidence::Codeowners { found: Some(("CODEOWNERS".to_owned(), text)), files };
    let before = store.db.latest();
    let found = store.db.propose_zones(&store.project, &evidence).await.unwrap();
    let owners: Vec<_> = found.proposals.iter().map(|proposal| (proposal.zone.name.as_str(), proposal.zone.owner.as_deref())).collect();
    assert_eq!(owners, [("audio", Some("red/ivy")), ("docs", Some("human"))]);
    assert_eq!((found.skipped.as_slice(), store.db.latest()), (&["line 1: src/** is already in the zone core".to_owned()][..], before));
    assert_eq!(code(store.db.propose_zones(&store.project, &ProposalEvidence::CodeMap(None)).await), "code-map-missing");
}
