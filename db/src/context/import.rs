//! Imports the database of another program into a project: read-only, a page at a time, and repeatable.
//!
//! Each page is one write, so that agents at work do not wait for all of it. Reads each row once, and the columns with names once more.

mod agent;
mod contract;
mod memory;
mod message;
mod session;
mod source;
mod task;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::context::import::{IgnoredTable, ImportEvent, ImportKind, ImportProblem, ImportReport, ImportSource, NewImport, agent_name};
use domain::team::agent::EVERYONE;

use self::agent::AgentItem;
use self::source::{Record, Source};
use self::write::{Item, Target, Written, known, remember};
use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::engine::writer::UseCase;
use crate::error::Result;
use crate::now;
use crate::team::agent::row as agents;

impl Db {
    /// Imports the records of another program's database into a project, or says what an import would do. Records that were imported from the
    /// same file before are skipped, so an interrupted import can be repeated.
    ///
    /// # Errors
    /// When the caller is not the owner, the project does not exist, or the file is not a database of that program.
    pub async fn import(&self, caller: &Caller, new: &NewImport) -> Result<ImportReport> {
        caller.require_owner("importing a database")?;
        projects::read(&mut *self.readers.acquire().await?, &new.project_id).await?;
        let (required, ignored): (&[&str], &[&str]) = match new.source {
            ImportSource::SharedContext => (&["sessions", "messages"], &["audit_log", "secure_tokens"]),
            ImportSource::DeadDrop => (&["agents", "messages"], &["handshakes", "handshake_acks", "spawn_policy", "minion_log"]),
        };
        let source = Source::open(new.source, &new.path, required).await?;
        let origin = format!("{}:{}", new.source, new.path);
        let target = Target { caller: caller.clone(), project: new.project_id.clone(), origin, names: Arc::default() };
        let mut import = Import { db: self, source, target, kind: new.source, report: ImportReport::new(new) };
        import.agents().await?;
        match new.source {
            ImportSource::SharedContext => import.shared_context().await?,
            ImportSource::DeadDrop => import.dead_drop().await?,
        }
        for table in ignored {
            let rows = import.source.count(table).await?;
            if rows > 0 {
                import.report.ignored.push(IgnoredTable { table: (*table).to_owned(), rows });
            }
        }
        Ok(import.report)
    }
}

/// Writes one record.
type WriteRecord<T> = for<'t> fn(&'t mut Tx, &'t Target, T) -> UseCase<'t, Written>;

/// A running import.
struct Import<'a> {
    db: &'a Db,
    source: Source,
    target: Target,
    kind: ImportSource,
    report: ImportReport,
}

impl Import<'_> {
    /// Names all agents that the database mentions, and writes them.
    async fn agents(&mut self) -> Result<()> {
        let mut originals = BTreeSet::new();
        for (table, column) in agent::columns(self.kind) {
            originals.extend(self.source.distinct(table, column).await?.into_iter().filter(|name| name != EVERYONE && !name.trim().is_empty()));
        }
        let mut described: BTreeMap<String, AgentItem> = BTreeMap::new();
        let mut teams: BTreeMap<String, String> = BTreeMap::new();
        let mut after = 0;
        if self.kind == ImportSource::DeadDrop {
            loop {
                let page = self.source.page("agents", after).await?;
                let Some(last) = page.last() else { break };
                after = last.place();
                for record in &page {
                    let Some(name) = record.text("name") else { continue };
                    teams.extend(record.text("team").map(|team| (name.clone(), team)));
                    described.insert(name.clone(), AgentItem::of(&name, record));
                }
            }
        }
        let before = {
            let originals = originals.iter().map(String::as_str).collect();
            known(&mut *self.db.readers.acquire().await?, &self.target, ImportKind::Agent, &originals).await?
        };
        let here = agents::names(&mut *self.db.readers.acquire().await?, &self.target.project).await?;
        let (mut names, mut taken) = (BTreeMap::new(), BTreeSet::new());
        for original in &originals {
            let name = before.get(original).cloned().unwrap_or_else(|| {
                let plain = agent_name(original, teams.get(original).map(String::as_str), &BTreeSet::new());
                // An agent with exactly this name here is the same one.
                if here.contains(&plain) && !taken.contains(&plain) {
                    return plain;
                }
                agent_name(original, teams.get(original).map(String::as_str), &here.union(&taken).cloned().collect())
            });
            taken.insert(name.clone());
            names.insert(original.clone(), name);
        }
        self.target.names = Arc::new(names);
        let items = originals.into_iter().map(|original| {
            let value = described.remove(&original).unwrap_or_else(|| AgentItem::named(&original));
            Item { original, value }
        });
        self.store(ImportKind::Agent, items.collect(), |tx, target, item| Box::pin(agent::write(tx, target, item))).await
    }

    async fn shared_context(&mut self) -> Result<()> {
        self.table(ImportKind::Session, "sessions", "id", session::SessionItem::of, |tx, target, item| Box::pin(session::write(tx, target, item)))
            .await?;
        let write_message: WriteRecord<session::MessageItem> = |tx, target, item| Box::pin(session::write_message(tx, target, item));
        self.table(ImportKind::SessionMessage, "messages", "id", session::MessageItem::of, write_message).await?;
        let at = now();
        let parse = move |record: &Record| memory::MemoryItem::of(record, at);
        self.table(ImportKind::Memory, "agent_memory", "id", parse, |tx, target, item| Box::pin(memory::write(tx, target, item))).await
    }

    async fn dead_drop(&mut self) -> Result<()> {
        self.table(ImportKind::Goal, "goals", "goal_id", task::GoalItem::of, |tx, target, item| Box::pin(task::write_goal(tx, target, item))).await?;
        self.table(ImportKind::Task, "tasks", "id", task::TaskItem::of, |tx, target, item| Box::pin(task::write(tx, target, item))).await?;
        self.messages().await?;
        let write: WriteRecord<contract::ContractItem> = |tx, target, item| Box::pin(contract::write(tx, target, item));
        self.table(ImportKind::Contract, "contracts", "id", contract::ContractItem::of, write).await
    }

    /// Imports the messages of dead-drop, whose copies are rows of their own behind the original.
    async fn messages(&mut self) -> Result<()> {
        let agents = self.source.distinct("agents", "name").await?;
        let mut after = 0;
        loop {
            let mut page = self.source.page("messages", after).await?;
            let Some(last) = page.last().map(Record::place) else { return Ok(()) };
            // The last message may have copies on the next page.
            page.extend(self.source.continuation("messages", last, "is_cc").await?);
            let end = page.last().map_or(last, Record::place);
            let read = self.source.between("broadcast_reads", "message_id", after, end).await?;
            let readers = read.iter().filter_map(|row| Some((row.text("agent_name")?, row.integer("message_id")?))).collect();
            after = end;
            let mut items: Vec<Item<message::MessageItem>> = Vec::new();
            for record in &page {
                if items.last_mut().is_some_and(|item| item.value.add_copy(record)) {
                    continue;
                }
                let original = record.place().to_string();
                match message::MessageItem::of(record, &agents, &readers) {
                    Ok(value) => items.push(Item { original, value }),
                    Err(problem) => self.skip(ImportKind::Message, original, problem),
                }
            }
            self.store(ImportKind::Message, items, |tx, target, item| Box::pin(message::write(tx, target, item))).await?;
        }
    }

    /// Imports the rows of a table, identified by the column `id`.
    async fn table<T: Send + 'static>(
        &mut self,
        kind: ImportKind,
        table: &str,
        id: &str,
        parse: impl Fn(&Record) -> Result<T, String>,
        write: WriteRecord<T>,
    ) -> Result<()> {
        let mut after = 0;
        loop {
            let page = self.source.page(table, after).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.place();
            let mut items = Vec::new();
            for record in &page {
                let original = record.text(id).unwrap_or_else(|| record.place().to_string());
                match parse(record) {
                    Ok(value) => items.push(Item { original, value }),
                    Err(problem) => self.skip(kind, original, problem),
                }
            }
            self.store(kind, items, write).await?;
        }
    }

    fn skip(&mut self, kind: ImportKind, record: String, problem: String) {
        self.report.count(kind).found += 1;
        self.report.add_problem(ImportProblem { kind, record, problem, skipped: true });
    }

    /// Writes the records that were not imported before, or counts them in a dry run.
    async fn store<T: Send + 'static>(&mut self, kind: ImportKind, mut items: Vec<Item<T>>, write: WriteRecord<T>) -> Result<()> {
        let before = {
            let originals = items.iter().map(|item| item.original.as_str()).collect();
            known(&mut *self.db.readers.acquire().await?, &self.target, kind, &originals).await?
        };
        let dry_run = self.report.dry_run;
        let count = self.report.count(kind);
        count.found += u32::try_from(items.len()).unwrap_or(u32::MAX);
        count.known += u32::try_from(before.len()).unwrap_or(u32::MAX);
        items.retain(|item| !before.contains_key(&item.original));
        if dry_run || items.is_empty() {
            count.imported += u32::try_from(items.len()).unwrap_or(u32::MAX);
            return Ok(());
        }
        let (target, source) = (self.target.clone(), self.kind);
        let problems = self.db.write(move |tx| Box::pin(async move { write_items(tx, &target, source, kind, items, write).await })).await?;
        for (is_written, problem) in problems {
            self.report.count(kind).imported += u32::from(is_written);
            problem.into_iter().for_each(|problem| self.report.add_problem(problem));
        }
        Ok(())
    }
}

/// Writes records in one transaction. Returns for each whether it was written, and what is to be said about it.
async fn write_items<T>(
    tx: &mut Tx,
    target: &Target,
    source: ImportSource,
    kind: ImportKind,
    items: Vec<Item<T>>,
    write: WriteRecord<T>,
) -> Result<Vec<(bool, Option<ImportProblem>)>> {
    let (now, mut outcomes, mut records) = (tx.now, Vec::with_capacity(items.len()), 0);
    for Item { original, value } in items {
        let written = write(tx, target, value).await?;
        // A record is written as of its own time; what follows is not.
        tx.now = now;
        let (reference, note) = match written {
            Written::As(reference) => (Some(reference), None),
            Written::Changed(reference, note) => (Some(reference), Some(note)),
            Written::Skipped(note) => (None, Some(note)),
        };
        if let Some(reference) = &reference {
            remember(tx, target, kind, &original, reference).await?;
            records += 1;
        }
        let skipped = reference.is_none();
        outcomes.push((!skipped, note.map(|problem| ImportProblem { kind, record: original, problem, skipped })));
    }
    if records == 0 {
        tx.skip_event(NoEventReason::NothingChanged);
    } else {
        tx.record_without_card(&target.caller, &target.project, None, ImportEvent::Imported { source, record: kind, records });
    }
    Ok(outcomes)
}
