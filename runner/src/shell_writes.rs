//! The files that a shell command writes, as far as they are known before it runs.
//!
//! Pure. It guesses nothing: a path with a variable or a wildcard, a loop's items and the work of scripts stay unknown, and are compared when
//! the work is submitted. Must not know the repository, or who may write a file.

mod command;
mod word;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use self::command::Written;
use self::word::literal;

/// The longest command that is read, in bytes, and the longest time for it, which only hostile commands need. The agent waits meanwhile.
const MAX_COMMAND_BYTES: usize = 64 * 1024;
const MAX_PARSE_TIME: Duration = Duration::from_millis(250);
/// The most files of one command. Each is claimed.
const MAX_FILES: usize = 50;
/// How deep scripts in arguments, as of `bash -c`, are read.
const MAX_DEPTH: usize = 3;

/// Lists the files that `command` writes, moves or removes if it runs in `folder`. `is_folder` tells whether a path is one, because `cp a b`
/// then writes `b/a`. Relative paths begin in `folder`; if that is empty, in the folder where the command runs.
pub fn written_files(command: &str, folder: &str, is_folder: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let mut reading = Reading { is_folder, files: BTreeSet::new() };
    reading.script(command, Some(folder.to_owned()), 0);
    reading.files
}

struct Reading<'f> {
    is_folder: &'f dyn Fn(&str) -> bool,
    files: BTreeSet<String>,
}

/// A step through the tree of a script, without recursion, because a hostile script nests deeply.
enum Step<'t> {
    Visit(Node<'t>),
    /// Returns to the folder from before a subshell.
    Return(Option<String>),
}

impl Reading<'_> {
    /// Reads a script that begins in `folder`, if that is known.
    fn script(&mut self, script: &str, mut folder: Option<String>, depth: usize) {
        if script.len() > MAX_COMMAND_BYTES || depth >= MAX_DEPTH {
            return;
        }
        let Some(tree) = parse(script) else { return };
        let mut steps = vec![Step::Visit(tree.root_node())];
        while let Some(step) = steps.pop() {
            let node = match step {
                Step::Return(before) => {
                    folder = before;
                    continue;
                }
                Step::Visit(node) => node,
            };
            match node.kind() {
                // The shell would not understand it either, or runs it later, if at all.
                "ERROR" | "function_definition" => continue,
                "subshell" | "command_substitution" | "process_substitution" | "pipeline" => steps.push(Step::Return(folder.clone())),
                "file_redirect" => self.redirect(node, script, folder.as_deref()),
                "command" => self.command(node, script, &mut folder, depth),
                _ => {}
            }
            let mut cursor = node.walk();
            let children: Vec<Node<'_>> = node.named_children(&mut cursor).collect();
            steps.extend(children.into_iter().rev().map(Step::Visit));
        }
    }

    fn redirect(&mut self, node: Node<'_>, script: &str, folder: Option<&str>) {
        let mut cursor = node.walk();
        let writes = node.children(&mut cursor).any(|child| matches!(child.kind(), ">" | ">>" | "&>" | "&>>" | ">|" | ">&"));
        let duplicates = node.children(&mut cursor).any(|child| child.kind() == ">&");
        let Some(target) = node.child_by_field_name("destination").filter(|_| writes) else { return };
        // `2>&1` names a descriptor.
        if let Some(path) = literal(target, script).filter(|path| !duplicates || path.parse::<u32>().is_err()) {
            self.add(folder, &path);
        }
    }

    fn command(&mut self, node: Node<'_>, script: &str, folder: &mut Option<String>, depth: usize) {
        let mut cursor = node.walk();
        let words = node.children(&mut cursor).filter_map(|child| match child.kind() {
            "command_name" => Some(child.named_child(0).and_then(|name| literal(name, script))),
            "variable_assignment" | "file_redirect" | "heredoc_redirect" | "herestring_redirect" => None,
            _ if child.is_named() => Some(literal(child, script)),
            _ => None,
        });
        let words: Vec<Option<String>> = words.collect();
        match command::written(&words, &|path| folder.as_deref().is_some_and(|folder| (self.is_folder)(&join(folder, path)))) {
            Written::Files(files) => files.iter().for_each(|path| self.add(folder.as_deref(), path)),
            Written::FilesIn { folder: inside, files } => {
                let inside = folder.as_deref().map(|folder| join(folder, &inside));
                files.iter().for_each(|path| self.add(inside.as_deref(), path));
            }
            Written::Folder(to) => *folder = to.filter(|to| to != "-").and_then(|to| in_folder(folder.as_deref(), &to)),
            Written::Script(inner) => self.script(&inner, folder.clone(), depth + 1),
        }
    }

    fn add(&mut self, folder: Option<&str>, path: &str) {
        // A wildcard in quotes is a name, but a claim would read it as a pattern.
        let is_name = !path.is_empty() && !path.contains(['*', '?']) && !path.contains(char::is_control);
        let Some(path) = in_folder(folder, path).filter(|path| is_name && !is_device(path)) else { return };
        if self.files.len() < MAX_FILES {
            self.files.insert(path);
        }
    }
}

/// Whether a path is that of a device. `/dev/shm` has files.
fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

fn in_folder(folder: Option<&str>, path: &str) -> Option<String> {
    if path.starts_with('/') { Some(path.to_owned()) } else { folder.map(|folder| join(folder, path)) }
}

fn join(folder: &str, path: &str) -> String {
    match folder {
        _ if path.starts_with('/') => path.to_owned(),
        "" => path.to_owned(),
        folder => format!("{}/{path}", folder.trim_end_matches('/')),
    }
}

/// Parses a script in a thread of its own. The parser asks whether it is late only now and then, and a long pipeline without an end keeps it
/// busy for many seconds. The process of a hook ends soon, and the thread with it.
fn parse(script: &str) -> Option<Tree> {
    let script = script.to_owned();
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().name("shell-parser".to_owned()).spawn(move || sender.send(parse_until_late(script.as_bytes()))).ok()?;
    receiver.recv_timeout(MAX_PARSE_TIME).ok()?
}

fn parse_until_late(script: &[u8]) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let deadline = Instant::now() + MAX_PARSE_TIME;
    let mut is_late = |_: &ParseState| if Instant::now() > deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut is_late);
    parser.parse_with_options(&mut |offset, _| script.get(offset..).unwrap_or_default(), None, Some(options))
}

#[cfg(test)]
mod tests;
