//! The wire format of diffs.

use super::*;

#[test]
fn diff_has_a_stable_json_form() {
    let line = DiffLine::plain('+', None, Some(1), "hello".to_owned());
    let hunk = Hunk { header: "@@ -0,0 +1 @@".to_owned(), lines: vec![line] };
    let file = FileDiff {
        path: "b.rs".to_owned(),
        old_path: Some("a.rs".to_owned()),
        change: FileChange::Renamed,
        added: 1,
        removed: 0,
        binary: false,
        lines: None,
        folded: false,
        hunks: vec![hunk],
    };
    let diff = Diff { base: "a1".to_owned(), head: "b2".to_owned(), files: vec![file], truncated: false };
    let text = serde_json::to_string(&diff).unwrap();
    insta::assert_snapshot!(text, @r#"{"base":"a1","head":"b2","files":[{"path":"b.rs","old_path":"a.rs","change":"renamed","added":1,"removed":0,"binary":false,"hunks":[{"header":"@@ -0,0 +1 @@","lines":[{"origin":"+","old_line":null,"new_line":1,"text":"hello"}]}]}],"truncated":false}"#);
    assert_eq!(serde_json::from_str::<Diff>(&text).unwrap(), diff);
    let changes = [FileChange::Added, FileChange::Removed, FileChange::Modified, FileChange::Renamed, FileChange::ModeChanged];
    insta::assert_snapshot!(serde_json::to_string(&changes).unwrap(), @r#"["added","removed","modified","renamed","mode_changed"]"#);
}

#[test]
fn colours_and_marks_are_sent_only_where_there_are_some() {
    let spans = vec![Span { start: 0, end: 3, kind: SpanKind::Keyword }];
    let line = DiffLine { spans, marks: vec![Mark { start: 4, end: 5 }], ..DiffLine::plain(' ', Some(1), Some(1), "let x".to_owned()) };
    insta::assert_snapshot!(serde_json::to_string(&line).unwrap(), @r#"{"origin":" ","old_line":1,"new_line":1,"text":"let x","spans":[{"start":0,"end":3,"kind":"keyword"}],"marks":[{"start":4,"end":5}]}"#);
}

#[test]
fn only_images_without_scripts_are_shown() {
    assert_eq!(image_type("docs/Logo.PNG"), Some("image/png"));
    assert_eq!(["a.svg", "a.html", "png", "a.jpeg.js"].map(image_type), [None; 4]);
}
