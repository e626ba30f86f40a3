//! The zones as a file for agents: what each covers, and whom to ask. Must not know where the file is.

use std::fmt::Write as _;

use super::Zone;

/// Returns the assignments of zones as Markdown.
pub fn code_owners(zones: &[Zone]) -> String {
    let mut text = "# Zones\n\nA file belongs to the zone with the most specific path that covers it.\n".to_owned();
    for zone in zones {
        let _ = write!(text, "\n## {}\n\n", zone.name);
        for (role, name) in [("owner", &zone.owner), ("oracle, for questions", &zone.oracle)] {
            if let Some(name) = name {
                let _ = writeln!(text, "- {role}: {name}");
            }
        }
        for path in &zone.paths {
            let _ = writeln!(text, "- `{path}`");
        }
    }
    text
}
