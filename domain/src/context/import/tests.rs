//! Names of imported agents, and what a report counts.

use super::*;

fn taken(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn valid_names_stay_and_others_become_valid() {
    let none = taken(&[]);
    assert_eq!(agent_name("mara", None, &none), "mara");
    assert_eq!(agent_name("mara", Some("platform"), &none), "platform/mara");
    assert_eq!(agent_name("platform/mara", Some("other"), &none), "platform/mara");
    assert_eq!(agent_name("claude main", None, &none), "claude-main");
    assert_eq!(agent_name("", None, &none), "agent");
    for reserved in ["human", "ALL", "runner", "coder-TASK-001", "global"] {
        assert_eq!(agent_name(reserved, None, &none), format!("imported-{reserved}"), "{reserved}");
    }
    let long = agent_name(&"x".repeat(500), Some(&"y".repeat(500)), &none);
    assert!(full_name(&long, None).is_ok(), "{long}");
    assert!(full_name(&agent_name("añil/🦀", None, &none), None).is_ok());
}

#[test]
fn names_that_differ_in_case_only_are_told_apart() {
    let known = taken(&["Mara"]);
    assert_eq!(agent_name("mara", None, &known), "imported-mara");
    assert_eq!(agent_name("mara", None, &taken(&["Mara", "imported-mara"])), "mara-2");
}

#[test]
fn report_lists_the_first_problems_and_counts_the_others() {
    let request = NewImport { source: ImportSource::DeadDrop, path: "/a".to_owned(), project_id: ProjectId::new(1), dry_run: true };
    let mut report = ImportReport::new(&request);
    for number in 0..MAX_PROBLEMS + 3 {
        let problem =
            ImportProblem { kind: ImportKind::Task, record: number.to_string(), problem: "it is empty".to_owned(), skipped: number % 2 == 0 };
        report.add_problem(problem);
    }
    assert_eq!((report.problems.len(), report.further_problems), (MAX_PROBLEMS, 3));
    assert_eq!(report.count(ImportKind::Task).skipped, 102);
    assert_eq!(report.counts.len(), 1);
}
