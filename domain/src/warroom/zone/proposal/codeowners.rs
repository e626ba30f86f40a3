//! Zones from the file CODEOWNERS, whose syntax GitHub defines: a pattern and its owners on each line, of which the last that matches counts.
//!
//! Of the paths of zones, the most specific counts. So what differs is told, by comparing both on the files of the repository.

use super::{Names, ProposalSource, ZoneProposal, ZoneProposals, cut, to_letters};
use crate::id::ProjectId;
use crate::team::agent::is_short_for;
use crate::time::Timestamp;
use crate::warroom::claim::ClaimPath;
use crate::warroom::commit_files::CommitFiles;
use crate::warroom::zone::lookup::ZoneLookup;
use crate::warroom::zone::{MAX_PATHS, MAX_ZONES, NewZone, Zone};

/// The most lines that are read, and the most remarks on them.
const MAX_RULES: usize = 1_000;
const MAX_REMARKS: usize = 30;

/// A line with a pattern that zones can express.
struct Rule {
    line: usize,
    paths: Vec<ClaimPath>,
    owners: Vec<String>,
    /// The place of its proposal. Without owners, it has none.
    zone: Option<usize>,
}

pub(super) fn propose(file: &str, text: &str, files: &CommitFiles, zones: &[Zone], participants: &[String]) -> ZoneProposals {
    let mut remarks = Vec::new();
    let mut rules = rules(text, &mut remarks);
    let mut names = Names::new(zones);
    let mut proposals: Vec<(ZoneProposal, Vec<String>, String)> = Vec::new();
    for number in 0..rules.len() {
        let (before, after) = rules.split_at_mut(number + 1);
        let Some(rule) = before.last_mut().filter(|rule| !rule.owners.is_empty()) else { continue };
        if let Some(later) = after.iter().find(|later| later.paths == rule.paths) {
            remarks.push(format!("line {}: line {} is about the same files", rule.line, later.line));
            continue;
        }
        if let Some((path, zone)) = rule.paths.iter().find_map(|path| Some((path, zones.iter().find(|zone| zone.paths.contains(path))?))) {
            remarks.push(format!("line {}: {path} is already in the zone {}", rule.line, zone.name));
            continue;
        }
        let base = rule.paths.first().map(ToString::to_string).unwrap_or_default();
        let key = cut(&base.split('/').map(to_letters).rfind(|word| !word.is_empty()).unwrap_or_default());
        let same = proposals
            .iter()
            .position(|(known, owners, of)| *owners == rule.owners && *of == key && known.zone.paths.len() + rule.paths.len() <= MAX_PATHS);
        let place = match same {
            Some(place) => place,
            None if zones.len() + proposals.len() >= MAX_ZONES => {
                remarks.push(format!("line {}: a project has at most {MAX_ZONES} zones", rule.line));
                continue;
            }
            None => {
                let (owner, note) = owner(&rule.owners, participants);
                let zone = NewZone { name: names.take(&base), owner, ..NewZone::default() };
                proposals.push((ZoneProposal { zone, note }, rule.owners.clone(), key));
                proposals.len() - 1
            }
        };
        if let Some((proposal, ..)) = proposals.get_mut(place) {
            proposal.zone.paths.extend(rule.paths.iter().map(ToString::to_string));
        }
        rule.zone = Some(place);
    }
    let proposals: Vec<ZoneProposal> = proposals.into_iter().map(|(proposal, ..)| proposal).collect();
    remarks.extend(differences(&rules, &proposals, files));
    if remarks.len() > MAX_REMARKS {
        let more = remarks.len() - MAX_REMARKS;
        remarks.truncate(MAX_REMARKS);
        remarks.push(format!("and {more} more"));
    }
    ZoneProposals { from: ProposalSource::Codeowners, source: file.to_owned(), proposals, skipped: remarks }
}

/// The participant among the owners, and what else the file says about them.
fn owner(owners: &[String], participants: &[String]) -> (Option<String>, Option<String>) {
    let known = |owner: &String| {
        let name = owner.trim_start_matches('@');
        participants.iter().find(|participant| is_short_for(name, participant)).cloned()
    };
    let found = owners.iter().find_map(known);
    let others: Vec<&str> = owners.iter().filter(|owner| known(owner) != found || found.is_none()).map(String::as_str).collect();
    (found, (!others.is_empty()).then(|| format!("CODEOWNERS names {}", others.join(", "))))
}

/// Reads the lines that zones can express, and remarks on the others.
fn rules(text: &str, remarks: &mut Vec<String>) -> Vec<Rule> {
    let mut rules = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        let mut words = split_words(line).into_iter();
        let Some(pattern) = words.next() else { continue };
        if rules.len() >= MAX_RULES {
            remarks.push(format!("line {line_number} and later: only {MAX_RULES} lines are read"));
            break;
        }
        let owners: Vec<String> = words.collect();
        if owners.is_empty() {
            remarks.push(format!("line {line_number}: {pattern} has no owner; a zone cannot exclude files"));
        }
        match paths(&pattern) {
            Ok(paths) => rules.push(Rule { line: line_number, paths, owners, zone: None }),
            Err(reason) => remarks.push(format!("line {line_number}: {pattern} {reason}")),
        }
    }
    rules
}

/// The words of a line up to a comment. A backslash keeps a space in a word.
fn split_words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut letters) = (String::new(), line.chars().peekable());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek().is_some_and(|next| next.is_whitespace()) => word.extend(letters.next()),
            '#' if word.is_empty() => break,
            letter if letter.is_whitespace() => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            letter => word.push(letter),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// Returns the paths of a zone that stand for the same files as a pattern.
fn paths(pattern: &str) -> Result<Vec<ClaimPath>, String> {
    if pattern.starts_with('!') || pattern.starts_with("\\#") || pattern.contains(['[', ']']) {
        return Err("has a form that GitHub does not support either".to_owned());
    }
    if pattern.chars().all(|letter| matches!(letter, '*' | '?' | '/' | '.')) {
        return Err("consists of wildcards, which is not allowed in a zone".to_owned());
    }
    let inside = pattern.trim_start_matches('/');
    let name = inside.trim_end_matches('/');
    // A slash at the beginning or in the middle ties the pattern to the root; without one, it counts in each folder.
    let written = if pattern.starts_with('/') || name.contains('/') {
        vec![inside.to_owned()]
    } else if inside.ends_with('/') || name.contains(['*', '?', '.']) {
        vec![format!("**/{inside}")]
    } else {
        vec![format!("**/{name}/"), format!("**/{name}")]
    };
    written.iter().map(|path| ClaimPath::parse(path, &[]).map_err(|refusal| format!("cannot be a zone: {refusal}"))).collect()
}

/// Tells how many files the zones would give to others than the file does.
fn differences(rules: &[Rule], proposals: &[ZoneProposal], files: &CommitFiles) -> Option<String> {
    let zone = |proposal: &ZoneProposal| Zone {
        project_id: ProjectId::new(1),
        name: proposal.zone.name.clone(),
        paths: proposal.zone.paths.iter().filter_map(|path| path.parse().ok()).collect(),
        owner: None,
        oracle: None,
        author: String::new(),
        set_at: Timestamp::from_milliseconds(0),
    };
    let zones: Vec<Zone> = proposals.iter().map(zone).collect();
    let lookup = ZoneLookup::new(&zones);
    let (mut count, mut first) = (0_usize, None);
    for file in files.files.iter() {
        let Ok(path) = file.path.parse::<ClaimPath>() else { continue };
        let said = rules.iter().rev().find(|rule| rule.paths.iter().any(|own| own.covers_file(&path))).and_then(|rule| rule.zone);
        if lookup.position_of(&path) != said {
            count += 1;
            first.get_or_insert(&file.path);
        }
    }
    let first = first?;
    Some(format!(
        "{count} files would have other owners than the last matching line says, such as {first}, because the most specific path of a zone decides"
    ))
}
