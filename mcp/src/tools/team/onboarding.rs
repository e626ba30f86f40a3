//! The onboarding text: how agents work together here, and what each role does. The text itself is in `agents/`, or in files beside the database.
//!
//! It must not know who registers.

use std::path::Path;

use domain::team::role::Role;

const PROTOCOL: &str = include_str!("../../../../agents/protocol.md");
/// Larger files are ignored, because every agent that joins pays for them.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// Returns the protocol, then the text of each role. A file `protocol.md` or `roles/ROLE.md` in `folder` replaces the text of this program.
pub(super) fn text(folder: &Path, roles: &[Role]) -> String {
    let own = |name: &str, default: &str| file(&folder.join(name)).unwrap_or_else(|| default.to_owned());
    let protocol = own("protocol.md", PROTOCOL);
    let roles = roles.iter().map(|one| own(&format!("roles/{one}.md"), role(*one)));
    let parts: Vec<String> = [protocol].into_iter().chain(roles).map(|part| part.trim_end().to_owned()).collect();
    parts.join("\n\n")
}

/// Returns the text of a file; none if it does not exist or is not usable.
fn file(path: &Path) -> Option<String> {
    let size = std::fs::metadata(path).ok()?.len();
    if size > MAX_FILE_BYTES {
        tracing::warn!(path = %path.display(), size, "the file is too large for agents and is ignored");
        return None;
    }
    std::fs::read_to_string(path).inspect_err(|error| tracing::warn!(path = %path.display(), %error, "the file is ignored")).ok()
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
        let text = |roles: &[Role]| text(Path::new("/none"), roles);
        let both = text(&[Role::Coder, Role::Tester]);
        assert!(both.starts_with(PROTOCOL.trim_end()) && both.matches(PROTOCOL.trim_end()).count() == 1);
        assert!(both.ends_with(role(Role::Tester).trim_end()));
        assert_eq!(text(&[]), PROTOCOL.trim_end());
    }

    #[test]
    fn the_protocol_names_every_trigger_word() {
        for word in domain::warroom::trigger::TriggerWord::ALL {
            assert!(PROTOCOL.contains(&format!("`{word}`")), "{word}");
        }
    }

    #[test]
    fn files_beside_the_database_replace_the_texts() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("roles")).unwrap();
        std::fs::write(folder.path().join("protocol.md"), "Be brief.\n").unwrap();
        std::fs::write(folder.path().join("roles/coder.md"), "Write tests.\n").unwrap();
        let own = text(folder.path(), &[Role::Coder, Role::Tester]);
        assert_eq!(own, format!("Be brief.\n\nWrite tests.\n\n{}", role(Role::Tester).trim_end()));
        std::fs::write(folder.path().join("protocol.md"), "x".repeat(70_000)).unwrap();
        assert!(text(folder.path(), &[]).starts_with(PROTOCOL.trim_end()), "a file that is too large is ignored");
    }
}
