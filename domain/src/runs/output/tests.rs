//! The wire format of transcripts.

use super::*;

#[test]
fn transcript_has_a_stable_json_form() {
    let line = |kind, detail: Option<&str>| OutputLine { offset: 10, kind, text: "ls".to_owned(), detail: detail.map(str::to_owned) };
    let output = Output { lines: vec![line(OutputKind::ToolUse, Some("{}")), line(OutputKind::Text, None)], next: 20, complete: false };
    let text = serde_json::to_string(&output).unwrap();
    insta::assert_snapshot!(text, @r#"{"lines":[{"offset":10,"kind":"tool_use","text":"ls","detail":"{}"},{"offset":10,"kind":"text","text":"ls"}],"next":20,"complete":false}"#);
    assert_eq!(serde_json::from_str::<Output>(&text).unwrap(), output);
}

#[test]
fn kinds_have_stable_names() {
    let kinds: Vec<&str> = OutputKind::ALL.iter().map(|kind| kind.as_str()).collect();
    insta::assert_snapshot!(kinds.join(" "), @"start text thinking tool_use edit tool_result tool_error message result error note");
}
