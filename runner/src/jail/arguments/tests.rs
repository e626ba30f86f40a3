//! The argument list, which the proofs of the jail depend on.

use super::*;

fn mount(path: &str, access: MountAccess, optional: bool) -> Mount {
    Mount { path: path.into(), access, optional }
}

fn layout() -> Layout {
    Layout {
        shares_network: true,
        is_root: false,
        hidden: ["/data", "/home", "/root"].map(PathBuf::from).to_vec(),
        home: "/home/ann".into(),
        tmp: "/data/runs/RUN-001/tmp".into(),
        scratch: ["/home/ann/.cache", "/home/ann/.claude"].map(PathBuf::from).to_vec(),
        links: vec![Link { target: "/disk/code".into(), path: "/home/ann/code".into() }],
        mounts: vec![
            mount("/home/ann/.cargo/bin", MountAccess::Read, true),
            mount("/home/ann/.npm", MountAccess::Write, true),
            mount("/disk/code/r/.git", MountAccess::Read, false),
            mount("/disk/code/r/.git/objects", MountAccess::Write, false),
        ],
        sockets: "/data/runs/RUN-001/s".into(),
        cwd: "/data/worktrees/TASK-001".into(),
    }
}

/// One option with its values per line.
fn lines(layout: &Layout) -> String {
    let mut text = String::new();
    for argument in arguments(layout) {
        text.push(if argument.starts_with("--") { '\n' } else { ' ' });
        text.push_str(&argument);
    }
    text
}

#[test]
fn arguments_of_a_jail_are_stable() {
    insta::assert_snapshot!(lines(&layout()).trim_start(), @r"
    --unshare-pid
    --unshare-ipc
    --unshare-uts
    --unshare-cgroup-try
    --new-session
    --die-with-parent
    --cap-drop ALL
    --ro-bind / /
    --dev /dev
    --proc /proc
    --bind /data/runs/RUN-001/tmp /tmp
    --tmpfs /var/tmp
    --tmpfs /run
    --ro-bind-try /run/systemd/resolve /run/systemd/resolve
    --ro-bind-try /run/resolvconf /run/resolvconf
    --ro-bind-try /run/NetworkManager/resolv.conf /run/NetworkManager/resolv.conf
    --ro-bind-try /run/nscd /run/nscd
    --tmpfs /data
    --tmpfs /home
    --tmpfs /root
    --perms 0700
    --dir /home/ann
    --perms 0700
    --tmpfs /home/ann/.cache
    --perms 0700
    --tmpfs /home/ann/.claude
    --symlink /disk/code /home/ann/code
    --ro-bind-try /home/ann/.cargo/bin /home/ann/.cargo/bin
    --bind-try /home/ann/.npm /home/ann/.npm
    --ro-bind /disk/code/r/.git /disk/code/r/.git
    --bind /disk/code/r/.git/objects /disk/code/r/.git/objects
    --ro-bind /data/runs/RUN-001/s /run/vibe-relay
    --remount-ro /data
    --remount-ro /home
    --remount-ro /root
    --remount-ro /run
    --chdir /data/worktrees/TASK-001
    ");
}

#[test]
fn jail_without_network_as_root_differs_in_four_options() {
    let usual = arguments(&layout());
    let root = arguments(&Layout { shares_network: false, is_root: true, ..layout() });
    let added: Vec<String> = root.iter().filter(|argument| !usual.contains(argument)).cloned().collect();
    assert_eq!(added, ["--unshare-net", "/proc/sys", "/proc/sys", "/dev/null", "/etc/shadow", "/dev/null", "/etc/gshadow"]);
}

#[test]
fn probe_creates_the_same_namespaces() {
    insta::assert_snapshot!(probe_arguments(false).join(" "), @"--unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --new-session --die-with-parent --cap-drop ALL --unshare-net --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp -- /bin/sh -c :");
    assert!(!probe_arguments(true).contains(&"--unshare-net"));
}
