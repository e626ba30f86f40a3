//! The onboarding text: how agents work together here, and what each role does.
//!
//! It must not know who registers.

use domain::prompt::{Prompt, Prompts};
use domain::team::role::Role;

/// Returns the protocol, then the text of each role.
pub(super) fn text(prompts: &Prompts, roles: &[Role]) -> String {
    let prompts = [prompts.text(Prompt::Protocol)].into_iter().chain(roles.iter().map(|role| prompts.text(*role)));
    prompts.map(str::trim_end).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_comes_first_and_once_and_each_part_can_be_replaced() {
        let mut prompts = Prompts::default();
        let (protocol, tester) = (Prompt::Protocol.built_in().trim_end(), Prompt::TesterRole.built_in().trim_end());
        assert_eq!(text(&prompts, &[]), protocol);
        let both = text(&prompts, &[Role::Coder, Role::Tester]);
        assert!(both.starts_with(protocol) && both.matches(protocol).count() == 1 && both.ends_with(tester));
        prompts.replace(Prompt::Protocol, "protocol.md".into(), "Be brief.").unwrap();
        prompts.replace(Prompt::CoderRole, "roles/coder.md".into(), "Write tests.").unwrap();
        assert_eq!(text(&prompts, &[Role::Coder, Role::Tester]), format!("Be brief.\n\nWrite tests.\n\n{tester}"));
    }
}
