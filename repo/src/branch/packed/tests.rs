//! Removing one entry changes no other byte.

use super::extract;

const TEXT: &str = "# pack-refs with: peeled fully-peeled sorted \n\
    1111111111111111111111111111111111111111 refs/heads/vr\n\
    2222222222222222222222222222222222222222 refs/heads/vr/work\n\
    3333333333333333333333333333333333333333 refs/tags/v1\n\
    ^4444444444444444444444444444444444444444\n\
    5555555555555555555555555555555555555555 refs/tags/v2\n";

fn without(text: &str, name: &str) -> (Option<String>, String) {
    let (value, rest) = extract(text.as_bytes(), name);
    (value.map(|id| id.to_string()), String::from_utf8(rest).unwrap())
}

#[test]
fn a_tag_is_removed_with_its_peeled_line() {
    let (value, rest) = without(TEXT, "refs/tags/v1");
    assert_eq!(value.unwrap(), "3".repeat(40));
    insta::assert_snapshot!(rest, @"
    # pack-refs with: peeled fully-peeled sorted 
    1111111111111111111111111111111111111111 refs/heads/vr
    2222222222222222222222222222222222222222 refs/heads/vr/work
    5555555555555555555555555555555555555555 refs/tags/v2
    ");
}

#[test]
fn only_a_full_name_matches() {
    let (value, rest) = without(TEXT, "refs/heads/vr");
    assert_eq!(value.unwrap(), "1".repeat(40));
    assert_eq!(rest, TEXT.replace(&format!("{} refs/heads/vr\n", "1".repeat(40)), ""));
    for name in ["refs/heads/v", "refs/heads/vr/", "work", ""] {
        assert_eq!(without(TEXT, name), (None, TEXT.to_owned()), "{name}");
    }
}

#[test]
fn line_ends_and_a_truncated_last_line_are_preserved() {
    let id = "1".repeat(40);
    let text = format!("{id} refs/heads/a\r\n{id} refs/heads/b");
    assert_eq!(without(&text, "refs/heads/a"), (Some(id.clone()), format!("{id} refs/heads/b")));
    assert_eq!(without(&text, "refs/heads/b"), (Some(id.clone()), format!("{id} refs/heads/a\r\n")));
    assert_eq!(without("", "refs/heads/a"), (None, String::new()));
    assert_eq!(without("\0\0\0\nshort\n", "refs/heads/a"), (None, "\0\0\0\nshort\n".to_owned()));
}
