//! Checks invariants after every step of a sequence, using the tables of all outputs.

use super::*;

impl Law {
    /// Checks that each row of the last batch is kept, removed or rejected, and that `deduped/` contains the kept rows in order.
    pub(super) fn each_row_is_somewhere(&mut self) {
        let batch = self.batches.last().unwrap();
        let (out, count) = (self.out(&batch.name), batch.rows.len());
        let numbers = |folder: &str, column: &str| {
            let folder = out.join(folder);
            if files_below(&folder).is_empty() { Vec::new() } else { Table::read(&folder).numbers(column) }
        };
        let deduped = numbers("deduped", "place");
        if !deduped.is_sorted() {
            self.fail("deduped/ is out of order");
        }
        let mut places = vec![0; count];
        deduped.iter().for_each(|&row| places[row as usize] += 1);
        numbers("removed", "doc").iter().for_each(|doc| places[(doc - batch.first_doc) as usize] += 1);
        let rejected: Vec<usize> = (0..count).filter(|&row| batch.rows[row].text.is_none()).collect();
        rejected.iter().for_each(|&row| places[row] += 1);
        if places.iter().any(|&times| times != 1) {
            self.fail(&format!("rows of {} are in so many places: {places:?}", batch.name));
        }
        if numbers("rejected", "row").into_iter().map(|row| row as usize).ne(rejected) {
            self.fail("rejected/ has other rows");
        }
        let batch = self.batches.last_mut().unwrap();
        deduped.iter().for_each(|&row| batch.kept[row as usize] = true);
    }

    /// Returns the batch and the row of a document number in the tables.
    pub(super) fn document(&self, doc: i64) -> (usize, usize) {
        let batch = self.batches.partition_point(|batch| batch.first_doc <= doc).checked_sub(1);
        let found = batch.map(|batch| (batch, (doc - self.batches[batch].first_doc) as usize));
        match found.filter(|&(batch, row)| row < self.batches[batch].rows.len()) {
            Some(found) => found,
            None => self.fail(&format!("there is no document {doc}")),
        }
    }

    pub(super) fn each_removed_has_a_kept_one(&mut self) {
        let own = self.batches.len() - 1;
        let table = Table::read(&self.out(&self.batches[own].name).join("removed"));
        let (docs, kept, reasons) = (table.numbers("doc"), table.numbers("kept_doc"), table.texts("reason"));
        for row in 0..table.len() {
            let (batch, at) = self.document(kept[row]);
            let Batch { kept: is_kept, forgotten, .. } = &self.batches[batch];
            if !is_kept[at] || batch != own && forgotten[at] {
                let (is_kept, forgotten) = (is_kept[at], forgotten[at]);
                self.fail(&format!(
                    "{} is removed in favor of {}, kept: {is_kept}, forgotten: {forgotten}",
                    docs[row], kept[row]
                ));
            }
            if self.document(docs[row]).0 != own {
                self.fail(&format!("{} of another batch is removed", docs[row]));
            }
            self.chained += usize::from(reasons[row] == "chain");
            if reasons[row] == "representative" {
                self.fail(&format!("{} is removed as a representative without `keep=none`", docs[row]));
            }
        }
    }

    /// Checks that each table contains the correct id for each document.
    pub(super) fn ids_are_those_of_documents(&self) {
        let out = self.out(&self.batches.last().unwrap().name);
        let has = |folder: &str| out.join(folder).is_dir();
        for (folder, columns) in [
            ("pairs", &[("id_a", "doc_a"), ("id_b", "doc_b")][..]),
            ("clusters", &[("id", "doc")]),
            ("removed", &[("id", "doc"), ("kept_id", "kept_doc")]),
            ("attributes", &[("id", "doc")]),
        ] {
            if !has(folder) {
                continue;
            }
            let tables = files_below(&out.join(folder))
                .into_iter()
                .filter(|file| file.extension().is_some_and(|it| it == "parquet"));
            for table in tables.map(|file| Table::read(&file)) {
                for (id, doc) in columns {
                    for (id, doc) in table.texts(id).into_iter().zip(table.numbers(doc)) {
                        let (batch, row) = self.document(doc);
                        if self.batches[batch].rows[row].id.as_ref().is_some_and(|own| *own != id)
                            || !id.ends_with(&self.id(batch, row))
                        {
                            self.fail(&format!(
                                "{folder} calls document {doc} {id:?}, and not {:?}",
                                self.id(batch, row)
                            ));
                        }
                    }
                }
            }
        }
        // Checks the columns without document numbers, the record and the page.
        let known: BTreeSet<String> = (0..self.batches.len())
            .flat_map(|batch| (0..self.batches[batch].rows.len()).map(move |row| (batch, row)))
            .map(|(batch, row)| self.id(batch, row))
            .collect();
        for (folder, column) in [("clusters", "cluster_id"), ("attributes", "cluster_id"), ("attributes", "kept_id")] {
            if !has(folder) {
                continue;
            }
            for id in Table::read(&out.join(folder)).texts(column) {
                let name = Path::new(&id).file_name().unwrap().to_str().unwrap();
                if !known.contains(name) || is_of_the_work_folder(&id) {
                    self.fail(&format!("{folder} has {id:?} as {column}"));
                }
            }
        }
        for text in ["run.json", "report.html"].iter().filter_map(|name| std::fs::read_to_string(out.join(name)).ok()) {
            if is_of_the_work_folder(&text) {
                self.fail("a path of the work folder is in the record or on the page");
            }
        }
    }

    /// Checks that no text is kept twice. Forgotten documents do not count.
    pub(super) fn no_text_is_kept_twice(&mut self) {
        let mut texts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for (at, batch) in self.batches.iter().enumerate() {
            for row in (0..batch.rows.len()).filter(|&row| batch.kept[row] && !batch.forgotten[row]) {
                let text = batch.rows[row].text.as_deref().unwrap();
                if let Some((other, first)) = texts.insert(text, (at, row)) {
                    self.fail(&format!(
                        "{} and {} have one text and are kept",
                        self.id(other, first),
                        self.id(at, row)
                    ));
                }
            }
        }
        // Counts the texts whose kept document was forgotten, because the sequences are supposed to produce such texts.
        let of = |is: &dyn Fn(&Batch, usize) -> bool| -> BTreeSet<&str> {
            let rows = self
                .batches
                .iter()
                .flat_map(|batch| (0..batch.rows.len()).filter(|&row| is(batch, row)).map(|row| &batch.rows[row]));
            rows.filter_map(|row| row.text.as_deref()).collect()
        };
        let removed = of(&|batch, row| !batch.kept[row]);
        let forgotten = of(&|batch, row| batch.kept[row] && batch.forgotten[row]);
        self.orphaned += removed.intersection(&forgotten).count();
    }
}
