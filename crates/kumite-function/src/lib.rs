//! A function host. Functions run on AWS's own runtime clients, through the Runtime API (2018-06-01) that AWS
//! documents. Any of AWS's SDKs can call them, through the Invoke API.

mod client;
mod ending;
mod environment;
mod function;
mod function_state;
mod host;
mod instance;
mod invocation;
mod invoke_api;
mod invoke_error;
mod lines;
mod refused;
mod runtime_api;
mod runtime_protocol;
mod slots;
mod turns;

pub use client::{ClientError, ExchangeError, Invocations, Refusal, Reply, invoke_at};
pub use ending::{Exit, KillReason};
pub use environment::unfit_variable;
pub use function::{Billing, Cpu, Function, MB_PER_CORE, Routing};
pub use host::{Host, HostError, MissingRights};
pub use instance::InstanceError;
pub use invocation::{FunctionError, InstanceEvent, Invocation, Lifecycle};
pub use refused::{ContentError, ParameterError, Refused};
