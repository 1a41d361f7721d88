//! `run --index`: a night matched against everything already seen says what one run over all nights would say of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::kit::{
    Doc, Numbers, PairLine, Ran, Table, labels, made_docs, names_in, numbered, pairs, record, removed_ids,
    result_bytes, run, sample_docs, write_docs,
};

/// Every member that can be matched against an index; of three_plus_five with pairs that two documents decide by themselves. Limits are
/// out of reach.
const MEMBERS: &str = "exact,core_words,cosine,decomposition,descr_words,fingerprint,heavy_sent,idf_hash,imatch,keyword_match,\
                       keywords,lex_rand,log_shingles,long_sent,lsi:join=bits,megashingles,minhash,near_page,opt_freq,\
                       random_projection,segments,sentence_marks,shingles:join=lsh,sim,simhash,tf,tf_idf,tf_ridf,\
                       three_plus_five:chain=pairwise,cosine:preset=versions,relate=false,as=versions,\
                       minhash:verify=jaccard:0.6,as=checked,simhash:distance=0,as=equal";

/// A folder with an index, the files of its nights and their outputs.
struct Nights {
    folder: tempfile::TempDir,
    algorithms: String,
    docs: Vec<Vec<Doc>>,
    /// Pairs with documents of earlier nights, once they were compared.
    met: usize,
}

impl Nights {
    fn new(algorithms: &str) -> Nights {
        Nights { folder: tempfile::tempdir().unwrap(), algorithms: algorithms.into(), docs: Vec::new(), met: 0 }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn out(&self, night: usize) -> PathBuf {
        self.at(&format!("out/n{night}"))
    }

    fn with(&self, inputs: &[PathBuf], out: &Path, more: &[&str]) -> Ran {
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        std::fs::create_dir_all(self.at("out")).unwrap();
        run(&inputs, out, &[&["--algorithms", &self.algorithms, "--no-report"], more].concat())
    }

    fn files(&self) -> Vec<PathBuf> {
        (0..self.docs.len()).map(|night| self.at(&format!("in/{night}.parquet"))).collect()
    }

    /// The night once more, or for the first time.
    fn again(&self, night: usize, more: &[&str]) -> Ran {
        let index = self.at("index");
        self.with(
            &[self.at(&format!("in/{night}.parquet"))],
            &self.out(night),
            &[&["--index", index.to_str().unwrap()], more].concat(),
        )
    }

    /// A night that is killed at a step of publication.
    fn killed_at(&self, night: usize, step: &str) -> Ran {
        let mut command = crate::kit::program();
        command.arg("run").arg(self.at(&format!("in/{night}.parquet"))).arg("--out").arg(self.out(night));
        command.arg("--index").arg(self.at("index")).args(["--algorithms", &self.algorithms, "--no-report"]);
        command.args(["--no-progress", "--threads", "2", "--memory", "512MiB"]).env("DUPSIFT_STOP_AT", step);
        Ran::of(command.output().unwrap())
    }

    fn night(&mut self, docs: Vec<Doc>) -> Ran {
        let night = self.docs.len();
        write_docs(&self.at(&format!("in/{night}.parquet")), &docs, 300);
        self.docs.push(docs);
        self.again(night, &[])
    }

    /// One run over all nights with the counts of the index.
    fn together(&self, more: &[&str]) -> PathBuf {
        let (out, index) = (self.at("out/together"), self.at("index"));
        let more = [&["--stats", index.to_str().unwrap(), "--overwrite"], more].concat();
        self.with(&self.files(), &out, &more).ends_with(0);
        out
    }

    /// Where the documents of a night begin.
    fn begins(&self, night: usize) -> i64 {
        self.docs[..night].iter().map(|docs| docs.len() as i64).sum()
    }

    /// By document of all nights: the night, and whether its text stood in an earlier document of the nights before the last.
    fn surplus(&self) -> Vec<bool> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let texts =
            self.docs.iter().enumerate().flat_map(|(night, docs)| docs.iter().map(move |doc| (night, &*doc.text)));
        // A copy within the night of the first one is a copy of the first one.
        texts.map(|(night, text)| seen.insert(text, night).is_some()).collect()
    }

    /// The pairs of all nights are those of one run, but that an old text is met by its first document alone. Gives how many pairs have
    /// documents of two nights.
    fn agrees(&self, together: &Path) -> usize {
        (0..self.docs.len()).map(|night| self.agrees_in(together, night)).sum()
    }

    /// The same of one night.
    fn agrees_in(&self, together: &Path, night: usize) -> usize {
        let surplus = self.surplus();
        let mut met = 0;
        for label in labels(together) {
            let (begins, ends) = (self.begins(night), self.begins(night + 1));
            let is_asked = |pair: &PairLine| {
                let is_first = pair.doc_a >= begins || !surplus[pair.doc_a as usize];
                (begins..ends).contains(&pair.doc_b) && is_first
            };
            let expected: Vec<PairLine> = pairs(together, &label).into_iter().filter(is_asked).collect();
            let found = pairs(&self.out(night), &label);
            met += found.iter().filter(|pair| pair.doc_a < begins).count();
            for (found, expected) in found.iter().zip(&expected) {
                assert_eq!(found, expected, "{label}, night {night}");
            }
            assert_eq!(found.len(), expected.len(), "{label}, night {night}: {:?} {:?}", found.last(), expected.last());
        }
        met
    }
}

/// Documents dealt to nights, some of which come again as they were or with a change.
fn dealt(docs: Vec<Doc>, nights: usize, seed: u64) -> Vec<Vec<Doc>> {
    let mut numbers = Numbers(seed);
    let mut dealt: Vec<Vec<Doc>> = (0..nights).map(|_| Vec::new()).collect();
    for doc in docs {
        let night = numbers.below(nights);
        for (later, docs) in dealt.iter_mut().enumerate().skip(night + 1) {
            let (id, text) = match numbers.below(8) {
                0 => (format!("{}-{later}", doc.id), doc.text.clone()),
                1 => (format!("{}-{later}x", doc.id), format!("{} And {later} more words.", doc.text)),
                _ => continue,
            };
            docs.push(Doc { id, text, title: None });
        }
        dealt[night].push(doc);
    }
    dealt
}

fn law(algorithms: &str, nights: Vec<Vec<Doc>>) -> Nights {
    let mut place = Nights::new(algorithms);
    for docs in nights {
        // Where there is nothing to read the user is told so.
        let code = if docs.is_empty() { 3 } else { 0 };
        place.night(docs).ends_with(code);
    }
    let together = place.together(&[]);
    place.met = place.agrees(&together);
    place
}

#[test]
fn copies_and_bands_are_met_as_in_one_run() {
    let place = law("exact,minhash", dealt(sample_docs(), 3, 1));
    // Nothing that was there goes, and what is removed goes for a document that stays.
    let mut for_others = 0;
    for night in 0..3 {
        let removed = Table::read(&place.out(night).join("removed"));
        let (docs, kept, reasons) = (removed.numbers("doc"), removed.numbers("kept_doc"), removed.texts("reason"));
        let own = place.begins(night)..place.begins(night + 1);
        assert!(docs.iter().all(|doc| own.contains(doc)), "night {night} removes others' documents");
        let texts: Vec<&str> = place.docs.iter().flatten().map(|doc| &*doc.text).collect();
        for ((doc, kept), reason) in docs.iter().zip(&kept).zip(&reasons) {
            // A text of an earlier night is told so also where its first document went for another one.
            let seen = texts[..own.start as usize].contains(&texts[*doc as usize]);
            assert_eq!(reason == "seen", seen, "{doc} for {kept}");
            for_others += usize::from(seen && texts[*doc as usize] != texts[*kept as usize]);
        }
        assert_eq!(reasons.iter().any(|reason| reason == "seen"), night > 0);
        let told = &record(&place.out(night))["index"];
        assert_eq!(
            (told["first_doc"].as_i64(), told["generation"].as_u64()),
            (Some(own.start), Some(night as u64 + 1))
        );
        assert_eq!(told["guests"].as_u64() > Some(0), night > 0);
    }
    assert!(for_others > 0, "no text came again whose first document was removed");
}

#[test]
fn a_night_may_be_empty_or_all_or_met_by_nothing() {
    let docs = || made_docs(120);
    let odd = || numbered(["one text that nothing else is like", "another, of other words"]);
    law("exact,minhash:verify=jaccard:0.5,tf", vec![docs(), Vec::new(), odd(), docs(), made_docs(130)]);
    law("exact,minhash,simhash", vec![odd(), docs()]);
}

#[test]
fn every_member_meets_old_documents_as_in_one_run() {
    let samples = sample_docs();
    assert!(law(MEMBERS, dealt(samples.into_iter().step_by(2).collect(), 2, 3)).met > 1_000);
    assert!(law(MEMBERS, dealt(made_docs(500), 3, 4)).met > 1_000);
}

/// What is told by all pairs of a document, those of earlier nights with them: the default preset, and the best pairs of each document.
#[test]
fn rules_that_look_at_all_pairs_look_at_those_of_earlier_nights() {
    // What was told in an earlier night stays: each night is held against one run over it and the nights before.
    let law = |algorithms: &str, nights: Vec<Vec<Doc>>| {
        let mut place = Nights::new(algorithms);
        for (night, docs) in nights.into_iter().enumerate() {
            place.night(docs).ends_with(0);
            place.met += place.agrees_in(&place.together(&[]), night);
        }
        place
    };
    let forms = |place: &Nights| -> usize {
        let of = |night| pairs(&place.out(night), "cosine").into_iter().filter(|pair| pair.told.0 == "form").count();
        (1..place.docs.len()).map(of).sum()
    };
    let preset = "exact,cosine:preset=versions";
    let place = law(preset, dealt(sample_docs(), 3, 12));
    assert!(place.met > 500 && forms(&place) > 20, "{} met, {} forms", place.met, forms(&place));
    // Pages of one form, with first lines that some or many have: the next best of a page is in another night.
    let page = |at: usize| {
        let (title, place) = (at % 7, at % 5);
        let text = format!(
            "Notice number {title}\nThe office of district {place} is open. {}",
            "It will be so. ".repeat(at % 3)
        );
        let words: Vec<String> = (0..30).map(|word| format!("w{}", (word * 7 + at * (word % 3)) % 90)).collect();
        format!("{text} {}", words.join(" "))
    };
    let pages = numbered((0..240).map(page).collect::<Vec<_>>().iter().map(String::as_str));
    let place = law(preset, dealt(pages, 4, 13));
    assert!(place.met > 500, "{}", place.met);
    let margins = "minhash:verify=jaccard:0.3,margin=0.1,as=each,minhash:verify=jaccard:0.3,margin=either:0.05,as=either,\
                   cosine:margin=0.05,as=best";
    assert!(law(margins, dealt(made_docs(500), 3, 14)).met > 100);
}

#[test]
fn the_same_night_again_changes_nothing_and_another_one_of_its_name_is_told() {
    let mut place = Nights::new("exact,minhash");
    for docs in dealt(made_docs(200), 2, 5) {
        place.night(docs).ends_with(0);
    }
    let before = (result_bytes(&place.out(1)), names_in(&place.at("index")));
    place.again(1, &[]).ends_with(0).says(&["is published already"]);
    assert!((result_bytes(&place.out(1)), names_in(&place.at("index"))) == before);
    // Made again, it takes its own place.
    place.again(1, &["--overwrite"]).ends_with(0);
    assert!(result_bytes(&place.out(1)) == before.0, "the same night, other bytes");
    let together = place.together(&[]);
    assert!(place.agrees(&together) > 0);
    place.again(0, &["--overwrite"]).ends_with(2).says(&["n0", "n1 came after it"]);
    write_docs(&place.at("in/1.parquet"), &made_docs(20), 10);
    place.again(1, &["--overwrite"]).ends_with(2).says(&["n1", "with other files", "--batch"]);
    place.again(1, &["--overwrite", "--batch", "third"]).ends_with(0);
}

/// The steps of publication, in their order; from `output` on the night is published.
const STEPS: [&str; 9] =
    ["documents", "rows", "statistics named", "documents named", "rows named", "intent", "output", "manifest", "swept"];

/// Killed at a step of publication: the next night, without that one again, removes nothing for a document of a night that is not
/// published; and that night again gives what it would have given.
#[test]
fn a_night_that_is_killed_while_it_is_published_harms_no_other() {
    let nights = dealt(made_docs(240), 3, 7);
    let whole = law("exact,minhash", nights.iter().map(|docs| docs.iter().map(same).collect()).collect());
    for step in STEPS {
        let mut place = Nights::new("exact,minhash");
        place.night(nights[0].iter().map(same).collect()).ends_with(0);
        write_docs(&place.at("in/1.parquet"), &nights[1], 300);
        place.docs.push(nights[1].iter().map(same).collect());
        assert_ne!(place.killed_at(1, step).code, 0, "{step}: it was not killed");
        let published = STEPS.iter().position(|known| *known == step) >= Some(6);
        assert_eq!(place.out(1).exists(), published, "{step}");
        // The next night goes on without it.
        write_docs(&place.at("in/2.parquet"), &nights[2], 300);
        let out = place.at("out/next");
        let index = place.at("index");
        place.with(&[place.at("in/2.parquet")], &out, &["--index", index.to_str().unwrap()]).ends_with(0);
        let ids: Vec<&str> = nights[1].iter().map(|doc| &*doc.id).collect();
        let removed = Table::read(&out.join("removed")).texts("kept_id");
        let met = removed.iter().any(|kept| ids.contains(&&**kept));
        assert_eq!(met, published, "{step}: whom documents go for");
        assert_eq!(record(&out)["index"]["generation"].as_u64(), Some(if published { 3 } else { 2 }), "{step}");
        if !published {
            place.again(1, &["--batch", "late"]).ends_with(0);
        } else {
            assert!(result_bytes(&place.out(1)) == result_bytes(&whole.out(1)), "{step}: other bytes");
        }
    }
}

fn same(doc: &Doc) -> Doc {
    Doc { id: doc.id.clone(), text: doc.text.clone(), title: None }
}

/// A night that was killed before it was published gives the same bytes when it is run again.
#[test]
fn a_killed_night_again_is_the_night() {
    let nights = dealt(made_docs(240), 2, 8);
    let whole = law("exact,minhash", nights.iter().map(|docs| docs.iter().map(same).collect()).collect());
    for step in ["documents", "rows named", "intent"] {
        let mut place = Nights::new("exact,minhash");
        place.night(nights[0].iter().map(same).collect()).ends_with(0);
        write_docs(&place.at("in/1.parquet"), &nights[1], 300);
        assert_ne!(place.killed_at(1, step).code, 0);
        place.again(1, &[]).ends_with(0);
        assert!(result_bytes(&place.out(1)) == result_bytes(&whole.out(1)), "{step}: other bytes");
        assert_eq!(names_in(&place.at("index/rows")), names_in(&whole.at("index/rows")));
    }
}

/// A bit in each kind of file: it is found by the run that reads it, or by `verify`, and nothing is published.
#[test]
fn damage_is_found_and_named() {
    let nights = dealt(made_docs(240), 2, 9);
    let mut place = Nights::new("exact,minhash:verify=jaccard:0.5");
    place.night(nights[0].iter().map(same).collect()).ends_with(0);
    write_docs(&place.at("in/1.parquet"), &nights[1], 300);
    let folder = |kind: &str| place.at("index").join(kind).join(&names_in(&place.at("index").join(kind))[0]);
    let verify = || {
        let mut command = crate::kit::program();
        Ran::of(command.args(["index", "verify"]).arg(place.at("index")).output().unwrap())
    };
    verify().ends_with(0);
    for file in [
        folder("rows").join("minhash.run"),
        folder("rows").join("+copies.run"),
        folder("batches").join("part-000000.parquet"),
    ] {
        let whole = std::fs::read(&file).unwrap();
        let at = whole.len() - 600;
        let mut torn = whole.clone();
        torn[at] ^= 1;
        std::fs::write(&file, &torn).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        verify().ends_with(1).says(&[name, "checksum"]);
        if name.ends_with(".run") {
            place.again(1, &[]).ends_with(1).says(&[name]);
            assert!(!place.out(1).exists() && names_in(&place.at("index/batches")).len() == 1, "{name}");
        }
        std::fs::write(&file, &whole).unwrap();
    }
    place.again(1, &[]).ends_with(0);
}

fn looked_after(index: &Path, more: &[&str]) -> Ran {
    let (verb, more) = more.split_first().unwrap();
    Ran::of(crate::kit::program().args(["index", verb]).arg(index).args(more).output().unwrap())
}

/// Fewer files of rows: the same bytes.
#[test]
fn merged_rows_are_the_same_rows() {
    let nights = dealt(made_docs(600), 11, 10);
    let (mut plain, mut merged) = (Nights::new("exact,minhash,simhash"), Nights::new("exact,minhash,simhash"));
    for (night, docs) in nights.iter().enumerate() {
        plain.night(docs.iter().map(same).collect()).ends_with(0);
        merged.night(docs.iter().map(same).collect()).ends_with(0);
        assert!(result_bytes(&plain.out(night)) == result_bytes(&merged.out(night)), "night {night}");
        looked_after(&merged.at("index"), &["compact"]).ends_with(0);
    }
    let folders = |place: &Nights| names_in(&place.at("index/rows")).len();
    looked_after(&merged.at("index"), &["verify"]).ends_with(0);
    assert!(looked_after(&merged.at("index"), &["info"]).ends_with(0).stdout.contains("11 nights"));
    let manifest = looked_after(&merged.at("index"), &["info", "--json"]).ends_with(0).stdout;
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert!(manifest["rows"].as_array().unwrap().len() == 4 && folders(&plain) == 11, "{}", manifest["rows"]);
}

/// A document that is forgotten was never there, to members without counts.
#[test]
fn what_is_forgotten_is_met_no_more() {
    let nights = dealt(made_docs(200), 3, 11);
    let mut place = Nights::new("exact,minhash");
    place.night(nights[0].iter().map(same).collect()).ends_with(0);
    place.night(nights[1].iter().map(same).collect()).ends_with(0);
    looked_after(&place.at("index"), &["forget", "--batch", "n1"]).ends_with(0);
    looked_after(&place.at("index"), &["forget", "--batch", "n7"]).ends_with(2).says(&["there is no night \"n7\""]);
    looked_after(&place.at("index"), &["forget", "--id", "nothing"]).ends_with(2).says(&["no document with the id"]);
    place.night(nights[2].iter().map(same).collect()).ends_with(0);
    let mut without = Nights::new("exact,minhash");
    without.night(nights[0].iter().map(same).collect()).ends_with(0);
    without.night(nights[2].iter().map(same).collect()).ends_with(0);
    let ids = |out: PathBuf, label: &str| -> Vec<(String, String)> {
        let mut ids: Vec<_> = pairs(&out, label).into_iter().map(|pair| (pair.id_a, pair.id_b)).collect();
        ids.sort();
        ids
    };
    for label in ["exact", "minhash"] {
        assert_eq!(ids(place.out(2), label), ids(without.out(1), label), "{label}");
    }
    // One document of the first night: the pairs with it are missing, and no other.
    let all = ids(without.out(1), "minhash");
    let old: Vec<&str> = nights[0].iter().map(|doc| &*doc.id).collect();
    let gone = all.iter().find(|(a, _)| old.contains(&&**a)).unwrap().0.clone();
    looked_after(&without.at("index"), &["forget", "--id", &gone]).ends_with(0);
    without.again(1, &["--overwrite"]).ends_with(0);
    let left: Vec<_> = all.into_iter().filter(|(a, b)| *a != gone && *b != gone).collect();
    assert_eq!(ids(without.out(1), "minhash"), left);
}

#[test]
fn what_was_made_otherwise_is_refused_line_by_line() {
    let mut place = Nights::new("exact,minhash");
    place.night(made_docs(50)).ends_with(0);
    let refused = |algorithms: &str, more: &[&str], says: &[&str]| {
        let other =
            Nights { folder: tempfile::tempdir().unwrap(), algorithms: algorithms.into(), docs: Vec::new(), met: 0 };
        let index = place.at("index");
        let more = [&["--index", index.to_str().unwrap(), "--batch", "other"], more].concat();
        other.with(&[place.at("in/0.parquet")], &other.at("out/x"), &more).ends_with(2).says(says);
        assert_eq!(names_in(&place.at("index/batches")).len(), 1);
    };
    refused("exact,minhash:rows=7", &[], &["was made with another recipe", "minhash: rows=8 there, rows=7 here"]);
    refused("exact", &[], &["minhash there, and not here"]);
    refused("exact,minhash,tf", &[], &["tf here, and not there"]);
    refused("exact,minhash", &["--tokenizer", "char"], &["words: ", "tokenizer"]);
    refused("exact,minhash", &["--planned-documents", "5"], &["--planned-documents: 100000000 there, 5 here"]);
    refused("exact,minhash:verify=jaccard:0.5,margin=0.1:0.5", &[], &["margin=M:D", "leave :D out"]);
    refused("repeats", &[], &["repeats: "]);
    refused("shingles:join=exact", &[], &["join=exact", "take another join"]);
    refused("exact,minhash", &["--sift"], &["--sift leaves out rows"]);
    // A folder of other things is no index.
    let more = ["--index", place.at("in").to_str().unwrap().to_owned().leak()];
    place.with(&[place.at("in/0.parquet")], &place.at("out/y"), &more).ends_with(2).says(&["is no part of an index"]);
}

/// What becomes of documents over nights is what becomes of them in one run in the order of nights.
#[test]
fn what_stays_over_nights_is_what_stays_of_one_run() {
    let place = law("exact,minhash:verify=jaccard:0.5", dealt(made_docs(400), 3, 6));
    let mut over_nights: Vec<String> = (0..3).flat_map(|night| removed_ids(&place.out(night))).collect();
    over_nights.sort();
    // The nights are named in the ids: a document of an earlier night is the better one.
    let mut files = Vec::new();
    for (night, docs) in place.docs.iter().enumerate() {
        let path = place.at(&format!("nights/night={night}/a.parquet"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        write_docs(&path, docs, 300);
        files.push(path);
    }
    let (out, index) = (place.at("out/ordered"), place.at("index"));
    let more = ["--stats", index.to_str().unwrap(), "--keep", "night asc, length desc"];
    place.with(&[place.at("nights")], &out, &more).ends_with(0);
    let mut of_one = removed_ids(&out);
    of_one.sort();
    assert!(!of_one.is_empty() && over_nights == of_one, "{} and {} go", over_nights.len(), of_one.len());
}
