//! The wire format of diffs.

use super::*;

#[test]
fn diff_has_a_stable_json_form() {
    let line = DiffLine { origin: '+', old_line: None, new_line: Some(1), text: "hello".to_owned() };
    let hunk = Hunk { header: "@@ -0,0 +1 @@".to_owned(), lines: vec![line] };
    let file = FileDiff {
        path: "b.rs".to_owned(),
        old_path: Some("a.rs".to_owned()),
        change: FileChange::Renamed,
        added: 1,
        removed: 0,
        binary: false,
        hunks: vec![hunk],
    };
    let diff = Diff { base: "a1".to_owned(), head: "b2".to_owned(), files: vec![file], truncated: false };
    let text = serde_json::to_string(&diff).unwrap();
    insta::assert_snapshot!(text, @r#"{"base":"a1","head":"b2","files":[{"path":"b.rs","old_path":"a.rs","change":"renamed","added":1,"removed":0,"binary":false,"hunks":[{"header":"@@ -0,0 +1 @@","lines":[{"origin":"+","old_line":null,"new_line":1,"text":"hello"}]}]}],"truncated":false}"#);
    assert_eq!(serde_json::from_str::<Diff>(&text).unwrap(), diff);
    let changes = [FileChange::Added, FileChange::Removed, FileChange::Modified, FileChange::Renamed, FileChange::ModeChanged];
    insta::assert_snapshot!(serde_json::to_string(&changes).unwrap(), @r#"["added","removed","modified","renamed","mode_changed"]"#);
}
