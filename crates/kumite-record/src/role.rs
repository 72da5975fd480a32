//! The parts of a run that may have a machine of their own. The command line and the record have the same words for
//! them.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Node;

/// A part of a run that may have a node of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The contenders, where they are servers.
    Server,
    /// The services beside the contenders.
    Services,
    /// The load engine, and everything else that has no node of its own.
    Engine,
}

/// The roles that a node has.
pub type Roles = BTreeSet<Role>;

impl Role {
    /// All roles, in the order in which reports list them.
    pub const ALL: [Role; 3] = [Role::Server, Role::Services, Role::Engine];

    /// The word for the role on the command line, in files and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Server => "server",
            Role::Services => "services",
            Role::Engine => "engine",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = NotARole;

    fn from_str(text: &str) -> Result<Role, NotARole> {
        let found = Role::ALL.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| NotARole(text.to_owned()))
    }
}

/// The error for a text that is no role's word. It has the text. The caller adds the words that there are, in the form
/// that its flag takes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("there is no role '{0}'")]
pub struct NotARole(pub String);

/// A role that a node other than kumite's own has in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoleElsewhere {
    /// The role that the node has.
    pub role: Role,
    /// The node that has the role.
    pub node: Node,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_is_listed_by_the_word_that_files_have_for_it() {
        let schema = schemars::schema_for!(Role).to_value();
        let of_enum = schema["oneOf"].as_array().unwrap().iter().map(|one| one["const"].as_str().unwrap());
        assert_eq!(Role::ALL.map(Role::as_str).to_vec(), of_enum.collect::<Vec<_>>());
        assert_eq!(Role::ALL.map(|role| role.as_str().parse()), Role::ALL.map(Ok));
    }
}
