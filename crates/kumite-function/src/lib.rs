//! A function host: functions run on AWS's own runtime clients, through the Runtime API (2018-06-01) that AWS documents, and
//! are called through the Invoke API by any of AWS's SDKs.

mod function;
mod host;
mod invocation;

pub use function::{Billing, Cpu, Function, MB_PER_CORE, Routing};
pub use host::{Host, HostError, Wanting};
pub use invocation::{FunctionError, Happening, Invocation, Refused, What};
