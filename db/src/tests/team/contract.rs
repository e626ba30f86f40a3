//! Contracts: one per name and type, with all versions.

use domain::event::Event;
use domain::team::contract::{Contract, ContractEvent, ContractType, NewContract};
use domain::team::role::Role;
use domain::text::BODY_BYTES;

use crate::tests::external_agents::call;
use crate::tests::store::{Store, code};
use crate::{Caller, Result};

fn new(name: &str, kind: ContractType, spec: &str) -> NewContract {
    NewContract { name: name.to_owned(), kind, spec: spec.to_owned() }
}

async fn declare(store: &Store, by: &Caller, spec: &str) -> Result<Contract> {
    store.db.declare_contract(by, &store.project, new("save", ContractType::Function, spec)).await
}

#[tokio::test]
async fn changed_specification_adds_a_version_and_is_broadcast() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let seq = store.db.latest();
    let first = declare(&store, &mara, "fn save()").await.unwrap();
    assert_eq!((first.version, first.owner.as_str(), first.declared_by.as_str(), first.kind), (1, "mara", "mara", ContractType::Function));
    let declared = |version| {
        Event::Contract(ContractEvent::Declared { contract: first.id, name: "save".to_owned(), contract_type: ContractType::Function, version })
    };
    assert_eq!(store.since(seq).await[0], declared(1));
    assert_eq!(store.inbox_texts(&ole).await, ["[CONTRACT v1] save (function): fn save()"]);
    assert_eq!(store.inbox_texts(&mara).await, Vec::<String>::new(), "the declaring agent gets no broadcast");
    let second = declare(&store, &ole, "fn save() -> bool").await.unwrap();
    assert_eq!((second.id, second.version, second.owner.as_str()), (first.id, 2, "mara"), "a new version does not change the owner");
    assert_eq!(second.declared_by, "ole", "but the current version is ole's");
    assert!(second.updated_at >= first.updated_at && second.created_at == first.created_at);
    assert_eq!(store.inbox_texts(&mara).await, ["[CONTRACT v2] save (function): fn save() -> bool"]);
    let versions = store.db.contract_versions(first.id).await.unwrap();
    let said: Vec<(u32, &str, &str)> =
        versions.iter().map(|version| (version.version, version.declared_by.as_str(), version.spec.as_str())).collect();
    assert_eq!(said, [(1, "mara", "fn save()"), (2, "ole", "fn save() -> bool")]);
    assert_eq!(store.db.contract(first.id).await.unwrap(), second);
    assert_eq!(declare(&store, &mara, "fn save() -> bool").await.unwrap(), second, "repeating it changes nothing");
    store.check_fold().await;
}

#[tokio::test]
async fn same_specification_changes_nothing() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let first = declare(&store, &mara, "fn save()").await.unwrap();
    let before = store.dump().await;
    assert_eq!(declare(&store, &ole, "fn save()").await.unwrap(), first);
    assert_eq!(store.dump().await, before);
    let called = declare(&store, &call(&ole, "1"), "fn save()").await.unwrap();
    declare(&store, &mara, "fn save(u8)").await.unwrap();
    assert_eq!(declare(&store, &call(&ole, "1"), "fn save()").await.unwrap(), called, "a repeated call does not restore an old version");
    assert_eq!(store.db.contract(first.id).await.unwrap().version, 2);
}

#[tokio::test]
async fn unread_messages_do_not_block_declarations() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[Role::Builder]).await, store.guest("ole").await);
    store.send(&ole, "mara", "Unread").await.unwrap();
    declare(&store, &mara, "fn save()").await.unwrap();
    assert_eq!(code(store.send(&mara, "ole", "Still blocked").await), "unread");
}

#[tokio::test]
async fn contract_names_are_unique_per_type_and_sorted() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    for kind in ContractType::ALL.iter().rev() {
        for name in ["b", "a"] {
            store.db.declare_contract(&mara, &store.project, new(name, *kind, "as said")).await.unwrap();
        }
    }
    let listed: Vec<String> =
        store.db.contracts(&store.project).await.unwrap().iter().map(|contract| format!("{} {}", contract.kind, contract.name)).collect();
    assert_eq!(listed.len(), 14);
    assert!(listed.is_sorted(), "{listed:?}");
    assert!("nonsense".parse::<ContractType>().is_err());
}

#[tokio::test]
async fn empty_contract_is_refused() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let before = store.dump().await;
    for (name, spec) in [("", "x"), ("a\nb", "x"), (&*"n".repeat(501), "x"), ("save", " "), ("save", "\0"), ("save", &*"x".repeat(BODY_BYTES + 1))] {
        assert_eq!(code(store.db.declare_contract(&mara, &store.project, new(name, ContractType::Other, spec)).await), "invalid");
    }
    assert_eq!(code(declare(&store, &store.invite(), "fn save()").await), "not-registered");
    assert_eq!(code(store.db.contract(404).await), "not-found");
    assert_eq!(code(store.db.contract_versions(404).await), "not-found");
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn concurrent_declarations_get_consecutive_versions() {
    let store = Store::board().await;
    let mut agents = Vec::new();
    for number in 0..20 {
        agents.push(store.guest(&format!("agent-{number}")).await);
    }
    let declaring: Vec<_> = agents
        .into_iter()
        .enumerate()
        .map(|(number, agent)| {
            let (db, project) = (store.db.clone(), store.project.clone());
            let new = new("save", ContractType::Event, &number.to_string());
            tokio::spawn(async move { db.declare_contract(&agent, &project, new).await.unwrap().version })
        })
        .collect();
    let mut versions = Vec::new();
    for version in declaring {
        versions.push(version.await.unwrap());
    }
    versions.sort_unstable();
    assert_eq!(versions, (1..=20).collect::<Vec<_>>());
    let contract = store.db.contracts(&store.project).await.unwrap().remove(0);
    let kept = store.db.contract_versions(contract.id).await.unwrap();
    assert_eq!((kept.len(), kept.last().map(|version| version.spec.clone())), (20, Some(contract.spec)));
}
