//! Which messages are orders, and which messages give them.

use super::*;

fn order(message: &str) -> Option<(&str, Option<&str>, Option<&str>)> {
    TriggerText::of(message).map(|trigger| (trigger.word.as_str(), trigger.target, trigger.note))
}

#[test]
fn order_stands_alone_in_the_first_line() {
    assert_eq!(order("rally"), Some(("rally", None, None)));
    assert_eq!(order("Moon_Crash: the disk is full"), Some(("moon_crash", None, Some("the disk is full"))));
    assert_eq!(order("retreat\nWe go on tomorrow."), Some(("retreat", None, None)));
    assert_eq!(order("sitrep"), Some(("sitrep", None, None)));
    assert_eq!(order("fenix_down mara"), Some(("fenix_down", Some("mara"), None)));
    assert_eq!(order("sitrep  platform/mara : now"), Some(("sitrep", Some("platform/mara"), Some("now"))));
    assert_eq!(order("hot_zone audio"), Some(("hot_zone", Some("audio"), None)));
    assert_eq!(order("recon ben why the build is red"), Some(("recon", Some("ben"), Some("why the build is red"))));
    assert_eq!(order("recon ben: the build"), Some(("recon", Some("ben"), Some("the build"))));
}

#[test]
fn sentence_quote_and_code_are_no_order() {
    let messages = [
        "",
        "rally the others tomorrow",
        "Please rally",
        "\"rally\"",
        "> rally",
        "`rally`",
        "```\nrally\n```",
        "    rally",
        "\trally",
        "rallying",
        "stand_down mara and ben",
        "recon",
        "recon ben",
        "hot_zone",
    ];
    for message in messages {
        assert_eq!(order(message), None, "{message:?}");
    }
}

#[test]
fn order_to_one_agent_names_it_or_is_sent_to_it() {
    let agent = |message, recipient| TriggerText::of(message).unwrap().agent(recipient).map(str::to_owned);
    assert_eq!(agent("sitrep", "mara").as_deref(), Ok("mara"));
    assert_eq!(agent("sitrep ben", "all").as_deref(), Ok("ben"));
    assert_eq!(agent("sitrep", "all"), Err(TriggerRefusal::NoAgent { word: TriggerWord::Sitrep }));
}

#[test]
fn new_order_becomes_a_message_that_is_read_as_this_order() {
    let new = |word, target: &str, note: &str| NewTrigger { word, target: Some(target.to_owned()), note: Some(note.to_owned()) };
    for (given, message, recipient) in [
        (new(TriggerWord::Rally, "", ""), "rally", "all"),
        (new(TriggerWord::MoonCrash, " ", "the disk: full"), "moon_crash: the disk: full", "all"),
        (new(TriggerWord::StandDown, "ben", ""), "stand_down ben", "ben"),
        (new(TriggerWord::HotZone, "audio", ""), "hot_zone audio", "all"),
        (new(TriggerWord::Recon, "ben", "why the build is red"), "recon ben: why the build is red", "ben"),
    ] {
        let text = given.message().unwrap();
        assert_eq!((text.0.as_str(), text.1.as_str()), (message, recipient));
        let read = TriggerText::of(&text.0).unwrap();
        let blank = |given: &Option<String>| given.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned);
        assert_eq!((read.word, read.target.map(str::to_owned), read.note.map(str::to_owned)), (given.word, blank(&given.target), blank(&given.note)));
    }
    let refused = |given: NewTrigger| given.message().unwrap_err();
    let (rally, sitrep, zone, recon) = (TriggerWord::Rally, TriggerWord::Sitrep, TriggerWord::HotZone, TriggerWord::Recon);
    assert_eq!(refused(new(rally, "ben", "")), TriggerRefusal::ForAll { word: rally });
    assert_eq!(refused(new(sitrep, "", "")), TriggerRefusal::NoAgent { word: sitrep });
    assert_eq!(refused(new(zone, "", "")), TriggerRefusal::NoZone { word: zone });
    assert_eq!(refused(new(recon, "ben", " ")), TriggerRefusal::NoSubject { word: recon });
    assert_eq!(refused(new(sitrep, "ben mara", "")), TriggerRefusal::NotOneWord { word: sitrep });
    for note in ["two\nlines".to_owned(), "x".repeat(MAX_NOTE_BYTES + 1)] {
        assert_eq!(refused(new(sitrep, "ben", &note)), TriggerRefusal::LongNote { word: sitrep, most: MAX_NOTE_BYTES });
    }
}

#[test]
fn every_word_has_a_meaning() {
    let meanings: std::collections::BTreeSet<&str> = TriggerWord::ALL.iter().map(|word| word.meaning()).collect();
    assert_eq!(meanings.len(), TriggerWord::ALL.len());
}
