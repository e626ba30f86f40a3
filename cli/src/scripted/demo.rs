//! The content of the demo: a small web page, and the scenario in which agents finish it. Must not know how the demo runs.

/// The scenario file that the demo's scripted agents play.
pub const SCENARIO: &str = include_str!("demo/scenario.json");

/// The initial files of the demo's repository, by path.
pub const FILES: [(&str, &str); 5] = [
    ("CLAUDE.md", include_str!("demo/site/CLAUDE.md")),
    ("README.md", include_str!("demo/site/README.md")),
    ("check.sh", include_str!("demo/site/check.sh")),
    ("index.html", include_str!("demo/site/index.html")),
    ("style.css", include_str!("demo/site/style.css")),
];
