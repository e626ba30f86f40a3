//! Whether two sequences with wildcards have a sequence in common. Must not know what their items are.

/// Returns whether some sequence matches both `one` and `other`. An item that `is_any` stands for any number of items; two other items match if
/// they are `compatible`. Takes the product of both lengths, in time and in space.
pub(super) fn intersect<T>(one: &[T], other: &[T], is_any: impl Fn(&T) -> bool, compatible: impl Fn(&T, &T) -> bool) -> bool {
    // Whether the rest of `one` and the rests of `other` from each place on intersect, for the item of `one` that was looked at last.
    let mut after = vec![false; other.len() + 1];
    for place in (0..=one.len()).rev() {
        let mut row = vec![false; other.len() + 1];
        for at in (0..=other.len()).rev() {
            row[at] = match (one.get(place), other.get(at)) {
                (None, None) => true,
                (Some(item), counterpart) if is_any(item) => after[at] || (counterpart.is_some() && row[at + 1]),
                (item, Some(counterpart)) if is_any(counterpart) => row[at + 1] || (item.is_some() && after[at]),
                (Some(item), Some(counterpart)) => after[at + 1] && compatible(item, counterpart),
                (None, Some(_)) | (Some(_), None) => false,
            };
        }
        after = row;
    }
    after[0]
}
