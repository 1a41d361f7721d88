//! Settings of a store that you can give instead of environment variables. They are recorded, so credentials are not among them.

use std::fmt;

use crate::address::has_user;
use dupsift_core::error::{Error, Result, did_you_mean};

/// The settings, by name.
const NAMES: [&str; 5] = ["endpoint", "region", "anonymous", "allow_http", "virtual_hosted"];

/// How a store is reached. Settings that are not given come from the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    /// The URL of a store other than Amazon's.
    pub(crate) endpoint: Option<String>,
    /// The region of the bucket.
    pub(crate) region: Option<String>,
    /// Whether requests are sent without credentials.
    pub(crate) anonymous: Option<bool>,
    /// Whether the endpoint may be one without encryption.
    pub(crate) allow_http: Option<bool>,
    /// Whether the name of the bucket is a part of the host name.
    pub(crate) virtual_hosted: Option<bool>,
}

impl Storage {
    /// Parses settings such as `region=eu-central-1,anonymous=true`.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if a setting does not exist, is given twice or has an invalid value, or if it is a credential.
    pub fn parse(text: &str) -> Result<Storage> {
        let mut storage = Storage::default();
        for setting in text.split(',').map(str::trim).filter(|setting| !setting.is_empty()) {
            let Some((name, value)) = setting.split_once('=') else {
                return Err(Error::usage(format!("expected NAME=VALUE with one of the names {}", NAMES.join(", "))));
            };
            storage.set(name.trim(), value.trim())?;
        }
        Ok(storage)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let switch = || match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Error::usage(format!("expected {name}=true or {name}=false"))),
        };
        let is_given = match name {
            "endpoint" => {
                let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
                match rest {
                    Some(rest) if !rest.is_empty() && !has_user(rest) && !rest.contains('?') => {}
                    _ => {
                        return Err(Error::usage(
                            "expected a URL such as https://HOST:PORT as `endpoint`, without a password and a query",
                        ));
                    }
                }
                self.endpoint.replace(value.to_owned()).is_some()
            }
            "region" => self.region.replace(value.to_owned()).is_some(),
            "anonymous" => self.anonymous.replace(switch()?).is_some(),
            "allow_http" => self.allow_http.replace(switch()?).is_some(),
            "virtual_hosted" => self.virtual_hosted.replace(switch()?).is_some(),
            _ => return Err(unknown(name)),
        };
        if is_given { Err(Error::usage(format!("{name:?} is given twice"))) } else { Ok(()) }
    }
}

/// Returns the error for a setting that does not exist. The value is not repeated, because it may be a secret.
fn unknown(name: &str) -> Error {
    let lower = name.to_ascii_lowercase();
    if ["key", "secret", "token", "password", "credential"].iter().any(|part| lower.contains(part)) {
        return Error::usage(format!(
            "{name:?} is not accepted here, because settings are recorded; credentials come from the environment (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
        ));
    }
    let hint = did_you_mean(name, NAMES);
    Error::usage(format!("there is no setting {name:?}{hint}; expected {}", NAMES.join(", ")))
}

impl fmt::Display for Storage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let switch = |value: Option<bool>| value.map(|on| on.to_string());
        let values = [
            self.endpoint.clone(),
            self.region.clone(),
            switch(self.anonymous),
            switch(self.allow_http),
            switch(self.virtual_hosted),
        ];
        let given = NAMES.iter().zip(values).filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        to.write_str(&given.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_recorded_as_they_were_typed() {
        for text in ["", "endpoint=http://127.0.0.1:9000,allow_http=true", "region=eu-central-1,anonymous=true"] {
            assert_eq!(Storage::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Storage::parse(" virtual_hosted = true ,").unwrap().virtual_hosted, Some(true));
    }

    #[test]
    fn mistakes_and_secrets_are_refused_and_secrets_are_not_repeated() {
        for (text, expected) in [
            ("region", "expected NAME=VALUE"),
            ("anonymous=yes", "expected anonymous=true"),
            ("regions=x", "did you mean"),
            ("region=a,region=b", "given twice"),
            ("endpoint=host", "expected a URL"),
            ("endpoint=https://me:hidden@host", "expected a URL"),
            ("endpoint=https://host?signature=hidden", "expected a URL"),
            ("aws_secret_access_key=hidden", "come from the environment"),
            ("session_token=hidden", "come from the environment"),
        ] {
            let said = Storage::parse(text).unwrap_err().to_string();
            assert!(said.contains(expected) && !said.contains("hidden"), "{said}");
        }
    }
}
