//! Parses the rule that selects the deciding pairs (`--decide`).

use dupsift_core::error::{Error, Result};

/// Selects the pairs that decide which documents are removed (`--decide`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decide {
    /// Pairs found by at least this many algorithms; 1 is `any`.
    AtLeast(usize),
    /// Pairs found by every algorithm.
    All,
    /// Pairs found by the algorithm with this label.
    Label(String),
}

impl Decide {
    /// Parses `any`, `all`, `at-least:K` or the label of one of the algorithms.
    ///
    /// # Errors
    /// Returns an error that lists the accepted values if the value is not one of them.
    pub fn parse(typed: &str, labels: &[&str]) -> Result<Decide> {
        if let Some(count) = typed.strip_prefix("at-least:") {
            return match count.parse() {
                Ok(count) if (1..=labels.len()).contains(&count) => Ok(Decide::AtLeast(count)),
                _ => Err(Error::wrong_value(
                    "decide",
                    typed,
                    format_args!("expected a number from 1 to {}, the number of algorithms in this run", labels.len()),
                )),
            };
        }
        match typed {
            "any" => Ok(Decide::AtLeast(1)),
            "all" => Ok(Decide::All),
            label if labels.contains(&label) => Ok(Decide::Label(label.to_string())),
            other => {
                let known = labels.iter().copied().chain(["any", "all"]);
                let hint = dupsift_core::error::did_you_mean(other, known);
                let names = labels.join(", ");
                Err(Error::usage(format!(
                    "`decide={other:?}` is neither any, all, at-least:K nor an algorithm of this run{hint}; available: {names}"
                )))
            }
        }
    }
}

impl std::fmt::Display for Decide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Decide::AtLeast(1) => f.write_str("any"),
            Decide::AtLeast(count) => write!(f, "at-least:{count}"),
            Decide::All => f.write_str("all"),
            Decide::Label(label) => f.write_str(label),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_parsed_and_printed_back() {
        let labels = ["exact", "minhash"];
        for typed in ["any", "all", "at-least:2", "minhash"] {
            assert_eq!(Decide::parse(typed, &labels).unwrap().to_string(), typed);
        }
        assert!(Decide::parse("minhsh", &labels).unwrap_err().to_string().contains("did you mean \"minhash\"?"));
        assert!(Decide::parse("at-least:3", &labels).unwrap_err().to_string().contains("from 1 to 2"));
    }
}
