//! Which file of the program imports which: the graph that the rule against circles looks at.
//!
//! A path leads to the file that defines what it names. A `pub use` is looked through: who imports `io::Source` imports
//! `io/source.rs`, and `io/mod.rs`, which only hands the name on, imports it where its own code says the name as well.
//! To name a module (`mod x;`, `use super::x;`) is no import; what is taken out of it (`x::y`) is one.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{Source, inside, path, tokens, without_tests};

/// A name that a `use` brings into a file; `None` for all names of a module (`*`).
struct Use {
    name: Option<String>,
    path: Vec<String>,
    /// The module that the line stands in: the file's, or one that is written out in it.
    module: Vec<String>,
    /// Whether others see the name here (`pub use`).
    handed_on: bool,
}

impl Use {
    /// Whether it brings this name into this module.
    fn brings(&self, module: &[String], name: &str) -> bool {
        self.module == module && self.name.as_deref() == Some(name)
    }
}

/// One file, read.
struct Code {
    name: String,
    uses: Vec<Use>,
    /// Paths beyond `use` lines, each with the module that it stands in.
    paths: Vec<(Vec<String>, Vec<String>)>,
    /// Words beyond `use` lines.
    words: BTreeSet<String>,
    /// Names of items that are defined here.
    items: BTreeSet<String>,
}

/// The files of the program, and which of them imports which by which path.
pub(super) struct Graph {
    files: Vec<Code>,
    modules: BTreeMap<Vec<String>, usize>,
    imports: Vec<BTreeMap<usize, String>>,
}

impl Graph {
    pub fn of(sources: &[Source]) -> Graph {
        let read: Vec<&Source> = sources.iter().filter(|source| !source.only_tests).collect();
        let files: Vec<Code> = read.iter().map(|source| code(source)).collect();
        let module = |source: &Source| if source.name == "lib.rs" { Vec::new() } else { source.module.clone() };
        let modules = read.iter().enumerate().map(|(at, source)| (module(source), at)).collect();
        let mut graph = Graph { files, modules, imports: Vec::new() };
        graph.imports = (0..graph.files.len()).map(|file| graph.imported_by(file)).collect();
        graph
    }

    pub fn edges(&self) -> usize {
        self.imports.iter().map(BTreeMap::len).sum()
    }

    /// The imports between these files, a line each.
    pub fn inside(&self, names: &[String]) -> String {
        let of = |name: &str| names.iter().any(|one| one == name);
        let mut lines = Vec::new();
        for (file, imports) in self.imports.iter().enumerate() {
            for (other, path) in imports {
                let (from, to) = (self.files[file].name.as_str(), self.files[*other].name.as_str());
                if of(from) && of(to) {
                    lines.push(format!("  {from} imports {to}: {path}"));
                }
            }
        }
        lines.join("\n")
    }

    fn imported_by(&self, file: usize) -> BTreeMap<usize, String> {
        let mut found = BTreeMap::new();
        let code = &self.files[file];
        let mut note = |path: &[String], target: Option<usize>| {
            if let Some(target) = target.filter(|target| *target != file) {
                found.entry(target).or_insert_with(|| path.join("::"));
            }
        };
        for one in &code.uses {
            match &one.name {
                Some(name) if one.handed_on && !code.words.contains(name) => {}
                Some(_) => note(&one.path, self.item(file, &one.module, &one.path, 0)),
                None => {
                    let target = self.module(file, &one.module, &one.path);
                    let said = |target: &usize| !self.files[*target].items.is_disjoint(&code.words);
                    note(&one.path, target.filter(|target| !one.handed_on || said(target)));
                }
            }
        }
        for (module, path) in &code.paths {
            note(path, self.item(file, module, path, 0));
        }
        found
    }

    /// The file that defines what a path names; none for a module, or for what is not of this program.
    fn item(&self, file: usize, module: &[String], path: &[String], depth: usize) -> Option<usize> {
        assert!(depth < 50, "{}: {} leads nowhere", self.files[file].name, path.join("::"));
        if let Some(full) = inside(&self.files[file].name, module, path) {
            return self.below(Vec::new(), &full, depth);
        }
        let own = self.own_module(module);
        // `x::y`, where `x` is a module below this one or came by a `use`.
        if path.len() > 1 && self.modules.contains_key(&[own, &path[..1]].concat()) {
            return self.below(own.to_vec(), path, depth);
        }
        let came = self.files[file].uses.iter().find(|one| one.brings(module, &path[0]))?;
        if came.path == path {
            return None;
        }
        self.item(file, &came.module, &[&came.path, &path[1..]].concat(), depth + 1)
    }

    /// What a path names that begins in a module.
    fn below(&self, mut module: Vec<String>, path: &[String], depth: usize) -> Option<usize> {
        let mut rest = path;
        while rest.len() > 1 && self.modules.contains_key(&[&module, &rest[..1]].concat()) {
            module.push(rest[0].clone());
            rest = &rest[1..];
        }
        let file = *self.modules.get(&module)?;
        let code = &self.files[file];
        let name = rest.first()?;
        if let Some(one) = code.uses.iter().find(|one| one.brings(&module, name)) {
            let full = [&one.path, &rest[1..]].concat();
            return self.item(file, &one.module, &full, depth + 1);
        }
        if self.modules.contains_key(&[&module, &rest[..1]].concat()) {
            return None;
        }
        if !code.items.contains(name) {
            for one in code.uses.iter().filter(|one| one.name.is_none()) {
                let below = self.module(file, &one.module, &one.path);
                if let Some(below) = below.filter(|below| self.files[*below].items.contains(name)) {
                    return Some(below);
                }
            }
        }
        Some(file)
    }

    /// The file of a module that a path names.
    fn module(&self, file: usize, module: &[String], path: &[String]) -> Option<usize> {
        let full =
            inside(&self.files[file].name, module, path).unwrap_or_else(|| [self.own_module(module), path].concat());
        self.modules.get(&full).copied()
    }

    /// The module of the file that a module is written in.
    fn own_module<'a>(&self, module: &'a [String]) -> &'a [String] {
        let depth = (0..=module.len()).rev().find(|depth| self.modules.contains_key(&module[..*depth]));
        &module[..depth.unwrap_or(0)]
    }
}

/// Sets of more than one file that all import each other, directly or by way of others; names in order.
pub(super) fn circles(graph: &Graph) -> Vec<Vec<String>> {
    let reached: Vec<BTreeSet<usize>> = (0..graph.files.len())
        .map(|file| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![file]);
            while let Some(next) = open.pop() {
                open.extend(graph.imports[next].keys().filter(|other| seen.insert(**other)));
            }
            seen
        })
        .collect();
    let mut found = BTreeSet::new();
    for (file, seen) in reached.iter().enumerate() {
        if seen.contains(&file) {
            let mut circle: Vec<String> = seen
                .iter()
                .filter(|other| reached[**other].contains(&file))
                .map(|other| graph.files[*other].name.clone())
                .collect();
            circle.sort_unstable();
            found.insert(circle);
        }
    }
    found.into_iter().collect()
}

fn code(source: &Source) -> Code {
    let tokens = tokens(&without_tests(&source.text));
    let mut code = Code {
        name: source.name.clone(),
        uses: Vec::new(),
        paths: Vec::new(),
        words: BTreeSet::new(),
        items: BTreeSet::new(),
    };
    let mut module = if source.name == "lib.rs" { Vec::new() } else { source.module.clone() };
    // Modules that are written out in this file, each with the depth of brackets that it ends at.
    let (mut depth, mut open) = (0, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        let before = |back: usize| at.checked_sub(back).map_or("", |at| tokens[at].as_str());
        match tokens[at].as_str() {
            "use" if tokens.get(at + 1).is_some_and(|next| next != "<") => {
                let handed_on = ["pub", ")"].contains(&before(1));
                let end = at + tokens[at..].iter().position(|token| token == ";").unwrap_or(tokens.len() - at);
                use_tree(&tokens[..end], at + 1, &[], &mut |name, path| {
                    code.uses.push(Use { name, path, module: module.clone(), handed_on });
                });
                at = end;
                continue;
            }
            "{" => {
                if before(2) == "mod" {
                    module.push(before(1).to_string());
                    open.push(depth);
                }
                depth += 1;
            }
            "}" => {
                depth -= 1;
                if open.last() == Some(&depth) {
                    open.pop();
                    module.pop();
                }
            }
            _ => {}
        }
        if ["fn", "struct", "enum", "trait", "type", "const", "static", "union", "mod"].contains(&before(1)) {
            code.items.insert(tokens[at].clone());
        }
        let mut found = Vec::new();
        let end = path(&tokens, at, &[], &mut found);
        let of_path = found.into_iter().filter(|path| path.len() > 1);
        code.paths.extend(of_path.map(|path| (module.clone(), path)));
        if before(1) != "mod" {
            code.words.extend(tokens[at..end.max(at + 1)].iter().cloned());
        }
        at = end.max(at + 1);
    }
    code
}

/// Calls `out` with every name that a `use` brings, and the path of what it names.
fn use_tree(
    tokens: &[String],
    mut at: usize,
    before: &[String],
    out: &mut impl FnMut(Option<String>, Vec<String>),
) -> usize {
    let is = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token == sign);
    let mut path = before.to_vec();
    if is(at, "::") {
        // `::parquet`: another crate's, also where a module here has that name.
        path.push("::".to_string());
        at += 1;
    }
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token.as_str() {
            "{" => {
                while at < tokens.len() && !is(at, "}") {
                    at = if is(at, ",") { at + 1 } else { use_tree(tokens, at, &path, out) };
                }
                return at + 1;
            }
            "*" => {
                out(None, path);
                return at;
            }
            word => path.push(word.to_string()),
        }
        if !is(at, "::") {
            break;
        }
        at += 1;
    }
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let mut name = path.last().cloned();
    if is(at, "as") {
        name = tokens.get(at + 1).cloned();
        at += 2;
    }
    out(Some(name.unwrap_or_default()), path);
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, text: &str) -> Source {
        let mut module: Vec<String> = name.trim_end_matches(".rs").split('/').map(str::to_string).collect();
        if module.len() > 1 && module.last().is_some_and(|last| last == "mod") {
            module.pop();
        }
        Source { name: name.to_string(), text: text.to_string(), module, only_tests: false }
    }

    #[test]
    fn a_circle_is_seen_through_what_hands_names_on() {
        // a/x.rs takes `Y` from the room's face, a/y.rs takes `x::two` by the name of the module.
        let face = source("a/mod.rs", "mod x;\nmod y;\npub use y::Y;\npub use x::*;\nfn own() {}\n");
        let x = source("a/x.rs", "use crate::a::Y;\npub fn two() {}\nmod inner { use super::two; }\n");
        let y = source("a/y.rs", "use super::x;\npub struct Y;\nimpl Y { fn one() { x::two() } }\n");
        let b = source("b.rs", "use crate::a::{two as three, Y as Z};\nfn f() { Z::one() }\n");
        let graph = Graph::of(&[face, x, y, b]);
        assert_eq!(circles(&graph), [["a/x.rs", "a/y.rs"]]);
        assert_eq!(
            graph.inside(&["a/mod.rs", "a/x.rs", "a/y.rs"].map(String::from)),
            "  a/x.rs imports a/y.rs: crate::a::Y\n  a/y.rs imports a/x.rs: x::two"
        );
        assert_eq!(graph.edges(), 4);
    }

    #[test]
    fn a_face_that_says_a_name_imports_it() {
        let face = source("a/mod.rs", "mod x;\npub use x::X;\npub trait T { fn x(&self) -> X; }\n");
        let x = source("a/x.rs", "use super::T;\npub struct X;\n");
        assert_eq!(circles(&Graph::of(&[face, x])), [["a/mod.rs", "a/x.rs"]]);
        let face = source("a/mod.rs", "mod x;\npub use x::{X, x};\npub trait T {}\n");
        let x = source("a/x.rs", "use super::T;\npub struct X;\n");
        assert_eq!(circles(&Graph::of(&[face, x])), Vec::<Vec<String>>::new());
    }
}
