//! The conformance test of kits: it checks that a worker speaks the task protocol of docs/kinds/task.md.

mod answers;
mod endings;
mod exchanges;
mod hellos;
mod requests;
mod session;
mod shapes;

use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_process::pin_thread;
use kumite_record::Cores;

pub use exchanges::Exchange;
use session::Session;

use crate::error::{Error, chain};
use crate::halt::Halt;

/// A duty of a kit, with the function that checks it.
struct Check {
    what: &'static str,
    /// Makes the check. An error says what was expected and what came instead.
    tried: fn(&mut Session) -> Result<(), Halt>,
}

const CHECKS: &[Check] = &[
    Check { what: "a hello is answered", tried: hellos::answered },
    Check { what: "a hello has name, runtime, cores, and a pid of its own", tried: hellos::whole },
    Check { what: "hellos may come between jobs", tried: hellos::between_jobs },
    Check { what: "job numbers are given back, up to 2^53 - 1", tried: answers::numbers },
    Check { what: "echo gives back every shape of JSON", tried: shapes::every_shape },
    Check { what: "keys and spaces of a request are free", tried: requests::keys_and_spaces },
    Check { what: "unknown keys of a request are ignored", tried: requests::unknown_keys },
    Check { what: "a request may come in two pieces", tried: requests::in_two_pieces },
    Check { what: "two requests that come together are both answered", tried: requests::two_at_once },
    Check { what: "1 MiB is given back", tried: shapes::one_mebibyte },
    Check { what: "a line of almost 16 MiB is given back", tried: shapes::almost_the_limit },
    Check {
        what: "the time is that of the job, not of reading its request",
        tried: shapes::time_without_reading,
    },
    Check { what: "an exception is an error answer, and the worker goes on", tried: answers::error },
    Check { what: "a sleep takes its time on the worker's clock", tried: answers::sleep },
    Check { what: "an empty job takes next to no time on the worker's clock", tried: answers::empty },
    Check { what: "events have time, thread, kind and id", tried: answers::events },
    Check { what: "there are no events unless they are asked for", tried: answers::no_events },
    Check { what: "metrics come with the answer", tried: answers::metrics },
    Check { what: "it exits with 0 at the end of its input", tried: endings::exits },
    Check { what: "it exits with 0 when its input ends within a line", tried: endings::within_a_line },
    Check { what: "a job in flight is answered before it exits", tried: endings::in_flight },
    Check { what: "it exits with 2 at a line that is not JSON", tried: endings::no_json },
    Check { what: "it exits with 2 at a line that is no request", tried: endings::no_request },
];

/// The outcome of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KitFinding {
    /// The duty of a kit, as a sentence.
    pub what: &'static str,
    /// The expected and the actual behaviour, in words. None if the kit does its duty.
    pub failure: Option<String>,
}

/// The outcomes of all checks.
#[derive(Clone, Debug)]
pub struct KitTested {
    /// The number of checks that the worker passed.
    pub right: usize,
    /// The number of checks that failed.
    pub failing: usize,
    /// The times of 1,000 empty jobs; `None` if one of them failed, or if the first check did and nothing more was
    /// tried.
    pub empty: Option<Exchange>,
    /// The times of 1,000 hellos. None if one of them failed, or if the first check did and nothing more was tried.
    pub hello: Option<Exchange>,
}

/// Starts the command as a trial would start it, and makes every check in turn. The command has to run a worker that
/// does what `params.do` says. `found` is called with each outcome as soon as it is known. If the worker does not
/// answer its first hello, no other check is made. From then on the calling thread stays on the engine's CPUs.
///
/// # Errors
///
/// A command that cannot be started, or that ends without a right answer to its first hello; CPUs or a folder that
/// cannot be had; and an interruption.
pub fn kit_test(
    command: &str,
    dir: &Path,
    cores: &Cores,
    stop: &AtomicBool,
    found: &mut dyn FnMut(&KitFinding),
) -> Result<KitTested, Halt> {
    let folder = ready(cores)?;
    let mut session = Session::new(command, dir, cores, folder.path(), stop);
    tried(&mut session, found)
}

/// Makes a folder for the worker's files and its log, and moves this thread to the engine's CPUs.
fn ready(cores: &Cores) -> Result<tempfile::TempDir, Error> {
    pin_thread(&cores.engine)?;
    kumite_process::become_subreaper()
        .map_err(Error::step("cannot adopt processes that lose their parent"))?;
    tempfile::tempdir().map_err(Error::step("cannot make a folder for the worker's files"))
}

fn tried(session: &mut Session, found: &mut dyn FnMut(&KitFinding)) -> Result<KitTested, Halt> {
    let mut tested = KitTested { right: 0, failing: 0, empty: None, hello: None };
    for check in CHECKS {
        let failure = match (check.tried)(session) {
            Ok(()) => {
                tested.right += 1;
                None
            }
            Err(Halt::Failed(why)) if tested.right > 0 || !session.has_ended() => {
                tested.failing += 1;
                session.give_up();
                Some(chain(&why))
            }
            Err(halt) => return Err(halt),
        };
        found(&KitFinding { what: check.what, failure });
        if tested.right == 0 {
            return Ok(tested);
        }
    }
    tested.hello = exchanges::hellos(session)?;
    tested.empty = exchanges::empty_jobs(session)?;
    Ok(tested)
}
