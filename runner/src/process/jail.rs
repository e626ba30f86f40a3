//! Programs around and inside a jail: bubblewrap, and the forwarders of its ports.
//!
//! It must not know what a jail contains.

use std::fs::File;
use std::io::{self, PipeReader, Seek, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};

use super::{Result, Streams, command, not_started, start_in_group};
use crate::jail::JailSpec;
use crate::run_dir::RunSpec;

/// Starts bubblewrap with a program of a run in its jail, as [`super::start_agent`] does. Returns also the pipe on which bubblewrap reports the
/// jail's first process. The arguments of the jail go through a file in memory, because the agent can read a command line.
///
/// # Errors
/// As [`super::start_agent`].
pub(crate) fn start_jail(jail: &JailSpec, spec: &RunSpec, argv: &[String], streams: Streams<'_>) -> Result<(std::process::Child, PipeReader)> {
    let failed = |source| not_started(&jail.program, source);
    let mut arguments = memory_file().map_err(failed)?;
    let list: String = jail.arguments.iter().flat_map(|argument| [argument.as_str(), "\0"]).collect();
    arguments.write_all(list.as_bytes()).and_then(|()| arguments.rewind()).map_err(failed)?;
    let (info, report) = std::io::pipe().map_err(failed)?;
    // This process starts nothing else, so no other program inherits the two.
    for descriptor in [arguments.as_fd(), report.as_fd()] {
        fcntl(descriptor, FcntlArg::F_SETFD(FdFlag::empty())).map_err(|errno| failed(errno.into()))?;
    }
    fcntl(&info, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|errno| failed(errno.into()))?;
    let mut command = command(&jail.program, &spec.cwd, std::env::vars_os());
    command.args(["--args", &arguments.as_raw_fd().to_string(), "--info-fd", &report.as_raw_fd().to_string(), "--"]).args(argv);
    Ok((start_in_group(command, &jail.program, spec, streams)?, info))
}

/// Creates a file in memory, which no other program can open by a name.
#[cfg(target_os = "linux")]
fn memory_file() -> io::Result<File> {
    use nix::sys::memfd::{MFdFlags, memfd_create};
    Ok(File::from(memfd_create("arguments", MFdFlags::MFD_CLOEXEC)?))
}

/// Fails, because bubblewrap exists for Linux only.
#[cfg(not(target_os = "linux"))]
fn memory_file() -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "a jail needs Linux"))
}

/// Starts this program again to forward the connections of `listener` to `socket`, see [`crate::jail::forward`].
///
/// # Errors
/// When it cannot start.
pub(crate) fn start_forwarder(listener: TcpListener, socket: &Path) -> io::Result<()> {
    let mut command = command(&std::env::current_exe()?, Path::new("/"), std::env::vars_os());
    command.arg("jail-forward").arg(socket).stdin(OwnedFd::from(listener)).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop)
}

/// Starts this program again to connect `socket` to the app that listens on `port`, see [`crate::jail::inbound`].
///
/// # Errors
/// When it cannot start.
pub(crate) fn start_inbound(port: u16, socket: &Path) -> io::Result<()> {
    let mut command = command(&std::env::current_exe()?, Path::new("/"), std::env::vars_os());
    command.arg("jail-serve").arg(port.to_string()).arg(socket);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}

/// The listener that [`start_forwarder`] passed to this process.
///
/// # Errors
/// When standard input is closed.
pub(crate) fn inherited_listener() -> io::Result<TcpListener> {
    io::stdin().as_fd().try_clone_to_owned().map(TcpListener::from)
}

/// Replaces this process with a program and its arguments, in the same folder and environment. Returns only on a failure.
pub(crate) fn replace_self(argv: &[String]) -> io::Error {
    let Some((program, arguments)) = argv.split_first() else { return io::ErrorKind::InvalidInput.into() };
    match std::env::current_dir() {
        Ok(cwd) => command(Path::new(program), &cwd, std::env::vars_os()).args(arguments).exec(),
        Err(error) => error,
    }
}
