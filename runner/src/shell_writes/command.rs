//! The files that one program writes, by its arguments.
//!
//! Must not know the syntax of the shell, or where a relative path begins.

/// The files that the words of a command name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Written {
    Files(Vec<String>),
    /// Files whose relative paths begin in this folder, as with `git -C`.
    FilesIn {
        folder: String,
        files: Vec<String>,
    },
    /// The commands behind it run in this folder, if it is known.
    Folder(Option<String>),
    /// An argument is a script of its own.
    Script(String),
}

/// Programs that start the program in their arguments.
const WRAPPERS: [&str; 8] = ["command", "builtin", "exec", "nohup", "sudo", "time", "env", "npx"];
const SHELLS: [&str; 4] = ["bash", "sh", "zsh", "dash"];

/// Arguments of a program, split into options and others.
#[derive(Debug, Default)]
struct Arguments<'w> {
    /// Each with its value, if that is an argument of its own.
    options: Vec<(&'w str, Option<&'w str>)>,
    /// None for one that is not known.
    others: Vec<Option<&'w str>>,
    /// Those behind `--`, which are also among the others.
    after_dashes: Option<Vec<Option<&'w str>>>,
}

impl<'w> Arguments<'w> {
    /// Splits arguments. The options in `valued` take the next argument as their value.
    fn of(words: &'w [Option<String>], valued: &[&str]) -> Self {
        let mut arguments = Self::default();
        let mut words = words.iter().map(Option::as_deref);
        while let Some(word) = words.next() {
            match word {
                Some("--") => {
                    let rest: Vec<_> = words.by_ref().collect();
                    arguments.others.extend(&rest);
                    arguments.after_dashes = Some(rest);
                }
                Some(option) if option.len() > 1 && option.starts_with('-') => {
                    let takes_value = valued.contains(&option);
                    arguments.options.push((option, takes_value.then(|| words.next().flatten()).flatten()));
                }
                other => arguments.others.push(other),
            }
        }
        arguments
    }

    fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|(option, _)| names.contains(option))
    }

    /// Whether an option or a group of short options, such as `-ni`, contains this letter.
    fn has_letter(&self, letter: char) -> bool {
        self.options.iter().any(|(option, _)| !option.starts_with("--") && option.contains(letter))
    }

    fn value(&self, names: &[&str]) -> Option<&'w str> {
        self.options.iter().find_map(|(option, value)| {
            let joined = names.iter().filter(|name| name.starts_with("--")).find_map(|name| option.strip_prefix(name)?.strip_prefix('='));
            joined.or(value.filter(|_| names.contains(option)))
        })
    }

    fn known(&self) -> Vec<String> {
        known(&self.others)
    }
}

fn known(words: &[Option<&str>]) -> Vec<String> {
    words.iter().filter_map(|word| word.map(str::to_owned)).collect()
}

/// Lists what a command writes. `is_folder` tells whether a path is one.
pub(super) fn written(words: &[Option<String>], is_folder: &dyn Fn(&str) -> bool) -> Written {
    let none = || Written::Files(Vec::new());
    let Some((Some(program), rest)) = words.split_first() else { return none() };
    let name = program.rsplit('/').next().unwrap_or(program);
    if WRAPPERS.contains(&name) {
        let is_assignment = |word: &Option<String>| word.as_deref().is_some_and(|word| name == "env" && word.contains('='));
        let begin = rest.iter().position(|word| !is_assignment(word)).unwrap_or(rest.len());
        return written(&rest[begin..], is_folder);
    }
    if SHELLS.contains(&name) || name == "eval" {
        return script(name, rest).map_or_else(none, Written::Script);
    }
    let files = match name {
        "cd" | "pushd" => {
            let arguments = Arguments::of(rest, &[]);
            return Written::Folder(arguments.others.first().copied().flatten().map(str::to_owned));
        }
        "popd" => return Written::Folder(None),
        "git" => return git(rest, is_folder),
        "tee" | "rm" | "unlink" => Arguments::of(rest, &[]).known(),
        "touch" => Arguments::of(rest, &["-d", "--date", "-r", "--reference", "-t"]).known(),
        "truncate" => Arguments::of(rest, &["-s", "--size", "-r", "--reference"]).known(),
        "dd" => rest.iter().flatten().filter_map(|word| word.strip_prefix("of=")).map(str::to_owned).collect(),
        "mv" => {
            let arguments = Arguments::of(rest, &["-t", "--target-directory", "-S", "--suffix"]);
            let has_target = arguments.value(&["-t", "--target-directory"]).is_none();
            let moved = arguments.others.len().saturating_sub(usize::from(has_target));
            [known(&arguments.others[..moved]), targets(&arguments, is_folder)].concat()
        }
        "cp" => targets(&Arguments::of(rest, &["-t", "--target-directory", "-S", "--suffix"]), is_folder),
        "ln" => match Arguments::of(rest, &["-t", "--target-directory", "-S", "--suffix"]) {
            // The link has the name of the file, in the folder where the command runs.
            arguments if arguments.others.len() == 1 => arguments.others[0].and_then(file_name).map(str::to_owned).into_iter().collect(),
            arguments => targets(&arguments, is_folder),
        },
        "install" => {
            let valued = ["-m", "--mode", "-o", "--owner", "-g", "--group", "-t", "--target-directory", "-S", "--suffix"];
            let arguments = Arguments::of(rest, &valued);
            if arguments.has(&["-d", "--directory"]) { Vec::new() } else { targets(&arguments, is_folder) }
        }
        "sed" => in_place(&Arguments::of(rest, &["-e", "--expression", "-f", "--file", "-l"]), &["-e", "--expression", "-f", "--file"]),
        "perl" => perl(rest),
        "patch" => patch(&Arguments::of(rest, &["-o", "--output", "-i", "--input", "-p", "-d", "--directory", "-r", "-z", "-B", "-F"])),
        _ => formatted(name, rest, is_folder),
    };
    Written::Files(files)
}

/// The script in the arguments of a shell.
fn script(name: &str, words: &[Option<String>]) -> Option<String> {
    if name == "eval" {
        let words: Option<Vec<&str>> = words.iter().map(Option::as_deref).collect();
        return words.map(|words| words.join(" "));
    }
    let flag = words.iter().position(|word| word.as_deref().is_some_and(|word| word.starts_with('-') && word.ends_with('c')))?;
    words.get(flag + 1)?.clone()
}

/// The files that a copy makes: the last argument, or if that is a folder, the files with the names of the others in it.
fn targets(arguments: &Arguments<'_>, is_folder: &dyn Fn(&str) -> bool) -> Vec<String> {
    let (folder, sources) = match arguments.value(&["-t", "--target-directory"]) {
        Some(folder) => (Some(folder), &arguments.others[..]),
        None => match arguments.others.split_last() {
            Some((last, sources)) if !sources.is_empty() => (*last, sources),
            _ => return Vec::new(),
        },
    };
    let Some(target) = folder else { return Vec::new() };
    let is_into = sources.len() > 1 || target.ends_with('/') || arguments.has(&["-t"]) || is_folder(target);
    if !is_into || arguments.has(&["-T", "--no-target-directory"]) {
        return vec![target.to_owned()];
    }
    let names = sources.iter().filter_map(|source| file_name((*source)?));
    names.map(|name| format!("{}/{name}", target.trim_end_matches('/'))).collect()
}

fn file_name(path: &str) -> Option<&str> {
    path.trim_end_matches('/').rsplit('/').next().filter(|name| !matches!(*name, "" | "." | ".."))
}

/// The files that `sed -i` changes: all arguments but the first, which is the script unless an option has one.
fn in_place(arguments: &Arguments<'_>, scripts: &[&str]) -> Vec<String> {
    let is_in_place = arguments.options.iter().any(|(option, _)| option.starts_with("--in-place"))
        || arguments
            .options
            .iter()
            .any(|(option, _)| !option.starts_with("--") && option.split('.').next().is_some_and(|letters| letters.contains('i')));
    if !is_in_place {
        return Vec::new();
    }
    // `sed -i ''` of other systems.
    let others: Vec<Option<&str>> = arguments.others.iter().copied().filter(|word| *word != Some("")).collect();
    let has_script = arguments.options.iter().any(|(option, _)| scripts.iter().any(|name| option.starts_with(name)));
    known(others.get(usize::from(!has_script)..).unwrap_or_default())
}

/// The files that `perl -i` changes.
fn perl(words: &[Option<String>]) -> Vec<String> {
    let (mut is_in_place, mut has_script, mut files) = (false, false, Vec::new());
    let mut words = words.iter().map(Option::as_deref);
    while let Some(word) = words.next() {
        let Some(letters) = word.and_then(|word| word.strip_prefix('-')).filter(|letters| !letters.is_empty() && files.is_empty()) else {
            files.push(word);
            continue;
        };
        // The letters behind these are a value.
        let end = letters.find(['i', 'I', 'M', 'm', 'e', 'E', 'x', 'F']).unwrap_or(letters.len());
        let (_, valued) = letters.split_at(end);
        is_in_place |= valued.starts_with('i');
        if valued.starts_with(['e', 'E']) {
            has_script = true;
            if valued.len() == 1 {
                words.next();
            }
        }
    }
    if is_in_place { known(files.get(usize::from(!has_script)..).unwrap_or_default()) } else { Vec::new() }
}

/// The file that `patch` changes, if the command names it. Otherwise only the patch does.
fn patch(arguments: &Arguments<'_>) -> Vec<String> {
    if arguments.has(&["-d", "--directory", "--dry-run"]) {
        return Vec::new();
    }
    let output = arguments.value(&["-o", "--output"]);
    output.or(arguments.others.first().copied().flatten()).map(str::to_owned).into_iter().collect()
}

fn git(words: &[Option<String>], is_folder: &dyn Fn(&str) -> bool) -> Written {
    let mut folder = None;
    let mut begin = 0;
    while let Some(Some(word)) = words.get(begin) {
        match word.as_str() {
            "-C" => {
                let Some(Some(given)) = words.get(begin + 1) else { return Written::Files(Vec::new()) };
                folder = Some(given.clone());
                begin += 2;
            }
            "-c" => begin += 2,
            option if option.starts_with('-') => begin += 1,
            _ => break,
        }
    }
    let Some((Some(action), rest)) = words.get(begin..).and_then(<[_]>::split_first) else { return Written::Files(Vec::new()) };
    let files = match action.as_str() {
        "mv" => {
            let arguments = Arguments::of(rest, &[]);
            let moved = arguments.others.len().saturating_sub(1);
            [known(&arguments.others[..moved]), targets(&arguments, is_folder)].concat()
        }
        "rm" => {
            let arguments = Arguments::of(rest, &[]);
            if arguments.has(&["--cached", "-n", "--dry-run"]) { Vec::new() } else { arguments.known() }
        }
        // Without the dashes, a word may be a branch.
        "checkout" => Arguments::of(rest, &["-b", "-B"]).after_dashes.map(|paths| known(&paths)).unwrap_or_default(),
        "restore" => {
            let arguments = Arguments::of(rest, &["-s", "--source"]);
            let is_index_only = arguments.has(&["-S", "--staged"]) && !arguments.has(&["-W", "--worktree"]);
            if is_index_only { Vec::new() } else { arguments.known() }
        }
        _ => Vec::new(),
    };
    match folder {
        Some(folder) => Written::FilesIn { folder, files },
        None => Written::Files(files),
    }
}

/// The files that a formatter is told to rewrite. In a folder, it chooses the files itself.
fn formatted(name: &str, words: &[Option<String>], is_folder: &dyn Fn(&str) -> bool) -> Vec<String> {
    let arguments = Arguments::of(words, &["--edition", "--config-path", "--config", "-l", "--line-length", "--parser", "--style"]);
    let rewrites = match name {
        "rustfmt" => !arguments.has(&["--check"]),
        "black" => !arguments.has(&["--check", "--diff"]),
        "prettier" => arguments.has(&["--write", "-w"]),
        "gofmt" | "goimports" | "shfmt" => arguments.has_letter('w'),
        "clang-format" => arguments.has(&["-i"]),
        "eslint" => arguments.has(&["--fix"]),
        _ => false,
    };
    let mut files = if rewrites { arguments.known() } else { Vec::new() };
    files.retain(|path| !path.ends_with('/') && !is_folder(path));
    files
}
