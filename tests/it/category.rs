//! Compares the predicted categories of random documents with the predictions of scikit-learn's multinomial naive Bayes.

use dupsift_pages::{Model, Trainer, TrainingOptions};
use dupsift_text::{Pipeline, TextOptions};
use serde_json::json;

use crate::kit::{Numbers, Ran, python};

#[test]
fn posteriors_agree_with_scikit_learn() {
    let folder = tempfile::tempdir().unwrap();
    let pipeline = Pipeline::new(&TextOptions::default()).unwrap();
    let mut numbers = Numbers(13);
    // The number of classes, the number of possible words, and the upper bound on the number of words per text. The cases are few classes,
    // many classes, and a single class.
    for (classes, words, most) in [(2, 30, 12), (7, 400, 60), (40, 150, 25), (1, 20, 9)] {
        let mut text = |class: usize, more: usize| {
            // Half of the words are specific to one class, so that the posterior probabilities differ.
            let count = numbers.below(most);
            let word = |_| match numbers.below(2) {
                0 => format!("w{}", (class * 5 + numbers.below(5)) % words),
                _ => format!("w{}", numbers.below(words + more)),
            };
            (0..count).map(word).collect::<Vec<_>>().join(" ")
        };
        let train: Vec<(String, String)> =
            (0..200).map(|at| (format!("class {}", at * at % classes), text(at * at % classes, 0))).collect();
        let mut texts: Vec<String> = (0..60).map(|at| text(at, words)).collect();
        texts.push("unknown".to_owned());
        let mut trainer = Trainer::new(TrainingOptions::default());
        for (class, text) in &train {
            trainer.add(class, &pipeline.analyse(text)).unwrap();
        }
        let (model, _) = trainer.finish().unwrap();
        // Converts the model to a table and back, to check that the written model equals the trained model.
        let model = Model::from_rows(model.rows()).unwrap();
        let mut known: Vec<&str> = model.rows().filter_map(|row| row.word).collect();
        known.dedup();
        let posteriors: Vec<_> = texts.iter().map(|text| model.posteriors(&pipeline.analyse(text))).collect();
        assert_eq!(posteriors.last(), Some(&None));
        let told = json!({
            "classes": model.classes().collect::<Vec<_>>(),
            "words": known,
            "train": train,
            "texts": texts,
            "posteriors": posteriors,
        });
        let file = folder.path().join("told.json");
        std::fs::write(&file, told.to_string()).unwrap();
        let said = Ran::of(python("tests/category.py").arg(&file).output().unwrap()).ends_with(0).stdout;
        assert_eq!(said, "checked 61\n");
    }
}
