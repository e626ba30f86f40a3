//! One file of each language, and files that are no code.

use super::*;
use crate::code_map::language::language_of;

fn outline(name: &str, content: &str) -> Outline {
    Outliner::new().outline(language_of(name).unwrap(), content.as_bytes())
}

#[test]
fn each_language_has_its_symbols_and_imports() {
    let cases: [(&str, &str, &[&str], &[&str]); 11] = [
        (
            "a.rs",
            "use crate::board::card::Card;\nuse serde::Serialize;\npub mod a;\nmod b;\npub fn f() {}\nfn g() {}\npub(crate) struct S;\nimpl S { pub fn h() {} }\n",
            &["a", "f", "S"],
            &["crate::board", "serde"],
        ),
        ("a.py", "from a.b import c\nimport os\n@deco\ndef f(): pass\nclass A: pass\ndef _g(): pass\n", &["f", "A"], &["a.b", "os"]),
        (
            "a.js",
            "import a from './a';\nexport function f() {}\nexport const x = 1, y = 2;\nexport { g as h };\nfunction g() {}\nexport * from './b';\n",
            &["f", "x", "y", "h"],
            &["./a", "./b"],
        ),
        ("b.cjs", "const b = require('b');\nfunction f() {}\nmodule.exports = f;\n", &["b", "f"], &[]),
        (
            "a.ts",
            "import { a } from './a';\nexport interface I {}\nexport type T = 1;\nexport enum E {}\nexport abstract class B {}\ninterface Hidden {}\n",
            &["I", "T", "E", "B"],
            &["./a"],
        ),
        ("a.tsx", "export const View = () => <p>text</p>;\n", &["View"], &[]),
        (
            "a.go",
            "package a\nimport (\n\"fmt\"\nx \"os\"\n)\nfunc F() {}\nfunc f() {}\nfunc (s *S) M() {}\ntype S struct{}\nconst C = 1\n",
            &["F", "S", "C"],
            &["fmt", "os"],
        ),
        (
            "A.java",
            "import java.util.List;\npublic class A { public void m() {} }\ninterface I {}\nrecord R(int a) {}\n",
            &["A", "I", "R"],
            &["java.util"],
        ),
        (
            "a.h",
            "#include <stdio.h>\n#ifndef X\nint f(int a);\nstatic int g(void) { return 0; }\nstruct s { int a; };\nstruct later;\ntypedef int t;\nextern int x;\n#endif\n",
            &["f", "s", "t"],
            &["stdio.h"],
        ),
        (
            "a.cpp",
            "#include \"a.h\"\nnamespace n { class A { void m(); }; template <class T> T f(T t) { return t; } }\nvoid n::A::m() {}\nusing X = int;\n",
            &["A", "f", "X"],
            &["a.h"],
        ),
        ("a.php", "<?php\nnamespace A\\B;\nuse X\\Y;\nclass A { function m() {} }\ninterface I {}\nfunction f() {}\n", &["A", "I", "f"], &["X"]),
    ];
    for (name, content, symbols, imports) in cases {
        let found = outline(name, content);
        assert_eq!(
            (found.symbols, found.imports),
            (symbols.iter().map(|s| (*s).to_owned()).collect(), imports.iter().map(|s| (*s).to_owned()).collect()),
            "{name}"
        );
    }
    let sharp = outline("a.cs", "using System;\nnamespace N { public class A { void M() {} } }\npublic enum E {}\n");
    assert_eq!((sharp.symbols, sharp.imports, sharp.lines), (vec!["A".to_owned(), "E".to_owned()], vec!["System".to_owned()], 3));
}

#[test]
fn file_that_is_no_code_has_only_its_lines() {
    for content in ["", "\u{0}\u{1}", "((((((((((", "<<<<<<< ours\n=======\n"] {
        let found = outline("a.cpp", content);
        assert!(found.symbols.is_empty(), "{content:?}: {found:?}");
    }
    assert_eq!(Outline::of_large(MAX_FILE_BYTES), None);
    assert_eq!(Outline::of_large(2_000_000).and_then(|outline| outline.large_kilobytes), Some(2000));
    let not_text = Outliner::new().outline(0, b"pub fn f() {}\n\xff");
    assert_eq!((not_text.symbols.len(), not_text.lines), (0, 2));
}

#[test]
fn hostile_nesting_ends_in_time() {
    let begun = Instant::now();
    for (name, part) in
        [("a.rs", "mod a {"), ("a.cpp", "namespace n {"), ("a.js", "(["), ("a.py", "if x:\n "), ("a.php", "<?php {{"), ("a.go", "func(")]
    {
        outline(name, &part.repeat(20_000));
    }
    assert!(begun.elapsed() < MAX_PARSE_TIME * 20, "{:?}", begun.elapsed());
}

#[test]
fn many_symbols_are_counted() {
    let content: String = (0..50).map(|number| format!("pub fn f{number}() {{}}\n")).collect();
    let found = outline("a.rs", &content);
    assert_eq!((found.symbols.len(), found.further_symbols), (MAX_NAMES, 10));
}
