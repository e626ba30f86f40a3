//! The arguments of bubblewrap. Pure: a layout in, a list out. The order matters, because a later mount covers an earlier one.

use std::path::{Path, PathBuf};

use super::paths::Link;

/// Where the run's sockets are inside the jail. The name is short, because the address of a socket holds 107 bytes.
pub const SOCKETS: &str = "/run/vibe-relay";

/// The inside of a jail. All paths are free of symbolic links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub shares_network: bool,
    /// Root without capabilities still owns files of the system, so a few need more protection.
    pub is_root: bool,
    /// Folders that are empty inside, except for mounts below them.
    pub hidden: Vec<PathBuf>,
    /// The home folder.
    pub home: PathBuf,
    /// The folder outside that is `/tmp` inside. A folder on the disk, because a tmpfs would use memory.
    pub tmp: PathBuf,
    /// Folders that are empty and writable inside, and gone when the jail ends.
    pub scratch: Vec<PathBuf>,
    pub links: Vec<Link>,
    pub mounts: Vec<Mount>,
    /// The folder outside that holds the run's sockets.
    pub sockets: PathBuf,
    pub cwd: PathBuf,
}

/// A file or folder that has the same path inside and outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    pub path: PathBuf,
    pub access: MountAccess,
    /// Whether the jail starts even if the path disappears.
    pub optional: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MountAccess {
    Read,
    Write,
}

const NAMESPACES: [&str; 8] =
    ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--new-session", "--die-with-parent", "--cap-drop", "ALL"];
const SYSTEM: [&str; 7] = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
/// The files below `/run` that the resolver of host names needs.
const RESOLVER: [&str; 4] = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/nscd"];

/// The arguments that create the jail, without those of the agent.
pub fn arguments(layout: &Layout) -> Vec<String> {
    let mut list = List::default();
    list.add(&NAMESPACES);
    if !layout.shares_network {
        list.add(&["--unshare-net"]);
    }
    list.add(&SYSTEM);
    list.mount("--bind", &layout.tmp, Path::new("/tmp"));
    list.add(&["--tmpfs", "/var/tmp", "--tmpfs", "/run"]);
    for path in RESOLVER {
        list.add(&["--ro-bind-try", path, path]);
    }
    for path in &layout.hidden {
        list.path("--tmpfs", path);
    }
    list.add(&["--perms", "0700"]);
    list.path("--dir", &layout.home);
    for path in &layout.scratch {
        list.add(&["--perms", "0700"]);
        list.path("--tmpfs", path);
    }
    for link in &layout.links {
        list.mount("--symlink", &link.target, &link.path);
    }
    for Mount { path, access, optional } in &layout.mounts {
        let option = match (access, optional) {
            (MountAccess::Read, false) => "--ro-bind",
            (MountAccess::Read, true) => "--ro-bind-try",
            (MountAccess::Write, false) => "--bind",
            (MountAccess::Write, true) => "--bind-try",
        };
        list.mount(option, path, path);
    }
    list.mount("--ro-bind", &layout.sockets, Path::new(SOCKETS));
    if layout.is_root {
        // `--cap-drop` does not protect files that root owns: a program could be written to /proc/sys/kernel/core_pattern.
        list.add(&["--ro-bind", "/proc/sys", "/proc/sys"]);
        list.add(&["--ro-bind-try", "/dev/null", "/etc/shadow", "--ro-bind-try", "/dev/null", "/etc/gshadow"]);
    }
    // An unsealed folder would accept files and lose them.
    for path in &layout.hidden {
        list.path("--remount-ro", path);
    }
    list.add(&["--remount-ro", "/run"]);
    list.path("--chdir", &layout.cwd);
    list.0
}

/// The arguments that create the same namespaces around nothing, to try whether they work here.
pub fn probe_arguments(shares_network: bool) -> Vec<&'static str> {
    let network: &[&str] = if shares_network { &[] } else { &["--unshare-net"] };
    [&NAMESPACES[..], network, &SYSTEM, &["--tmpfs", "/tmp", "--", "/bin/sh", "-c", ":"]].concat()
}

#[derive(Default)]
struct List(Vec<String>);

impl List {
    fn add(&mut self, arguments: &[&str]) {
        self.0.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    }

    fn path(&mut self, option: &str, path: &Path) {
        self.add(&[option, &path.to_string_lossy()]);
    }

    fn mount(&mut self, option: &str, source: &Path, target: &Path) {
        self.add(&[option, &source.to_string_lossy(), &target.to_string_lossy()]);
    }
}

#[cfg(test)]
mod tests;
