//! The `vibe-relay` program as a library: what its commands do. Must not contain rules of the board, which are in `domain` and `db`.

#[cfg(test)]
mod agent_context;
mod args;
mod backup;
mod board;
mod clean;
mod client;
mod completion;
mod config_file;
mod context;
mod dead_drop;
mod demo;
mod detach;
mod doctor;
mod error;
mod folders;
mod hook;
mod id;
mod init;
mod last_port;
mod logging;
mod mcp;
mod number;
mod open;
mod output;
mod prompt_files;
mod reload;
mod runs;
pub mod scripted;
mod serve;
mod service;
mod settings;
mod signals;
mod stop;
mod tail;
mod team;
mod token_file;
mod uninstall;
mod version;
mod vocabulary;

use std::process::ExitCode;

use clap::Parser;
use runner::jail::{forward, inbound};
use runner::warroom::code_map;

use crate::args::{Args, Command};
use crate::error::{CliError, Exit};
use crate::output::Mode;

/// Runs the command named by the program's arguments.
pub fn main() -> ExitCode {
    let outcome = match Args::try_parse() {
        Ok(args) => {
            output::set_mode(Mode { json: args.json, quiet: args.quiet });
            dispatch(args)
        }
        Err(answer) if answer.exit_code() == 0 => {
            output::help(&answer);
            Ok(ExitCode::SUCCESS)
        }
        Err(problem) => {
            // The command line was not understood, so it is searched for what decides about the form of the answer.
            output::set_mode(Mode { json: std::env::args_os().any(|word| word == "--json"), quiet: false });
            output::usage(&problem);
            Ok(ExitCode::from(Exit::Usage as u8))
        }
    };
    match outcome.and_then(|code| output::lost().map_or(Ok(code), Err)) {
        Ok(code) => code,
        Err(error) => {
            output::error(&error);
            ExitCode::from(error.exit() as u8)
        }
    }
}

fn dispatch(args: Args) -> Result<ExitCode, CliError> {
    // For every command: `doctor` judges repositories as a server does, and filters and encodings need git.
    repo::use_git(runner::process::run_git);
    let config = args.config.as_deref();
    match args.command.unwrap_or_default() {
        // These processes run beside every agent, so they use one thread.
        Command::Shim { run_dir } => return Ok(runner::shim::main(&run_dir)),
        Command::JailExec { forward: forwards, inbound, command } => return Err(CliError::Jail(forward::exec(&forwards, &inbound, &command))),
        Command::CodeMap { git_dir, commit, folder } => {
            return code_map::main(&git_dir, &commit, &folder).map(|_| ExitCode::SUCCESS).map_err(CliError::CodeMap);
        }
        Command::JailForward { socket } => return Ok(forward::main(&socket)),
        Command::JailServe { port, socket } => return Ok(inbound::main(port, &socket)),
        Command::Mcp { task_id, companion, structured } => {
            return single_threaded()?.block_on(mcp::run(config, task_id, companion, structured)).map(|()| ExitCode::SUCCESS);
        }
        Command::Inbox(inbox) => return single_threaded()?.block_on(team::inbox::run(config, inbox)).map(|()| ExitCode::SUCCESS),
        Command::Hook { mcp_config } => return single_threaded()?.block_on(hook::run(&mcp_config)).map(|()| ExitCode::SUCCESS),
        Command::ScriptedAgent { arguments } => return Ok(ExitCode::from(single_threaded()?.block_on(scripted::agent::run(&arguments)))),
        Command::Stop => single_threaded()?.block_on(stop::run(config))?,
        Command::Serve(options) if options.detach => single_threaded()?.block_on(detach::run(config, &options))?,
        Command::Serve(options) => {
            repo::limit_memory().map_err(CliError::Memory)?;
            let runtime = many_threaded()?;
            let served = runtime.block_on(serve::run(config, &options));
            // Work on a repository may take long and can be repeated, so it is not waited for.
            runtime.shutdown_background();
            served?;
        }
        Command::Demo(options) => return many_threaded()?.block_on(demo::run(&options)),
        Command::Service(command) => return single_threaded()?.block_on(service::run(config, command)),
        Command::Init { path, prompts } => init::run(config, &path, prompts)?,
        Command::Open { print } => single_threaded()?.block_on(open::run(config, print))?,
        Command::Config(command) => config_file::run(config, &command)?,
        Command::Clean { yes } => return single_threaded()?.block_on(clean::run(config, yes)),
        Command::Uninstall => single_threaded()?.block_on(uninstall::run(config))?,
        Command::Version => version::print(),
        Command::Completions { shell } => completion::script(shell),
        Command::Man { folder } => completion::manual(&folder)?,
        Command::Doctor => return single_threaded()?.block_on(doctor::run(config)),
        Command::Project(command) => single_threaded()?.block_on(board::project::run(config, command))?,
        Command::Task(command) => single_threaded()?.block_on(board::task::run(config, command))?,
        Command::Token(command) => single_threaded()?.block_on(team::token::run(config, command))?,
        Command::Audit(command) => single_threaded()?.block_on(team::audit::run(config, command))?,
        Command::Person(command) => single_threaded()?.block_on(team::person::run(config, command))?,
        Command::Session(command) => single_threaded()?.block_on(team::browser_session::run(config, command))?,
        Command::Attach(attach) => single_threaded()?.block_on(team::companion::run(config, &attach))?,
        Command::Pair(pair) => single_threaded()?.block_on(team::pairing::run(config, pair))?,
        Command::Report { since } => single_threaded()?.block_on(board::report::run(config, since))?,
        Command::Land { project, bring_back, undo } => single_threaded()?.block_on(runs::land::run(config, &project, bring_back, undo))?,
        Command::Publish { project, pull_request } => single_threaded()?.block_on(runs::publication::run(config, &project, pull_request))?,
        Command::Preview(preview) => single_threaded()?.block_on(runs::preview::run(config, &preview))?,
        Command::Import(import) => single_threaded()?.block_on(context::import::run(config, import))?,
        Command::Profile(command) => single_threaded()?.block_on(runs::profile::run(config, command))?,
        Command::Rescue(command) => single_threaded()?.block_on(runs::rescue::run(config, command))?,
        Command::Pause { project } => single_threaded()?.block_on(runs::pause::pause(config, project.as_deref()))?,
        Command::Resume { project } => single_threaded()?.block_on(runs::pause::resume(config, project.as_deref()))?,
        Command::Interrupt { task, message } => single_threaded()?.block_on(runs::interrupt::run(config, &task, message))?,
        Command::Permission { task, answer, reason } => single_threaded()?.block_on(runs::permission::run(config, &task, answer, reason))?,
        Command::Takeover { task, give_back } => single_threaded()?.block_on(board::takeover::run(config, &task, give_back))?,
        Command::Backup { file } => single_threaded()?.block_on(backup::backup(config, &file))?,
        Command::Restore { file } => single_threaded()?.block_on(backup::restore(config, &file))?,
        Command::Tail(options) => single_threaded()?.block_on(tail::run(config, &options))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn single_threaded() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Runtime)
}

fn many_threaded() -> Result<tokio::runtime::Runtime, CliError> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::Runtime)
}
