//! The files that are known before a command runs, and those that nothing can know. Must not run a command.

use std::time::Instant;

use super::*;

/// Only `/w/src`, `/w/docs` and `/w` are folders.
fn written_in_w(command: &str) -> Vec<String> {
    let is_folder = |path: &str| matches!(path.trim_end_matches('/'), "/w" | "/w/src" | "/w/docs");
    written_files(command, "/w", &is_folder).into_iter().collect()
}

#[test]
fn files_that_a_command_names_are_found() {
    let cases: &[(&str, &[&str])] = &[
        // Redirections.
        ("echo a > a.txt", &["/w/a.txt"]),
        ("echo a >> 'my file.txt' 2> \"err log\"", &["/w/err log", "/w/my file.txt"]),
        ("make &> build.log", &["/w/build.log"]),
        ("make &>> build.log", &["/w/build.log"]),
        ("echo a >| a", &["/w/a"]),
        ("make > out 2>&1", &["/w/out"]),
        ("cat < in > out", &["/w/out"]),
        ("cat > src/a.rs <<'EOF'\nfn a() { b > c }\nrm x\nEOF", &["/w/src/a.rs"]),
        ("cat <<EOF >> src/a.rs\n$(touch b)\nEOF\ntouch c", &["/w/b", "/w/c", "/w/src/a.rs"]),
        ("> empty", &["/w/empty"]),
        ("(echo a; echo b) > both", &["/w/both"]),
        ("{ echo a; } > one", &["/w/one"]),
        ("for f in 1 2; do echo $f > out; done", &["/w/out"]),
        ("if true; then echo > yes; else echo > no; fi", &["/w/no", "/w/yes"]),
        ("while read line; do echo $line; done < in > out", &["/w/out"]),
        ("x=1 echo > out", &["/w/out"]),
        ("echo a > /tmp/x", &["/tmp/x"]),
        ("echo $(echo b > b) > a", &["/w/a", "/w/b"]),
        ("diff <(cat a) <(tee b)", &["/w/b"]),
        // Programs.
        ("echo a | tee -a one two | cat", &["/w/one", "/w/two"]),
        ("sed -i 's/a/b/' a.rs b.rs", &["/w/a.rs", "/w/b.rs"]),
        ("sed -i.bak -e 's/a/b/' -e 's/c/d/' a.rs", &["/w/a.rs"]),
        ("sed -n -i -E 's/a/b/' a.rs", &["/w/a.rs"]),
        ("sed --in-place=.orig 's/a/b/' a.rs", &["/w/a.rs"]),
        ("sed -i '' 's/a/b/' a.rs", &["/w/a.rs"]),
        ("sed -ie 's/a/b/' a.rs", &["/w/a.rs"]),
        ("perl -pi -e 's/a/b/' a.rs", &["/w/a.rs"]),
        ("perl -i.bak -pe 's/a/b/' a.rs b.rs", &["/w/a.rs", "/w/b.rs"]),
        ("perl -i script.pl a.rs", &["/w/a.rs"]),
        ("mv a b", &["/w/a", "/w/b"]),
        ("mv a src", &["/w/a", "/w/src/a"]),
        ("mv -f a b src/", &["/w/a", "/w/b", "/w/src/a", "/w/src/b"]),
        ("mv -t src a b", &["/w/a", "/w/b", "/w/src/a", "/w/src/b"]),
        ("cp a b", &["/w/b"]),
        ("cp docs/a.md src", &["/w/src/a.md"]),
        ("cp -r docs new", &["/w/new"]),
        ("cp --target-directory=docs a", &["/w/docs/a"]),
        ("rm -rf src a", &["/w/a", "/w/src"]),
        ("rm -- -a", &["/w/-a"]),
        ("touch -t 202601010000 a", &["/w/a"]),
        ("truncate -s 0 a", &["/w/a"]),
        ("truncate --size=0 a", &["/w/a"]),
        ("install -m 755 a src/", &["/w/src/a"]),
        ("ln -s ../a", &["/w/a"]),
        ("ln -sf a b", &["/w/b"]),
        ("dd if=/dev/zero of=a bs=1", &["/w/a"]),
        ("echo a > /dev/shm/a; echo b > /dev/tty", &["/dev/shm/a"]),
        ("patch src/a.rs < fix.diff", &["/w/src/a.rs"]),
        ("patch -p1 -o out src/a.rs fix.diff", &["/w/out"]),
        ("git mv a src", &["/w/a", "/w/src/a"]),
        ("git rm -q a src/b", &["/w/a", "/w/src/b"]),
        ("git checkout -- a b", &["/w/a", "/w/b"]),
        ("git checkout main -- a", &["/w/a"]),
        ("git restore --source=HEAD~1 a", &["/w/a"]),
        ("git -C src rm a", &["/w/src/a"]),
        ("git -c user.name=x rm a", &["/w/a"]),
        ("rustfmt --edition 2024 src/a.rs", &["/w/src/a.rs"]),
        ("npx prettier --write a.ts src", &["/w/a.ts"]),
        ("gofmt -w a.go", &["/w/a.go"]),
        // Where a path begins.
        ("cd src && echo a > a", &["/w/src/a"]),
        ("cd src; cd ..; touch a", &["/w/src/../a"]),
        ("cd /other && touch a && cd \"$HOME\" && touch b && touch /c", &["/c", "/other/a"]),
        ("(cd src && touch a); touch b", &["/w/b", "/w/src/a"]),
        ("cd src | touch a", &["/w/src/a"]),
        ("touch a || touch b; touch c & touch d", &["/w/a", "/w/b", "/w/c", "/w/d"]),
        ("touch a\\ b\\\n c", &["/w/a b", "/w/c"]),
        ("touch 'a'\"b\"c", &["/w/abc"]),
        ("\"touch\" a", &["/w/a"]),
        ("/usr/bin/touch a", &["/w/a"]),
        ("sudo env A=1 touch a", &["/w/a"]),
        ("bash -lc 'cd src && touch a'", &["/w/src/a"]),
        ("eval touch a", &["/w/a"]),
    ];
    for (command, files) in cases {
        assert_eq!(written_in_w(command), *files, "{command}");
    }
}

#[test]
fn files_that_only_the_shell_knows_are_ignored() {
    for command in [
        "",
        "echo a > $FILE",
        "echo a > \"${dir}/a\"",
        "echo a > \"$(mktemp)\"",
        "rm *.rs",
        "rm src/?.rs",
        "rm '*.rs'",
        "rm a[12]",
        "rm {a,b}",
        "touch ~/a",
        "touch $'a\\n'",
        "echo a > /dev/null 2>&1",
        "echo a >&2",
        "exec 3>&-",
        "cat a < b",
        "sed 's/a/b/' a",
        "perl -pe 's/a/b/' a",
        "perl -Ilib -e 'x' a",
        "git checkout main",
        "git restore --staged a",
        "git rm --cached a",
        "git status",
        "rustfmt --check a.rs",
        "prettier --check a.ts",
        "prettier --write src",
        "cargo test",
        "echo 'a > b; rm c'",
        "# rm a",
        "f() { rm a; }",
        "cd \"$X\" && touch a",
        "bash script.sh",
        "[[ a > b ]]",
        "cat <<'EOF'\n> a\nrm b\nEOF",
        "patch -p1 < fix.diff",
        "dd if=a",
        "mv",
        "cp a",
        "cp",
    ] {
        assert_eq!(written_in_w(command), Vec::<String>::new(), "{command}");
    }
}

#[test]
fn hostile_commands_end_soon() {
    let unterminated = ["echo 'a > b", "echo \"a > b", "echo $(rm a", "cat <<EOF > a\nb", "((((", "if; then", "\u{0}", ">", "> >", "`"];
    for command in unterminated {
        drop(written_in_w(command));
    }
    let long = format!("echo {} > a", "x".repeat(MAX_COMMAND_BYTES));
    assert!(written_in_w(&long).is_empty(), "it is too long to be read");
    let many: String = (0..60).map(|number| format!("touch f{number}; ")).collect();
    assert_eq!(written_in_w(&many).len(), MAX_FILES);
    for hostile in ["(", "$(", "{ ", "\"$(", "if a; then ", "a | ", "<<A ", "[[ ", "${a:-", "$((", "`", "'"] {
        let began = Instant::now();
        drop(written_in_w(&hostile.repeat(MAX_COMMAND_BYTES / hostile.len())));
        assert!(began.elapsed() < Duration::from_secs(2), "{hostile}: {:?}", began.elapsed());
    }
    let nested = format!("{}touch a{}", "bash -c \"".repeat(3), "\"".repeat(3));
    drop(written_in_w(&nested));
}

#[test]
fn relative_paths_of_an_unknown_folder_stay_relative() {
    assert_eq!(written_files("cd src; touch a", "", &|_| false).into_iter().collect::<Vec<_>>(), ["src/a"]);
}
