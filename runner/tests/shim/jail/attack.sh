# Tries to leave a jail: appends to, replaces and deletes what an agent must not change, and reads what it must not see.
# Prints one line for every success. The variables name the places: HOME, DATA, REPO, ADMIN, OTHER; the working folder is the checkout.
# SYSTEM and KERNEL list paths of the machine, and are empty where the script must not touch them.
replacement=/tmp/replacement.$$

change() {
    (printf 'evil\n' >>"$1") 2>/dev/null && printf 'appended to %s\n' "$1"
    printf 'evil\n' >"$replacement"
    mv -f "$replacement" "$1" 2>/dev/null && printf 'replaced %s\n' "$1"
    [ -e "$1" ] && rm -f "$1" 2>/dev/null && [ ! -e "$1" ] && printf 'deleted %s\n' "$1"
}

for path in "$HOME/.bashrc" "$HOME/.ssh/authorized_keys" "$HOME/.gitconfig" "$HOME/.local/bin/git" "$HOME/.cargo/bin/cargo" \
    "$HOME/.claude/settings.json" "$HOME/.claude.json" "$HOME/.claude/projects/-other/session.jsonl" "$HOME/.profile" \
    "$DATA/board.db" "$DATA/token" "$DATA/server.json" "$DATA/runs/RUN-002/spec.json" "$OTHER/file.txt" \
    "$REPO/file.txt" "$REPO/.git/config" "$REPO/.git/HEAD" "$REPO/.git/index" "$REPO/.git/refs/heads/main" "$REPO/.git/packed-refs" \
    "$REPO/.git/refs/heads/vr/TASK-002/work" "$REPO/.git/refs/tags/evil" "$REPO/.git/hooks/pre-commit" "$REPO/.git/info/exclude" \
    "$REPO/.git/info/attributes" "$REPO/.git/objects/info/alternates" "$ADMIN/commondir" "$ADMIN/gitdir" "$ADMIN/config.worktree" .git \
    $SYSTEM; do
    change "$path"
done
for path in "$HOME/.config/autostart/x.desktop" "$HOME/.config/systemd/user/x.service" "$HOME/bin/git"; do
    mkdir -p "${path%/*}" 2>/dev/null && change "$path"
done
for path in $KERNEL; do
    (: >>"$path") 2>/dev/null && printf 'opened %s\n' "$path"
done

for path in "$HOME/.ssh/id_ed25519" "$HOME/.netrc" "$HOME/.git-credentials" "$HOME/.npmrc" "$HOME/.aws/credentials" \
    "$HOME/.config/gh/hosts.yml" "$HOME/.claude/.credentials.json" "$HOME/Documents/letter.txt" "$HOME/.bash_history" \
    "$DATA/secret" "$OTHER/.git" /etc/shadow; do
    [ -n "$(cat "$path" 2>/dev/null)" ] && printf 'read %s\n' "$path"
done
[ -n "$(tr '\0' '\n' 2>/dev/null <"/proc/$OUTSIDE_PID/environ")" ] && printf 'read the environment of a process outside\n'
for path in "$HOME/agent.sock" /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket; do
    [ -S "$path" ] && printf 'sees the socket %s\n' "$path"
done
kill -0 "$OUTSIDE_PID" 2>/dev/null && printf 'signalled a process outside\n'
if [ -n "$SYSTEM" ]; then
    mount -o remount,rw / 2>/dev/null && printf 'remounted\n'
    umount "$HOME" 2>/dev/null && printf 'unmounted\n'
    [ -z "$(sed -n 's/^CapEff:[[:space:]]*0*//p' /proc/self/status)" ] || printf 'has capabilities\n'
fi
printf 'end\n'
