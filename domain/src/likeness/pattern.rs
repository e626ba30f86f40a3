//! The longest common subsequence of two texts by bit vectors, which takes one step for each letter of the longer one.

/// As many letters as the vector has bits.
pub(super) const MAX_LETTERS: usize = 128;

/// A text of at most 128 letters that others are compared with.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    /// The positions of each letter.
    positions: Vec<(char, u128)>,
    len: usize,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        Self::of_letters(text.chars())
    }

    pub(super) fn of_letters(letters: impl Iterator<Item = char>) -> Self {
        let mut pattern = Self { positions: Vec::new(), len: 0 };
        for letter in letters.take(MAX_LETTERS) {
            let bit = 1 << pattern.len;
            match pattern.positions.iter_mut().find(|(known, _)| *known == letter) {
                Some((_, positions)) => *positions |= bit,
                None => pattern.positions.push((letter, bit)),
            }
            pattern.len += 1;
        }
        pattern
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// The lengths of the longest common subsequences with the beginnings of `letters`, one for each letter.
    pub(super) fn subsequences(&self, letters: impl Iterator<Item = char>) -> impl Iterator<Item = usize> {
        let mut vector = u128::MAX;
        let used = if self.len == MAX_LETTERS { u128::MAX } else { (1 << self.len) - 1 };
        letters.map(move |letter| {
            let positions = self.positions.iter().find(|(known, _)| *known == letter).map_or(0, |(_, positions)| *positions);
            let matched = vector & positions;
            // Hyyrö, "Bit-parallel LCS-length computation revisited" (2004).
            vector = vector.wrapping_add(matched) | (vector - matched);
            usize::try_from((!vector & used).count_ones()).unwrap_or_default()
        })
    }

    /// The likeness to the beginning of `text` of the same length, from 0 to 100, whatever the case and the separators of its words.
    pub(super) fn likeness(&self, text: &str) -> u8 {
        let letters = text.chars().flat_map(char::to_lowercase).map(|letter| if letter.is_alphanumeric() { letter } else { ' ' });
        let mut count = 0;
        let common = self.subsequences(letters.take(self.len).inspect(|_| count += 1)).last().unwrap_or_default();
        ratio(common, self.len + count)
    }
}

/// The part of the letters of two texts that they have in common, in percent.
pub(super) fn ratio(common: usize, letters: usize) -> u8 {
    u8::try_from((200 * common).checked_div(letters).unwrap_or_default()).unwrap_or(100)
}
