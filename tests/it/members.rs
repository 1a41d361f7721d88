//! Members of the family stand side by side: who may import whom in `algorithm`, and what stands where, by the sources themselves.

use std::collections::{BTreeMap, BTreeSet};

use crate::sources::{Source, inside, paths, sources, without_tests};

/// Modules of `algorithm` that are not members of the family.
const NOT_MEMBERS: &[&str] = &["mod", "contract", "params", "laws", "revisions", "skeleton", "kit"];
/// What a member may import of its own room.
const FOR_MEMBERS: &[&str] = &["contract", "params", "kit"];

/// The members of the family by the names of their modules, each with its files, those of tests too.
fn members(sources: &[Source]) -> BTreeMap<&str, Vec<String>> {
    let mut members: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.room() == "algorithm") {
        if let Some(name) = source.module.get(1).filter(|name| !NOT_MEMBERS.contains(&name.as_str())) {
            members.entry(name).or_default().push(source.name.clone());
        }
    }
    members
}

#[test]
fn members_of_the_family_know_the_contract_and_not_each_other() {
    let sources = sources();
    let members = members(&sources);
    let named: BTreeSet<&str> = dupsift::algorithm::ALGORITHMS.iter().map(|algorithm| algorithm.name()).collect();
    assert_eq!(members.keys().copied().collect::<BTreeSet<&str>>(), named, "one file or folder a member, by its name");
    let mut wrong = Vec::new();
    for (member, files) in &members {
        let alone = files == &[format!("algorithm/{member}.rs")];
        let folder = files.len() > 1 && files.iter().all(|file| file.starts_with(&format!("algorithm/{member}/")));
        if !alone && !folder {
            wrong.push(format!("{member}: one file, or a folder of all its files, not {files:?}"));
        }
    }
    for source in sources.iter().filter(|source| !source.only_tests) {
        let of_family = source.room() == "algorithm" && source.module.len() > 1;
        for path in paths(&without_tests(&source.text)) {
            let Some(inside) = inside(&source.name, &source.module, &path) else { continue };
            if inside[0] != "algorithm" || source.name == "algorithm/mod.rs" {
                continue;
            }
            let part = inside.get(1).map_or("", String::as_str);
            let own = source.module.get(1).is_some_and(|own| of_family && own == part);
            if of_family && !own && !FOR_MEMBERS.contains(&part) {
                wrong.push(format!("{}: {} is neither contract, params nor kit", source.name, path.join("::")));
            }
            if !of_family && members.contains_key(part) {
                wrong.push(format!("{}: {} is a member's own file", source.name, path.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// A module of the family as the rule on `kit` sees it: `kit/NAME`, or the member or other part that it belongs to.
fn part_of_family(module: &[String]) -> Option<String> {
    match module {
        [room, kit, name, ..] if room == "algorithm" && kit == "kit" => Some(format!("kit/{name}")),
        [room, rest @ ..] if room == "algorithm" => Some(rest.first().cloned().unwrap_or_default()),
        _ => None,
    }
}

#[test]
fn parts_of_the_kit_serve_several_members() {
    let sources = sources();
    let members = members(&sources);
    let used = |source: &Source| -> BTreeSet<String> {
        let paths = paths(&without_tests(&source.text));
        paths.iter().filter_map(|path| part_of_family(&inside(&source.name, &source.module, path)?)).collect()
    };
    // What another room uses is shared by that; it stands here by the name of the room.
    let name = |source: &Source| part_of_family(&source.module).unwrap_or_else(|| source.room().to_string());
    let in_use = || sources.iter().filter(|source| !source.only_tests);
    let kit = in_use().map(name).filter(|part| part.starts_with("kit/"));
    let mut users: BTreeMap<String, BTreeSet<String>> = kit.map(|part| (part, BTreeSet::new())).collect();
    for source in in_use() {
        let user = name(source);
        for part in used(source).into_iter().filter(|part| *part != user) {
            if let Some(users) = users.get_mut(&part) {
                users.insert(user.clone());
            }
        }
    }
    // Who uses a part of the kit uses what that one uses.
    let mut wrong = Vec::new();
    for part in users.keys() {
        let (mut reached, mut next) = (BTreeSet::new(), vec![part]);
        while let Some(part) = next.pop() {
            for user in &users[part] {
                if reached.insert(user) && users.contains_key(user) {
                    next.push(user);
                }
            }
        }
        let of_family: Vec<&String> =
            reached.iter().copied().filter(|user| members.contains_key(user.as_str())).collect();
        let elsewhere = reached.iter().any(|user| !user.starts_with("kit/") && !members.contains_key(user.as_str()));
        if of_family.len() < 2 && !elsewhere {
            wrong.push(format!("algorithm/{part}: belongs into the folder of the member that uses it: {of_family:?}"));
        }
    }
    assert!(users.len() > 15, "only {} parts of the kit were found", users.len());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
