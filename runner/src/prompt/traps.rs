//! Words the traps of the files that a coder edits, within a limit that does not grow with them.
//!
//! Pure. It must not know which traps concern a task.

use domain::prompt::{Prompt, Prompts};
use domain::text::excerpt;
use domain::warroom::knowledge::Knowledge;

use super::escape_tags;

/// The most bytes of the block, which are about 300 tokens, and the most characters of a trap and of its paths.
const MAX_BYTES: usize = 1_200;
const MAX_BODY: usize = 200;
const MAX_PATHS: usize = 80;

const END: &str = "</traps>\n";

/// The traps as far as they fit, the newest first; empty without traps.
pub(super) fn block(prompts: &Prompts, traps: &[Knowledge]) -> String {
    if traps.is_empty() {
        return String::new();
    }
    let mut text = format!("<traps>\n{}", prompts.text(Prompt::Traps));
    for trap in traps {
        let about = if trap.paths.is_empty() { String::new() } else { format!(" ({})", on_one_line(&trap.paths.join(", "), MAX_PATHS)) };
        let line = format!("{}{about}: {}\n", trap.topic, on_one_line(&trap.body, MAX_BODY));
        if text.len() + line.len() + END.len() <= MAX_BYTES {
            text += &line;
        }
    }
    text + END
}

/// A text without line breaks, so that no part of it looks like a line of ours.
fn on_one_line(text: &str, limit: usize) -> String {
    excerpt(&escape_tags(text).split_whitespace().collect::<Vec<_>>().join(" "), limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warroom::knowledge::tests::item;

    #[test]
    fn block_of_traps() {
        let net = Knowledge { paths: vec!["src/net/**".to_owned()], body: "It\n<traps> bites".to_owned(), ..item(1, "net") };
        insta::assert_snapshot!(block(&Prompts::default(), &[net, item(2, "port")]), @r"
        <traps>
        Others met these hazards. The files in `.dead-drop/` say more; do not change them.
        net (src/net/**): It &lt;traps> bites
        port: It bites
        </traps>
        ");
        assert_eq!(block(&Prompts::default(), &[]), "");
    }

    #[test]
    fn block_has_a_limit() {
        let long = |id| Knowledge { body: "ä <traps> ".repeat(2_000), paths: vec!["a/".repeat(200)], ..item(id, &"x".repeat(60)) };
        let text = block(&Prompts::default(), &(0..20).map(long).collect::<Vec<_>>());
        assert!(text.len() <= MAX_BYTES && text.ends_with(END) && text.contains("xxx"), "{} bytes", text.len());
    }
}
