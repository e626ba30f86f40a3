//! Names, audiences, lifetimes and permissions of tokens.

use proptest::prelude::*;

use super::*;
use crate::team::person::PersonRole;

#[test]
fn audience_includes_itself_and_both_include_each() {
    use TokenAudience::{Api, Both, Mcp};
    let accepted = |audience: TokenAudience| [Mcp, Api].map(|interface| audience.includes(interface));
    assert_eq!([accepted(Mcp), accepted(Api), accepted(Both)], [[true, false], [false, true], [true, true]]);
}

#[test]
fn name_is_twelve_digits_of_a_hash() {
    assert_eq!("0123456789ab".parse::<TokenName>().unwrap().to_string(), "0123456789ab");
    for bad in ["", "0123456789a", "0123456789abc", "0123456789AB", "0123456789a\0", "../0123456789", "ä23456789ab"] {
        assert!(bad.parse::<TokenName>().is_err(), "{bad:?}");
    }
    assert!("x".repeat(1 << 20).parse::<TokenName>().unwrap_err().given.len() <= 60);
}

#[test]
fn lifetime_is_between_a_second_and_ten_years() {
    let now = Timestamp::from_milliseconds(1_000);
    assert_eq!(validate_lifetime(60, now), Ok(Timestamp::from_milliseconds(61_000)));
    for bad in [0, MAX_LIFETIME.as_secs() + 1, 1_000_000_000_000_000_000, u64::MAX] {
        assert!(validate_lifetime(bad, now).unwrap_err().to_string().contains("seconds"), "{bad}");
    }
}

#[test]
fn tokens_of_the_owner_and_of_runs_have_actions_of_their_own() {
    let token = |kind, holder: Option<&str>| Token {
        name: EXAMPLE_NAME.parse().unwrap(),
        kind,
        holder: holder.map(str::to_owned),
        project_id: None,
        audience: TokenAudience::Mcp,
        reach: TokenReach::Project,
        permissions: Permissions::default(),
        created_at: Timestamp::from_milliseconds(0),
        expires_at: None,
        last_used_at: None,
    };
    assert_eq!(token(TokenKind::Human, Some("human")).require_revocable(), Err(TokenRefusal::OfOwner));
    assert_eq!(token(TokenKind::Run, Some("reviewer")).require_revocable(), Err(TokenRefusal::OfRun));
    for (kind, holder) in [(TokenKind::Human, Some("human/ann")), (TokenKind::Agent, Some("mara")), (TokenKind::Invite, None)] {
        assert_eq!(token(kind, holder).require_revocable(), Ok(()));
    }
}

#[test]
fn permissions_of_a_person_are_those_of_the_role() {
    let of = |role: PersonRole| role.permissions().to_string();
    assert_eq!([PersonRole::Owner, PersonRole::Member, PersonRole::Viewer].map(of), ["read write admin", "read write", "read"]);
}

proptest! {
    #[test]
    fn asking_for_permissions_gives_none(write: bool, admin: bool, asked in proptest::collection::vec(0..3_usize, 0..5)) {
        let held = Permissions { write, admin };
        let asked: Vec<Permission> = asked.into_iter().map(|index| Permission::ALL[index]).collect();
        for given in held.held_of(&asked) {
            prop_assert!(held.has(given) && asked.contains(&given));
        }
        prop_assert_eq!(held.to_string().parse(), Ok(held));
        prop_assert_eq!(serde_json::from_value(serde_json::to_value(held).unwrap()).ok(), Some(held));
    }
}
