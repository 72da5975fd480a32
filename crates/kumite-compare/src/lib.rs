//! Comparing without an experiment: commands or servers with each other (`kumite compare`), a server with an
//! objective (`kumite load --find-rate` and `--slo`), and kumite with itself (`kumite selfcheck`).

mod compare;
mod rate;
mod selfcheck;

pub use compare::{
    Allowed, At, Bench, CompareError, Counts, Difference, Earlier, EnvError, GATE_ALPHA, GATE_MARGIN, GateOn,
    GateRules, ImportError, Imported, Margin, MarginError, NoExitCodes, Nth, Parameter, ParameterError,
    Place, Progressed, RecordedGate, Rules, Server, Setting, Templates, Twice, UsageError, compare,
    compare_servers, gate_recorded, import, program, typed,
};
pub use kumite_process::{HELPER, Output, Shell, Stdin, runner_main};
pub use kumite_rate::{RateError, RateRules, Slo, SloError, SloRules, fewest_loads, is_of_sessions};
pub use rate::{find_rate, meets};
pub use selfcheck::{SelfChecking, selfcheck, spin};
