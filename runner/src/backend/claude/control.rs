//! Claude Code's control protocol over stdin: requests that are not messages to the model. Pure.

use serde_json::json;

/// The order to end the current turn, for the agent's stdin, without its newline. `id` returns with the program's confirmation.
pub fn encode_interrupt(id: &str) -> String {
    json!({ "type": "control_request", "request_id": id, "request": { "subtype": "interrupt" } }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupt_is_a_control_request_under_its_id() {
        insta::assert_snapshot!(encode_interrupt("one"), @r#"{"request":{"subtype":"interrupt"},"request_id":"one","type":"control_request"}"#);
    }
}
