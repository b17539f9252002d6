//! Tokens: random secrets that stand for a role on some models.
//!
//! The file has the SHA-256 digest of each secret, never the secret. A secret has 256 random bits, so a digest
//! without salt and without a slow function is enough: there is nothing to guess. The file is read again when
//! it changes, so that a token that is created or revoked by the command counts at once.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
    str::FromStr,
    sync::{PoisonError, RwLock},
    time::SystemTime,
};

use broadstream_store::{LockedPath, StoreError};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::learning::{ModelName, make_private_folder};

/// How secrets begin, so that people and scanners recognise them.
const PREFIX: &str = "bst_";

/// What a token permits. Each role permits what those before it do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// To predict and to look.
    Predict,
    /// To learn too.
    Learn,
    /// Everything.
    Admin,
}

impl FromStr for Role {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "predict" => Ok(Role::Predict),
            "learn" => Ok(Role::Learn),
            "admin" => Ok(Role::Admin),
            _ => Err(format!("a role must be predict, learn or admin, got '{name}'")),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Predict => "predict",
            Role::Learn => "learn",
            Role::Admin => "admin",
        })
    }
}

/// A token as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// What people call it.
    pub name: String,
    /// What it permits.
    pub role: Role,
    /// The models that it permits this on; all if there are none.
    #[serde(default)]
    pub models: Vec<String>,
    /// When it was created, in seconds since 1970.
    pub created: u64,
    /// The SHA-256 digest of the secret, in hexadecimal digits.
    sha256: String,
}

impl Token {
    /// Whether the token permits what a role does on a model, or on all of them.
    pub fn permits(&self, role: Role, model: Option<&str>) -> bool {
        let is_for = |model: &str| self.models.iter().any(|known| known == model);
        self.role >= role && (self.models.is_empty() || model.is_some_and(is_for))
    }
}

/// Why tokens could not be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] StoreError),

    /// The file is not one with tokens.
    #[error("{}: expected tokens: {reason}", path.display())]
    Malformed {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// A token of that name exists.
    #[error("there is a token '{name}' already")]
    Exists {
        /// The name.
        name: String,
    },

    /// There is no token of that name.
    #[error("there is no token '{name}'")]
    Missing {
        /// The name.
        name: String,
    },

    /// A name is not one that a token or a model may have.
    #[error("{0}")]
    Name(#[from] crate::ServeError),

    /// The system has no random numbers.
    #[error("the system has no random numbers: {0}")]
    Random(String),
}

/// The tokens of a service.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    read: RwLock<Read>,
}

/// What was read of the file, and how the file looked then.
#[derive(Debug, Default)]
struct Read {
    tokens: Vec<Token>,
    state: Option<(SystemTime, u64)>,
}

impl TokenFile {
    /// The tokens of the service in a folder. It is an error if the file is there and cannot be read: a
    /// service must not go on without tokens because of that.
    pub fn open(folder: &Path) -> Result<Self, TokenError> {
        let file = TokenFile { path: folder.join("tokens.json"), read: RwLock::default() };
        file.refresh()?;
        Ok(file)
    }

    /// All tokens.
    pub fn tokens(&self) -> Vec<Token> {
        // If the file has become unreadable, those that were read last still count.
        if let Err(error) = self.refresh() {
            tracing::error!(%error, "tokens cannot be read again");
        }
        self.read.read().unwrap_or_else(PoisonError::into_inner).tokens.clone()
    }

    /// Whether there are tokens.
    pub fn is_empty(&self) -> bool {
        self.tokens().is_empty()
    }

    /// The token of a secret.
    pub fn find(&self, secret: &str) -> Option<Token> {
        let digest = digest(secret);
        let mut found = None;
        // All are compared to the end, so that the time says nothing.
        for token in self.tokens() {
            if bool::from(token.sha256.as_bytes().ct_eq(digest.as_bytes())) {
                found = Some(token);
            }
        }
        found
    }

    /// Creates a token, and returns its secret, which nothing keeps.
    pub fn create(&self, name: &str, role: Role, models: &[String]) -> Result<String, TokenError> {
        let name = ModelName::parse(name)?.to_string();
        for model in models {
            ModelName::parse(model)?;
        }
        let folder = self.path.parent().unwrap_or(&self.path);
        make_private_folder(folder)
            .map_err(|source| StoreError::Folder { folder: folder.to_owned(), source })?;
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
        let secret = format!("{PREFIX}{}", hexadecimal(&bytes));
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.change(|tokens| {
            if tokens.iter().any(|token| token.name == name) {
                return Err(TokenError::Exists { name: name.clone() });
            }
            let (models, sha256) = (models.to_vec(), digest(&secret));
            tokens.push(Token {
                name: name.clone(),
                role,
                models,
                created: since.as_secs(),
                sha256,
            });
            Ok(())
        })?;
        Ok(secret)
    }

    /// Revokes a token.
    pub fn revoke(&self, name: &str) -> Result<(), TokenError> {
        self.change(|tokens| {
            let before = tokens.len();
            tokens.retain(|token| token.name != name);
            match tokens.len() < before {
                true => Ok(()),
                false => Err(TokenError::Missing { name: name.to_owned() }),
            }
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&mut Vec<Token>) -> Result<(), TokenError>,
    ) -> Result<(), TokenError> {
        let locked = LockedPath::lock(&self.path)?;
        let mut tokens = self.read_file()?.tokens;
        change(&mut tokens)?;
        let malformed = |error: serde_json::Error| TokenError::Malformed {
            path: self.path.clone(),
            reason: error.to_string(),
        };
        let bytes = serde_json::to_vec_pretty(&tokens).map_err(malformed)?;
        locked.write_bytes(&bytes)?;
        self.refresh()
    }

    /// Reads the file if it has changed.
    fn refresh(&self) -> Result<(), TokenError> {
        let state = self.state();
        if self.read.read().unwrap_or_else(PoisonError::into_inner).state == state {
            return Ok(());
        }
        let read = self.read_file()?;
        *self.read.write().unwrap_or_else(PoisonError::into_inner) = read;
        Ok(())
    }

    fn read_file(&self) -> Result<Read, TokenError> {
        let state = self.state();
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Read::default()),
            Err(source) => {
                return Err(StoreError::Read { path: self.path.clone(), source }.into());
            }
        };
        let malformed = |reason| TokenError::Malformed { path: self.path.clone(), reason };
        let tokens: Vec<Token> =
            serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
        Ok(Read { tokens, state })
    }

    fn state(&self) -> Option<(SystemTime, u64)> {
        let metadata = fs::metadata(&self.path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    }
}

fn digest(secret: &str) -> String {
    hexadecimal(&Sha256::digest(secret))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_count_as_soon_as_they_are_made_and_no_longer_than_they_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let (service, command) =
            (TokenFile::open(folder.path()).unwrap(), TokenFile::open(folder.path()).unwrap());
        assert!(service.is_empty());
        let secret = command.create("app", Role::Learn, &["fraud".to_owned()]).unwrap();
        assert!(matches!(command.create("app", Role::Admin, &[]), Err(TokenError::Exists { .. })));
        let stored = fs::read_to_string(folder.path().join("tokens.json")).unwrap();
        assert!(!stored.contains(&secret) && !stored.contains(&secret[4..]));

        let token = service.find(&secret).unwrap();
        assert_eq!((token.name.as_str(), token.role), ("app", Role::Learn));
        for wrong in ["", "bst_", &secret[1..], &secret.to_uppercase(), &format!("{secret}0")] {
            assert_eq!(service.find(wrong), None, "{wrong}");
        }
        assert!(token.permits(Role::Predict, Some("fraud")));
        assert!(token.permits(Role::Learn, Some("fraud")));
        assert!(!token.permits(Role::Admin, Some("fraud")));
        assert!(!token.permits(Role::Predict, Some("other")));
        assert!(!token.permits(Role::Predict, None), "all models are more than one");

        assert!(matches!(command.revoke("nobody"), Err(TokenError::Missing { .. })));
        command.revoke("app").unwrap();
        assert_eq!(service.find(&secret), None);
        assert!(command.create("../x", Role::Admin, &[]).is_err());
        assert!(command.create("x", Role::Admin, &["../x".to_owned()]).is_err());
    }

    #[test]
    fn a_file_that_cannot_be_read_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json");
        fs::write(&path, "[{\"name\": \"x\"}]").unwrap();
        assert!(matches!(TokenFile::open(folder.path()), Err(TokenError::Malformed { .. })));
        fs::remove_file(&path).unwrap();
        let tokens = TokenFile::open(folder.path()).unwrap();
        let secret = tokens.create("x", Role::Admin, &[]).unwrap();
        fs::write(&path, "broken").unwrap();
        assert!(tokens.find(&secret).is_some(), "what was read last still counts");
        assert!(!tokens.is_empty());
    }
}
