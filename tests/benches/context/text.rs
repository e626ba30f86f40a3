//! The texts of the messages, and the queries that look for them: the same in every run. Must not measure.

#![expect(clippy::unwrap_used, reason = "a command that fails on any error")]

/// Every so many messages, one has a word that no other has.
pub(crate) const PLANTED: usize = 10;
/// The texts of which the messages are made.
pub(crate) const PROSE: &str = concat!(
    include_str!("../../../README.md"),
    include_str!("../../../CHANGELOG.md"),
    include_str!("../../../CONTRIBUTING.md"),
    include_str!("../../../ARCHITECTURE.md")
);

/// A generator of the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

/// The text of message `number`: 20 words in pieces of four that stand together somewhere, and perhaps a planted word.
pub(crate) fn text_of(number: usize) -> String {
    let words: Vec<&str> = PROSE.split_whitespace().collect();
    text_from(&words, number)
}

pub(crate) fn text_from(words: &[&str], number: usize) -> String {
    let mut dice = Dice(number as u64 + 1);
    let mut text = Vec::new();
    for _ in 0..5 {
        let start = dice.below(words.len() - 4);
        text.extend(words[start..start + 4].iter().map(|word| (*word).to_owned()));
    }
    if number.is_multiple_of(PLANTED) {
        text.insert(dice.below(20), planted(number));
    }
    text.join(" ")
}

/// The word that only this message has: ten letters.
pub(crate) fn planted(number: usize) -> String {
    let mut dice = Dice(number as u64 * 7_919 + 13);
    (0..10).map(|place| char::from(if place % 2 == 0 { b"bcdfghjklmnprstvwz"[dice.below(18)] } else { b"aeiou"[dice.below(5)] })).collect()
}

/// The planted word of a message with one typing error, between two other words of the message.
pub(crate) fn query_for(number: usize) -> String {
    let mut dice = Dice(number as u64 + 99);
    let mut word: Vec<char> = planted(number).chars().collect();
    let place = 1 + dice.below(8);
    match dice.below(4) {
        0 => drop(word.remove(place)),
        1 => word.insert(place, 'x'),
        2 => word[place] = 'x',
        _ => word.swap(place, place + 1),
    }
    let text = text_of(number);
    let others: Vec<&str> = text.split_whitespace().filter(|other| other.len() > 3 && *other != planted(number)).collect();
    format!("{} {} {}", others[dice.below(others.len())], word.into_iter().collect::<String>(), others[dice.below(others.len())])
}
