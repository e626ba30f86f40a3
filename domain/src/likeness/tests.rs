//! Likeness: the four typing errors, unfinished words, other orders, scripts without spaces, and hostile texts.

use super::*;

fn like(query: &str, word: &str) -> u8 {
    Term::new(query).likeness(word)
}

fn score(query: &str, text: &str) -> u8 {
    let query = Query::new(query);
    assert_eq!(query.score(text), query.find(text).score);
    query.score(text)
}

/// The marked parts of an excerpt.
fn marked(excerpt: &Excerpt) -> Vec<String> {
    let part = |mark: &Highlight| excerpt.text.chars().skip(mark.start as usize).take((mark.end - mark.start) as usize).collect();
    excerpt.highlights.iter().map(part).collect()
}

#[test]
fn words_are_runs_of_letters_and_digits_in_lower_case() {
    let of = |text: &str| split_words(text).map(|word| word.text).collect::<Vec<_>>();
    assert_eq!(of("Fix the max_rounds-Limit (TASK-012)!"), ["fix", "the", "max", "rounds", "limit", "task", "012"]);
    assert_eq!(of("Straße ÀÉ e\u{301}a 検索 🚀✅"), ["straße", "àé", "e\u{301}a", "検索", "🚀", "✅"]);
    assert_eq!(of(" \0\n…—"), [""; 0]);
    let long = "x".repeat(100);
    assert!(split_words(&long).all(|word| word.text.len() <= MAX_WORD_BYTES) && split_words(&long).count() == 3);
    let text = "Ä b";
    assert_eq!(split_words(text).map(|word| &text[word.range]).collect::<Vec<_>>(), ["Ä", "b"]);
}

#[test]
fn typing_errors_keep_words_alike() {
    for typed in ["passkeys", "paskeys", "passskeys", "pesskeys", "apsskeys"] {
        assert!(like(typed, "passkeys") >= 80, "{typed}");
    }
    for unfinished in ["pass", "passk", "pssk", "paskey", "apsskey"] {
        assert!(like(unfinished, "passkeys") >= MIN_SCORE, "{unfinished}");
    }
    assert_eq!([like("pass", "passkeys"), like("keys", "passkeys"), like("key", "passkeys")], [95, 80, 0]);
    assert!(like("authentcation", "authentication") > like("authentcatoin", "authentication"));
    assert_eq!([like("page", "paper"), like("page", "pause"), like("pages", "paged")], [0, 0, 83]);
    for other in ["password", "keys", "passage", ""] {
        assert!(like("passkeys", other) < MIN_SCORE, "{other}");
    }
    assert_eq!([like("is", "it"), like("a", "an"), like("to", "to")], [0, 95, 100], "short words have no errors");
}

#[test]
fn numbers_have_no_typing_errors_and_no_leading_zeros() {
    assert_eq!([like("12", "012"), like("012", "12"), like("12", "13"), like("12", "123")], [100, 100, 0, 95]);
}

#[test]
fn texts_in_other_scripts_are_found_by_a_part() {
    assert!(score("検索", "新しい検索機能を追加") >= 80);
    assert_eq!(score("🚀", "Ship it 🚀 now"), 100);
    assert!(score("שלום", "אמר שלום לכולם") == 100);
}

#[test]
fn order_of_the_words_only_ranks() {
    let text = "Slow down repeated passkey attempts in the limiter";
    assert_eq!([score("passkey attempts", text), score("attempts passkey", text)], [100, 100]);
    let phrase = |query: &str| Query::new(query).find(text).phrase;
    assert!(phrase("passkey attempts") == 100 && phrase("attempts passkey") < 80);
    assert!(score("passkey unrelated", text) < MIN_SCORE);
    assert!(!Query::new("passkey unrelated").find(text).is_complete);
}

#[test]
fn long_and_hostile_queries_are_cut() {
    let query = Query::new(&"word1 word2 ".repeat(100_000));
    assert!(query.terms.len() <= 3, "{query:?}");
    assert!(Query::new("a b c d e f g h i j").terms.len() == MAX_TERMS);
    for hostile in ["", "\0", "\" OR 1", "NEAR(", "%_%", "*", "\u{202e}x", "-"] {
        let _found = Query::new(hostile).find("any text");
    }
    assert!(Query::new("*-\"").is_empty());
    let _long = Query::new(&"x".repeat(1_000_000)).find(&"x".repeat(100_000));
}

#[test]
fn excerpt_is_the_line_with_most_words_and_marks_them() {
    let text = format!("{}\nAfter three failed passkeys the shop offers\n\nthe password. {}", "Many words. ".repeat(50), "More. ".repeat(50));
    let found = Query::new("shop pasword passk").find(&text);
    let excerpt = excerpt(&text, &found.places, 120);
    assert!(excerpt.text.starts_with("…After three failed passkeys the shop offers the password."), "{excerpt:?}");
    assert!(excerpt.text.ends_with('…') && excerpt.text.chars().count() <= 121);
    assert_eq!(marked(&excerpt), ["passk", "shop", "password"]);
}

#[test]
fn excerpt_counts_characters() {
    let text = "Ä🚀 検索 ok\u{7}\r\nnow";
    let found = Query::new("検索 now").find(text);
    let short = excerpt(text, &found.places, 40);
    assert_eq!((short.text.as_str(), marked(&short)), ("Ä🚀 検索 ok now", vec!["検索".to_owned(), "now".to_owned()]));
    assert_eq!(highlights(text, &found.places), [Highlight { start: 3, end: 5 }, Highlight { start: 11, end: 14 }]);
    assert_eq!(excerpt("no words", &[], 4).text, "no w…");
}
