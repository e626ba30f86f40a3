//! The onboarding text: how agents work together here, and what each role does. The text itself is in `agents/`.
//!
//! It must not know who registers.

use domain::team::role::Role;

const PROTOCOL: &str = include_str!("../../../../agents/protocol.md");

/// Returns the protocol, then the text of each role.
pub(super) fn text(roles: &[Role]) -> String {
    let parts: Vec<&str> = [PROTOCOL].into_iter().chain(roles.iter().copied().map(role)).map(str::trim_end).collect();
    parts.join("\n\n")
}

fn role(role: Role) -> &'static str {
    match role {
        Role::Lead => include_str!("../../../../agents/roles/lead.md"),
        Role::Builder => include_str!("../../../../agents/roles/builder.md"),
        Role::Fixer => include_str!("../../../../agents/roles/fixer.md"),
        Role::Tester => include_str!("../../../../agents/roles/tester.md"),
        Role::Reviewer => include_str!("../../../../agents/roles/reviewer.md"),
        Role::Productionalizer => include_str!("../../../../agents/roles/productionalizer.md"),
        Role::Pen => include_str!("../../../../agents/roles/pen.md"),
        Role::Shipper => include_str!("../../../../agents/roles/shipper.md"),
        Role::Researcher => include_str!("../../../../agents/roles/researcher.md"),
        Role::Coder => include_str!("../../../../agents/roles/coder.md"),
        Role::Maintainer => include_str!("../../../../agents/roles/maintainer.md"),
        Role::Demoer => include_str!("../../../../agents/roles/demoer.md"),
        Role::Deliverer => include_str!("../../../../agents/roles/deliverer.md"),
        Role::Pusher => include_str!("../../../../agents/roles/pusher.md"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_has_its_own_text() {
        for one in Role::ALL {
            assert!(!role(*one).trim().is_empty(), "{one}");
            assert!(role(*one).len() < 4_000, "{one}: {} bytes", role(*one).len());
            assert!(Role::ALL.iter().all(|other| one == other || role(*one) != role(*other)), "{one} has the text of another role");
        }
    }

    #[test]
    fn the_protocol_comes_first_and_once() {
        let both = text(&[Role::Coder, Role::Tester]);
        assert!(both.starts_with(PROTOCOL.trim_end()) && both.matches(PROTOCOL.trim_end()).count() == 1);
        assert!(both.ends_with(role(Role::Tester).trim_end()));
        assert_eq!(text(&[]), PROTOCOL.trim_end());
    }
}
