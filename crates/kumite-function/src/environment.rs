//! The environment of an instance: what AWS documents for runtimes, and the variables of the function.

use crate::Function;

/// Variables of the host's own environment that an instance gets: those of places (programs, libraries, certificates,
/// temporary files), of its user, and of its language and time zone. It gets no others, since they may be
/// credentials.
pub(crate) const KEPT: [&str; 10] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "JAVA_HOME",
    "LD_LIBRARY_PATH",
    "SSL_CERT_FILE",
];

/// The variables that AWS documents as reserved: no function can set them.
const RESERVED: [&str; 21] = [
    "_HANDLER",
    "_X_AMZN_TRACE_ID",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "AWS_EXECUTION_ENV",
    "AWS_LAMBDA_FUNCTION_NAME",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_LAMBDA_FUNCTION_VERSION",
    "AWS_LAMBDA_INITIALIZATION_TYPE",
    "AWS_LAMBDA_LOG_GROUP_NAME",
    "AWS_LAMBDA_LOG_STREAM_NAME",
    "AWS_ACCESS_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_LAMBDA_RUNTIME_API",
    "LAMBDA_TASK_ROOT",
    "LAMBDA_RUNTIME_DIR",
    "AWS_LAMBDA_MAX_CONCURRENCY",
    "AWS_LAMBDA_METADATA_API",
    "AWS_LAMBDA_METADATA_TOKEN",
];

/// The reason why a function cannot set this variable; none if it can.
pub fn unfit_variable(name: &str) -> Option<&'static str> {
    if RESERVED.contains(&name) {
        return Some("reserved for the host, as on Lambda: leave it out, or set it in the command");
    }
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    (!is_name).then_some("no name that a variable can have")
}

/// The variables of instance `number`, whose Runtime API listens on `address`: those of the function, then those of
/// the host.
pub(crate) fn environment(
    function: &Function,
    region: &str,
    address: &str,
    number: u32,
) -> Vec<(String, String)> {
    let mut env = function.env.clone();
    env.extend(own(function, region, address, number).map(|(name, value)| (name.to_owned(), value)));
    env
}

/// The variables that the host sets. Of the reserved ones, two groups are left out: those that AWS leaves undefined
/// for custom runtimes (`AWS_EXECUTION_ENV`; and `_X_AMZN_TRACE_ID`, since each event has its own), and those of
/// instances that serve several calls at once or can ask for metadata.
fn own(function: &Function, region: &str, address: &str, number: u32) -> [(&'static str, String); 16] {
    let folder = function.dir.display().to_string();
    let dummy = || "dummy".to_owned();
    [
        ("AWS_LAMBDA_RUNTIME_API", address.to_owned()),
        ("_HANDLER", function.handler.clone()),
        ("AWS_LAMBDA_FUNCTION_NAME", function.name.clone()),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST".to_owned()),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", function.memory_mb.to_string()),
        ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand".to_owned()),
        ("AWS_LAMBDA_LOG_GROUP_NAME", format!("/aws/lambda/{}", function.name)),
        ("AWS_LAMBDA_LOG_STREAM_NAME", format!("[$LATEST]{}-{number}", function.name)),
        ("AWS_REGION", region.to_owned()),
        ("AWS_DEFAULT_REGION", region.to_owned()),
        ("AWS_ACCESS_KEY", dummy()),
        ("AWS_ACCESS_KEY_ID", dummy()),
        ("AWS_SECRET_ACCESS_KEY", dummy()),
        ("AWS_SESSION_TOKEN", dummy()),
        ("LAMBDA_TASK_ROOT", folder.clone()),
        ("LAMBDA_RUNTIME_DIR", folder),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use super::*;
    use crate::{Billing, Cpu, Routing};

    fn function() -> Function {
        Function {
            name: "f".to_owned(),
            command: "true".to_owned(),
            dir: PathBuf::from("/f"),
            env: Vec::new(),
            handler: "h".to_owned(),
            memory_mb: 128,
            cpu: Cpu::Unlimited,
            timeout: Duration::from_secs(3),
            init_limit: Duration::from_secs(10),
            max_instances: 1,
            routing: Routing::WarmFirst,
            billing: Billing::Y2025,
            cores: Vec::new(),
        }
    }

    #[test]
    fn of_what_is_reserved_only_that_is_missing_which_aws_does_not_define_either() {
        let set: Vec<&str> =
            own(&function(), "us-east-1", "127.0.0.1:1", 1).iter().map(|(name, _)| *name).collect();
        assert!(set.iter().all(|name| RESERVED.contains(name)), "{set:?}");
        let missing: Vec<&str> = RESERVED.into_iter().filter(|name| !set.contains(name)).collect();
        assert_eq!(
            missing,
            [
                "_X_AMZN_TRACE_ID",
                "AWS_EXECUTION_ENV",
                "AWS_LAMBDA_MAX_CONCURRENCY",
                "AWS_LAMBDA_METADATA_API",
                "AWS_LAMBDA_METADATA_TOKEN"
            ]
        );
    }

    #[test]
    fn what_is_reserved_or_no_name_is_no_variable() {
        for name in ["_HANDLER", "AWS_SESSION_TOKEN", "", "A=B", "A\0"] {
            assert!(unfit_variable(name).is_some(), "{name:?}");
        }
        for name in ["A", "HANDLER", "aws_region", "AWS_PROFILE", "PATH", "TZ"] {
            assert_eq!(unfit_variable(name), None, "{name}");
        }
    }
}
