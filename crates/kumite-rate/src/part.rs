//! What a condition of an objective is about, if that is not the whole load: one request of several, or one session.

use std::fmt;

use kumite_load::Session;

/// The name of a request or a session, as an objective has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartName {
    pub name: String,
    /// The session that the request belongs to, if it was named.
    pub session: Option<String>,
}

/// The names of a load's sessions, in their order, each with those of its requests. A plain request is a session of one.
pub type Sessions<'a> = [(&'a str, Vec<&'a str>)];

/// The place of a request or a session in a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Place {
    /// The index of the session.
    pub session: usize,
    /// The index of the request in the session; `None` for the session as a whole.
    pub step: Option<usize>,
}

/// The reason why a condition is not about a load: what it names is not there, or not alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// No request and no session has this name.
    #[error("the objective is about {name}, and no request or session is called so; there are {known}")]
    Unknown {
        /// The name, as the objective has it.
        name: String,
        /// All names that there are.
        known: String,
    },
    /// Several requests or sessions have this name.
    #[error(
        "the objective is about {name}, and several are called so: say of which session (of {name} of SESSION)"
    )]
    Several {
        /// The name, as the objective has it.
        name: String,
    },
    /// The session of this name, or that of the request, has the weight 0.
    #[error("the objective is about {name}, which has the weight 0: it is never sent")]
    Never {
        /// The name, as the objective has it.
        name: String,
    },
}

impl Place {
    pub fn is_session(self) -> bool {
        self.step.is_none()
    }
}

/// The names of these sessions.
pub(crate) fn names(sessions: &[Session]) -> Vec<(&str, Vec<&str>)> {
    let named = sessions.iter().map(|session| {
        let steps = session.steps.iter().map(|step| step.name.as_str());
        (session.name.as_str(), steps.collect())
    });
    named.collect()
}

impl PartName {
    /// The only request or session of this name. A session of one request is that request.
    pub fn find(&self, sessions: &Sessions<'_>) -> Result<Place, PartError> {
        let mut places = Vec::new();
        for (session, (name, steps)) in sessions.iter().enumerate() {
            if steps.len() > 1 && self.session.is_none() && *name == self.name {
                places.push(Place { session, step: None });
            }
            if self.session.as_deref().is_none_or(|of| of == *name) {
                let named = steps.iter().enumerate().filter(|(_, step)| **step == self.name);
                places.extend(named.map(|(step, _)| Place { session, step: Some(step) }));
            }
        }
        match places[..] {
            [place] => Ok(place),
            [] => Err(PartError::Unknown { name: self.to_string(), known: known(sessions) }),
            [..] => Err(PartError::Several { name: self.to_string() }),
        }
    }
}

impl fmt::Display for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = self.session.iter().map(|session| format!(" of {session}"));
        write!(f, "{}{}", self.name, of.collect::<String>())
    }
}

/// `list, buy (token, item)`: the names of plain requests, and of sessions with those of their requests.
fn known(sessions: &Sessions<'_>) -> String {
    if sessions.is_empty() {
        return "none with a name".to_owned();
    }
    let named = sessions.iter().map(|(name, steps)| match &steps[..] {
        [step] => (*step).to_owned(),
        steps => format!("{name} ({})", steps.join(", ")),
    });
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_that_of_one_request_or_of_one_session() {
        let sessions =
            [("list", vec!["list"]), ("buy", vec!["token", "item"]), ("look", vec!["item", "look"])];
        let find = |name: &str, session: Option<&str>| {
            let (name, session) = (name.to_owned(), session.map(str::to_owned));
            PartName { name, session }.find(&sessions)
        };
        assert_eq!(find("list", None), Ok(Place { session: 0, step: Some(0) }));
        assert_eq!(find("buy", None), Ok(Place { session: 1, step: None }));
        assert_eq!(find("token", None), Ok(Place { session: 1, step: Some(0) }));
        assert_eq!(find("item", Some("look")), Ok(Place { session: 2, step: Some(0) }));
        let refused = |name, session| find(name, session).unwrap_err().to_string();
        assert_eq!(
            refused("tokn", Some("buy")),
            "the objective is about tokn of buy, and no request or session is called so; there are list, buy (token, item), \
             look (item, look)"
        );
        assert_eq!(
            refused("item", None),
            "the objective is about item, and several are called so: say of which session (of item of SESSION)"
        );
        assert!(refused("look", None).contains("several"), "a session and its own request");
    }
}
