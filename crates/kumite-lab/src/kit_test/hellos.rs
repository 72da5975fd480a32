//! Checks of a worker's answer about itself.

use serde_json::json;

use super::session::Session;
use crate::halt::Halt;

pub(super) fn answered(session: &mut Session) -> Result<(), Halt> {
    session.hello().map(|_| ())
}

pub(super) fn whole(session: &mut Session) -> Result<(), Halt> {
    let (hello, _) = session.hello()?;
    let failed = |what: String| Err(Halt::fault(what));
    for (key, text) in [("name", &hello.name), ("runtime", &hello.runtime)] {
        if text.trim().is_empty() {
            return failed(format!("expected a \"{key}\", and it is empty"));
        }
    }
    if !session.has(hello.pid)? {
        return failed(format!(
            "expected the id of its own process as \"pid\", and {} is none of its",
            hello.pid
        ));
    }
    match hello.cores {
        Some(1..) => Ok(()),
        Some(0) => failed("expected \"cores\" of at least 1, and it is 0".to_owned()),
        None => failed(
            "expected \"cores\", what the runtime takes for its number of cores, and it is not there"
                .to_owned(),
        ),
    }
}

pub(super) fn between_jobs(session: &mut Session) -> Result<(), Halt> {
    let (first, _) = session.hello()?;
    for _ in 0..3 {
        session.job(&json!({ "do": "empty" }))?;
        let (again, _) = session.hello()?;
        if again != first {
            return Err(Halt::fault(format!(
                "expected the same hello as before, and {again:?} came after {first:?}"
            )));
        }
    }
    Ok(())
}
