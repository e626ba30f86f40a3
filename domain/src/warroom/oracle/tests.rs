//! Tests of whom a question goes to, and of its text.

use super::*;

fn zone(name: &str, path: &str, oracle: Option<&str>) -> Zone {
    Zone {
        project_id: ProjectId::new(1),
        name: name.to_owned(),
        paths: vec![path.parse().unwrap()],
        owner: None,
        oracle: oracle.map(str::to_owned),
        author: "human".to_owned(),
        set_at: "2026-01-31T09:05:00.000Z".parse().unwrap(),
    }
}

fn recipients(asker: &str, asked: &[&str]) -> Result<Vec<String>, Refusal> {
    let zones = [
        zone("audio", "audio/", Some("ivy")),
        zone("core", "src/", Some("oda")),
        zone("mixer", "src/mixer/", Some("ivy")),
        zone("docs", "docs/", None),
        zone("shop", "shop/", Some("managed")),
        zone("till", "till/", Some("managed")),
    ];
    let question = NewOracleQuestion { zones: asked.iter().map(|zone| (*zone).to_owned()).collect(), question: "Why?".to_owned() };
    let recipients = question.recipients(asker, &zones)?;
    let name = |expert| match expert {
        Expert::Participant(name) => name,
        Expert::Managed { zone } => format!("managed in {zone}"),
    };
    Ok(recipients.into_iter().map(|(expert, zones)| format!("{}: {}", name(expert), zones.join(" "))).collect())
}

#[test]
fn each_oracle_of_the_named_zones_and_files_is_asked_once() {
    for (asked, expected) in [
        (vec!["audio"], vec!["ivy: audio"]),
        (vec![" core "], vec!["oda: core"]),
        (vec!["./SRC/lib.rs"], vec!["oda: core"]),
        (vec!["src/mixer/in.rs", "src/lib.rs"], vec!["ivy: mixer", "oda: core"]),
        (vec!["audio", "mixer", "audio/mix.rs"], vec!["ivy: audio mixer"]),
        (vec!["till", "shop", "shop/cart.rs"], vec!["managed in shop: shop", "managed in till: till"]),
    ] {
        assert_eq!(recipients("mara", &asked).unwrap(), expected, "{asked:?}");
    }
    assert_eq!(recipients("ivy", &["audio", "core"]).unwrap(), ["oda: core"], "an oracle asks the other one");
}

#[test]
fn question_without_anyone_to_ask_is_refused() {
    let many = vec!["audio"; MAX_ASKED + 1];
    for (asker, asked, code) in [
        ("mara", vec!["docs"], "zone-without-oracle"),
        ("mara", vec!["audio", "docs"], "zone-without-oracle"),
        ("mara", vec!["README.md"], "no-zone"),
        ("mara", vec!["../etc"], "claim-outside"),
        ("ivy", vec!["audio", "mixer"], "own-zone"),
        ("mara", vec![], "invalid"),
        ("mara", many, "invalid"),
    ] {
        assert_eq!(recipients(asker, &asked).unwrap_err().code(), code, "{asker}: {asked:?}");
    }
}

#[test]
fn questions_are_bounded_texts() {
    let text = |question: String| NewOracleQuestion { zones: Vec::new(), question }.text();
    assert_eq!(text("Why?".to_owned()).unwrap(), "Why?");
    assert!(text("x".repeat(MAX_QUESTION_BYTES)).is_ok());
    for bad in [String::new(), " ".to_owned(), "a\0".to_owned(), "x".repeat(MAX_QUESTION_BYTES + 1)] {
        assert!(text(bad).is_err());
    }
}

#[test]
fn message_says_how_to_answer() {
    let text = |zones: &[&str]| message(&zones.iter().map(|zone| (*zone).to_owned()).collect::<Vec<_>>(), "Why?");
    assert_eq!(text(&["audio"]), "Question about the zone audio. Answer with send, and set reply_to to the id of this message.\n\nWhy?");
    assert!(text(&["audio", "core"]).starts_with("Question about the zones audio, core. "));
}
