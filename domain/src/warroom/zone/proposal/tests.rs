//! Zones that CODEOWNERS and the code map propose.

use super::evidence::ProposalEvidence;
use super::*;
use crate::id::ProjectId;
use crate::time::Timestamp;
use crate::warroom::code_map::{CodeMapSummary, SourceFolder};
use crate::warroom::commit_files::{CommitFile, CommitFiles};
use crate::warroom::zone::MAX_ZONES;

fn taken(name: &str, path: &str) -> Zone {
    Zone {
        project_id: ProjectId::new(1),
        name: name.to_owned(),
        paths: vec![path.parse().unwrap()],
        owner: None,
        oracle: None,
        author: "human".to_owned(),
        set_at: Timestamp::from_milliseconds(0),
    }
}

fn codeowners(text: &str, zones: &[Zone], files: &[&str]) -> ZoneProposals {
    let files = files.iter().map(|path| CommitFile { path: (*path).to_owned(), bytes: 1 }).collect();
    let files = CommitFiles { branch: "main".to_owned(), commit: "1234567".to_owned(), files };
    let evidence = ProposalEvidence::Codeowners { found: Some((".github/CODEOWNERS".to_owned(), text.to_owned())), files };
    ZoneProposals::of(&evidence, zones, &["human/ann".to_owned(), "red/ivy".to_owned()]).unwrap()
}

/// Each proposal on a line.
fn listed(found: &ZoneProposals) -> String {
    let line = |proposal: &ZoneProposal| {
        let NewZone { name, paths, owner, .. } = &proposal.zone;
        format!("{name}: {} | {} | {}", paths.join(" "), owner.as_deref().unwrap_or("-"), proposal.note.as_deref().unwrap_or("-"))
    };
    found.proposals.iter().map(line).chain(found.skipped.iter().map(|skipped| format!("skipped {skipped}"))).collect::<Vec<_>>().join("\n")
}

#[test]
fn codeowners_become_zones_as_far_as_they_can() {
    let text = "# The owners\n\n*       @org/all\n*.js    @org/web # the scripts\n/docs/  @ann ann@example.org\ndocs/old @org/past\napps/   @ivy\nmakefile @ivy\n\
        /src/a\\ b/*.rs @org/space\n!secret @x\n[ab].c @x\n/docs/free\n/core/ @org/core\n/build/ @org/one\n/build/ @org/two\n../etc @x\n";
    let zones = [taken("core", "core/")];
    let found = codeowners(text, &zones, &["docs/a.md", "docs/b.js", "docs/free/c.md", "web/d.js", "apps/e.rs", "x/apps/f.rs", "src/a b/g.rs"]);
    insta::assert_snapshot!(listed(&found), @"
    js: **/*.js | - | CODEOWNERS names @org/web
    docs: docs/** | human/ann | CODEOWNERS names ann@example.org
    old: docs/old | - | CODEOWNERS names @org/past
    apps: **/apps/** | red/ivy | -
    makefile: **/makefile/** **/makefile | red/ivy | -
    rs: src/a b/*.rs | - | CODEOWNERS names @org/space
    build: build/** | - | CODEOWNERS names @org/two
    skipped line 3: * consists of wildcards, which is not allowed in a zone
    skipped line 10: !secret has a form that GitHub does not support either
    skipped line 11: [ab].c has a form that GitHub does not support either
    skipped line 12: /docs/free has no owner; a zone cannot exclude files
    skipped line 16: ../etc cannot be a zone: ../etc is outside of the repository
    skipped line 13: core/** is already in the zone core
    skipped line 14: line 15 is about the same files
    skipped 1 files would have other owners than the last matching line says, such as docs/free/c.md, because the most specific path of a zone decides
    ");
    assert_eq!((found.from, found.source.as_str()), (ProposalSource::Codeowners, ".github/CODEOWNERS"));
    let general_last = codeowners("/src/a/ @one\n/src/ @two\n", &[], &["src/a/x.rs", "src/b.rs"]);
    assert!(general_last.skipped[0].starts_with("1 files would have other owners"), "{:?}", general_last.skipped);
}

#[test]
fn proposals_can_be_set_as_they_are() {
    let text: String = (0..150).map(|number| format!("/f{number}/x/ @o{number}\n")).collect();
    let found = codeowners(&text, &[taken("x", "y/")], &[]);
    assert_eq!(found.proposals.len(), MAX_ZONES - 1);
    let names: std::collections::BTreeSet<&str> = found.proposals.iter().map(|proposal| proposal.zone.name.as_str()).collect();
    assert!(names.len() == found.proposals.len() && !names.contains("x") && names.contains("f0-x"), "{names:?}");
    for proposal in &found.proposals {
        crate::warroom::zone::name::validate_name(&proposal.zone.name).unwrap();
        proposal.zone.paths(&[]).unwrap();
    }
    assert!(found.skipped.len() <= 31);
}

#[test]
fn code_map_proposes_folders_with_enough_code_and_divides_large_ones() {
    let folders = [
        ("", 50),
        ("cli/src", 900),
        ("docs", 20),
        ("lib", 100),
        ("lib/parser", 4_000),
        ("lib/parser/src", 10),
        ("lib/tests", 1_000),
        ("old/src", 300),
    ];
    let folders = folders.iter().map(|(path, lines)| SourceFolder { path: (*path).to_owned(), files: 1, lines: *lines }).collect();
    let summary = CodeMapSummary { commit: "1234567".to_owned(), folders, ..CodeMapSummary::default() };
    let found = ZoneProposals::of(&ProposalEvidence::CodeMap(Some(summary)), &[taken("parser", "old/")], &[]).unwrap();
    insta::assert_snapshot!(listed(&found), @"
    cli: cli/ | - | 900 lines of code
    lib: lib/ | - | 5110 lines of code
    lib-parser: lib/parser/ | - | 4010 lines of code
    tests: lib/tests/ | - | 1000 lines of code
    skipped old/ is already in the zone parser
    ");
    let wide = (0..100).map(|number| SourceFolder { path: format!("f{number}"), files: 1, lines: 1_000 }).collect();
    let summary = CodeMapSummary { folders: wide, ..CodeMapSummary::default() };
    let found = ZoneProposals::of(&ProposalEvidence::CodeMap(Some(summary)), &[], &[]).unwrap();
    assert_eq!((found.proposals.len(), found.skipped.as_slice()), (20, &["80 smaller folders".to_owned()][..]));
}

#[test]
fn missing_sources_are_refused() {
    let files = CommitFiles { branch: "main".to_owned(), commit: "1234567".to_owned(), files: [].into() };
    let code = |evidence: &ProposalEvidence| ZoneProposals::of(evidence, &[], &[]).unwrap_err().code();
    assert_eq!(code(&ProposalEvidence::Codeowners { found: None, files }), "codeowners-missing");
    assert_eq!(code(&ProposalEvidence::CodeMap(None)), "code-map-missing");
}
