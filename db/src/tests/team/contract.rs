//! Contracts: one promise a name and type, and every version of it.

use domain::event::Event;
use domain::team::contract::{Contract, ContractType, NewContract};
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
async fn a_changed_specification_is_the_next_version_and_everybody_else_is_told() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let seq = store.db.latest();
    let first = declare(&store, &mara, "fn save()").await.unwrap();
    assert_eq!((first.version, first.owner.as_str(), first.declared_by.as_str(), first.kind), (1, "mara", "mara", ContractType::Function));
    let declared = |version| Event::ContractDeclared { contract: first.id, name: "save".to_owned(), contract_type: ContractType::Function, version };
    assert_eq!(store.since(seq).await[0], declared(1));
    assert_eq!(store.hears(&ole).await, ["[CONTRACT v1] save (function): fn save()"]);
    assert_eq!(store.hears(&mara).await, Vec::<String>::new(), "not who declared it");
    let second = declare(&store, &ole, "fn save() -> bool").await.unwrap();
    assert_eq!((second.id, second.version, second.owner.as_str()), (first.id, 2, "mara"), "whoever changes it does not own it");
    assert_eq!(second.declared_by, "ole", "but the words in force are its own");
    assert!(second.updated_at >= first.updated_at && second.created_at == first.created_at);
    assert_eq!(store.hears(&mara).await, ["[CONTRACT v2] save (function): fn save() -> bool"]);
    let versions = store.db.contract_versions(first.id).await.unwrap();
    let said: Vec<(u32, &str, &str)> =
        versions.iter().map(|version| (version.version, version.declared_by.as_str(), version.spec.as_str())).collect();
    assert_eq!(said, [(1, "mara", "fn save()"), (2, "ole", "fn save() -> bool")]);
    assert_eq!(store.db.contract(first.id).await.unwrap(), second);
    assert_eq!(declare(&store, &mara, "fn save() -> bool").await.unwrap(), second, "who repeats it has not changed it");
    store.check_fold().await;
}

#[tokio::test]
async fn the_same_specification_changes_nothing() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let first = declare(&store, &mara, "fn save()").await.unwrap();
    let before = store.dump().await;
    assert_eq!(declare(&store, &ole, "fn save()").await.unwrap(), first);
    assert_eq!(store.dump().await, before);
    let called = declare(&store, &call(&ole, "1"), "fn save()").await.unwrap();
    declare(&store, &mara, "fn save(u8)").await.unwrap();
    assert_eq!(declare(&store, &call(&ole, "1"), "fn save()").await.unwrap(), called, "a repeated call brings no old version back");
    assert_eq!(store.db.contract(first.id).await.unwrap().version, 2);
}

#[tokio::test]
async fn unread_messages_keep_nobody_from_declaring() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[Role::Builder]).await, store.guest("ole").await);
    store.say(&ole, "mara", "Unread").await.unwrap();
    declare(&store, &mara, "fn save()").await.unwrap();
    assert_eq!(code(store.say(&mara, "ole", "Still blocked").await), "unread");
}

#[tokio::test]
async fn one_name_may_be_of_each_type_and_the_list_is_by_type_and_name() {
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
async fn what_says_nothing_is_no_contract() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let before = store.dump().await;
    for (name, spec) in [("", "x"), ("a\nb", "x"), (&*"n".repeat(501), "x"), ("save", " "), ("save", "\0"), ("save", &*"x".repeat(BODY_BYTES + 1))] {
        assert_eq!(code(store.db.declare_contract(&mara, &store.project, new(name, ContractType::Other, spec)).await), "invalid");
    }
    assert_eq!(code(declare(&store, &store.room(), "fn save()").await), "not-registered");
    assert_eq!(code(store.db.contract(404).await), "not-found");
    assert_eq!(code(store.db.contract_versions(404).await), "not-found");
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn declarations_at_once_get_consecutive_versions() {
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
