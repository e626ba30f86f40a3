//! The codes, sentences and hints of refusals: programs rely on the codes, people and agents on the sentences.

mod every;

use std::collections::BTreeSet;

use self::every::every;

use crate::board::stage::Stage;
use crate::board::task::refusal::TaskRefusal;
use crate::board::transition::refusal::MoveRefusal;
use crate::id::TaskId;
use crate::refusal::*;

/// The noun and the name of a variant: `Move(Illegal`.
fn variant(refusal: &Refusal) -> String {
    let debug = format!("{refusal:?}");
    debug.split([' ', ')']).next().unwrap().splitn(3, '(').take(2).collect::<Vec<_>>().join("(")
}

macro_rules! variants {
    ($($noun:ident($refusal:ty),)+) => {
        /// Every variant of every noun's refusals.
        fn declared() -> BTreeSet<String> {
            let nouns = [$((stringify!($noun), <$refusal>::VARIANTS)),+];
            nouns.into_iter().flat_map(|(noun, variants)| variants.iter().map(move |variant| format!("{noun}({variant}"))).collect()
        }
    };
}

each_refusal!(variants);

#[test]
fn list_contains_every_refusal_of_every_noun() {
    assert_eq!(every().iter().map(variant).collect::<BTreeSet<_>>(), declared());
}

#[test]
fn codes_sentences_and_hints_are_stable() {
    let page: Vec<String> = every().iter().map(|refusal| format!("{}: {refusal}\n    {}", refusal.code(), refusal.hint())).collect();
    insta::assert_snapshot!(page.join("\n"));
}

#[test]
fn only_illegal_moves_list_allowed_targets() {
    for refusal in every() {
        let moves = matches!(refusal, Refusal::Move(MoveRefusal::Illegal { .. }));
        assert_eq!(!refusal.allowed().is_empty(), moves, "{refusal}");
    }
}

/// The caller can itself be a lead, so the hint never says "ask a lead".
#[test]
fn illegal_stage_hint_names_who_acts_next() {
    for from in Stage::ALL.iter().copied() {
        let hint = TaskRefusal::IllegalStage { task: TaskId::new(7), from, to: Stage::Completed, agent: "mara".to_owned(), next: Vec::new() }.hint();
        let next = hint.strip_prefix("You cannot change this task now. ").unwrap();
        assert!(next.ends_with('.') && !next.contains("sk a lead"), "{from}: {hint}");
    }
}

#[test]
fn every_refusal_has_a_hint() {
    for refusal in every() {
        assert!(refusal.hint().ends_with('.'), "{refusal}");
    }
    let ids = ["project", "run", "task", "comment"].map(|what| Refusal::not_found(what, "x").hint());
    assert!(ids[0].contains("PROJ-001") && ids[1].contains("RUN-001") && ids[2].contains("TASK-001") && ids[3].contains("TASK-001"));
}
