//! The workload of kind function: how a function is called in a trial.

use std::path::Path;
use std::time::Duration;

use kumite_function::{Billing, Cpu, Function, Routing, unfit_variable};
use kumite_host::{AskedCores, WantedCores};
use kumite_record::{AxisValue, Within};
use serde_json::Value;

use super::params::PARAMS;
use crate::contender::Ready;
use crate::driver::Workload;
use crate::error::Error;
use crate::parameter::{Parameters, Params, all_as_json, as_environment};
use crate::unfit::Unfit;

/// The name of the axis within each trial: the calls.
const CALL: &str = "call";
/// The most calls of a trial that are values of the axis. Each of them is a point of its own for estimates and
/// verdicts.
const MOST_VALUES: usize = 100;
/// The workload of a trial: which function is called, how often, and on what kind of host.
#[derive(Clone, Debug)]
pub struct FunctionWorkload {
    /// The number of calls in a trial; 1 by default.
    pub calls: usize,
    /// The memory of an instance, in MB; 128 by default.
    pub memory_mb: u32,
    /// The CPU share of an instance; by default the share that comes with its memory.
    pub cpu: Cpu,
    /// The longest time that a call may take; 60 s by default.
    pub timeout: Duration,
    /// The longest time that an instance may take to start; 10 s by default.
    pub init_limit: Duration,
    /// The largest number of instances at a time; 1 by default.
    pub max_instances: u32,
    /// The choice among instances for a call; by default the free one that was used last.
    pub routing: Routing,
    /// The name that the runtime client is to call. None for the contender's name, which is the default.
    pub handler: Option<String>,
    /// The name of a JSON file in the experiment's folder, which is the event of each call. None if the event is made
    /// of all parameters, which is the default.
    pub payload: Option<String>,
    /// The number of calls that are offered in a second, whether or not earlier calls are over. `None`, the default, to
    /// make one call after another.
    pub rate_per_s: Option<f64>,
    /// The number of CPUs that the instances are given; 1 by default.
    pub cores: AskedCores,
    /// All parameters of the point, from which the event is made.
    pub parameters: Parameters,
}

impl FunctionWorkload {
    /// Reads the workload from these parameters. An error if one has a wrong value, is called `call`, or would be an
    /// environment variable that a function cannot set.
    pub fn new(parameters: &Parameters) -> Result<FunctionWorkload, Unfit> {
        if parameters.contains_key(CALL) {
            return Err(Unfit::new(format!(
                "{CALL} is the axis within each trial: give the parameter another name"
            )));
        }
        for name in parameters.keys() {
            let variable = name.to_uppercase();
            if let Some(why) = unfit_variable(&variable) {
                return Err(Unfit::new(format!("{name} would be the variable {variable}, which is {why}")));
            }
        }
        let take = Params { given: parameters, declared: PARAMS };
        let some = |name| Ok::<_, Unfit>(Some(take.text(name)?.to_owned()).filter(|text| !text.is_empty()));
        Ok(FunctionWorkload {
            calls: take.count("calls")?,
            memory_mb: take.count("memory_mb")? as u32,
            cpu: if take.word("cpu")? == 0 { Cpu::ByMemory } else { Cpu::Unlimited },
            timeout: take.time("timeout_s")?,
            init_limit: take.time("init_limit_s")?,
            max_instances: take.count("max_instances")? as u32,
            // The seed is another one in each block, so it is set when a trial begins.
            routing: if take.word("routing")? == 0 { Routing::WarmFirst } else { Routing::Spread(0) },
            handler: some("handler")?,
            payload: some("payload")?,
            rate_per_s: Some(take.number("rate_per_s")?).filter(|rate| *rate > 0.0),
            cores: take.cores("cores")?,
            parameters: parameters.clone(),
        })
    }

    /// The same workload, with the contender's own memory in place of `memory_mb` if the contender declares any.
    pub(crate) fn for_contender(mut self, contender: &Ready) -> FunctionWorkload {
        if let Some(memory_mb) = contender.memory_mb {
            self.memory_mb = memory_mb;
            self.parameters.insert("memory_mb".to_owned(), AxisValue::Int(memory_mb.into()));
        }
        self
    }

    /// All parameters as JSON, in the form that the check of answers takes.
    pub(crate) fn params(&self) -> Value {
        all_as_json(&self.parameters)
    }

    /// The event of each call. An error if the payload's file cannot be read or is not JSON.
    pub(crate) fn event(&self, folder: &Path) -> Result<Vec<u8>, Error> {
        let Some(file) = &self.payload else { return Ok(self.params().to_string().into_bytes()) };
        let path = folder.join(file);
        let step = || format!("the payload {}", path.display());
        let event = std::fs::read(&path).map_err(Error::step(step()))?;
        let no_json = || format!("{}: it is no JSON", step());
        let text = std::str::from_utf8(&event).map_err(Error::step(no_json()))?;
        serde_json::from_str::<serde::de::IgnoredAny>(text).map_err(Error::step(no_json()))?;
        Ok(event)
    }

    /// The contender in the form that the function host takes. `beside` has the variables that lead it to the
    /// services.
    pub(crate) fn function(
        &self,
        contender: &Ready,
        beside: Vec<(String, String)>,
        cores: Vec<usize>,
        seed: u64,
    ) -> Function {
        let mut env: Vec<_> = as_environment(&self.parameters).collect();
        env.extend(contender.env.clone());
        env.extend(beside);
        Function {
            name: contender.name.clone(),
            command: contender.run.clone(),
            dir: contender.folder.clone(),
            env,
            handler: self.handler.clone().unwrap_or_else(|| contender.name.clone()),
            memory_mb: self.memory_mb,
            cpu: self.cpu,
            timeout: self.timeout,
            init_limit: self.init_limit,
            max_instances: self.max_instances,
            routing: match self.routing {
                Routing::Spread(_) => Routing::Spread(seed),
                Routing::WarmFirst => Routing::WarmFirst,
            },
            billing: Billing::Y2025,
            cores,
        }
    }
}

impl Workload for FunctionWorkload {
    fn cores(&self) -> WantedCores {
        WantedCores { param: "cores", asked: self.cores, may_share: true }
    }

    fn within(&self) -> Option<Within> {
        let values = (1..=self.calls.min(MOST_VALUES)).map(at).collect();
        Some(Within { axis: CALL.to_owned(), values })
    }

    fn check_folder(&self, folder: &Path) -> Result<(), (&'static str, Error)> {
        self.event(folder).map(|_| ()).map_err(|why| ("payload", why))
    }
}

/// The value of the axis for the call at this position, which is 1 for position 0. None from position [`MOST_VALUES`]
/// on.
pub(super) fn call_value(nth: usize) -> Option<AxisValue> {
    (nth < MOST_VALUES).then(|| at(nth + 1))
}

fn at(call: usize) -> AxisValue {
    AxisValue::Int(call as i64)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;
    use crate::error::chain;

    fn text(text: &str) -> AxisValue {
        AxisValue::Text(text.to_owned())
    }

    fn workload(given: &[(&str, AxisValue)]) -> Result<FunctionWorkload, Unfit> {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        FunctionWorkload::new(&given.collect())
    }

    fn contender() -> Ready {
        Ready {
            name: "java".into(),
            folder: PathBuf::from("here"),
            run: "java -jar x.jar".into(),
            env: vec![("PATH".into(), "/jdk/bin".into())],
            answers: None,
            reads: None,
            deps: None,
            origin: None,
            memory_mb: None,
            twin: None,
            drawn: None,
        }
    }

    #[test]
    fn a_function_is_configured_by_its_environment() {
        let given = [
            ("n", AxisValue::Int(27)),
            ("handler", text("pid")),
            ("path", text("nowhere")),
            ("routing", text("spread")),
            ("cpu", text("core")),
        ];
        let workload = workload(&given).unwrap();
        let beside = vec![("DB_URL".to_owned(), "http://127.0.0.1:1".to_owned())];
        let function = workload.function(&contender(), beside, vec![1], 7);
        let last = |name: &str| function.env.iter().rfind(|(other, _)| other == name).unwrap().1.clone();
        assert_eq!((last("N"), last("HANDLER"), last("CPU")), ("27".into(), "pid".into(), "core".into()));
        assert_eq!((last("PATH"), last("DB_URL")), ("/jdk/bin".into(), "http://127.0.0.1:1".into()));
        assert_eq!((function.name.as_str(), function.handler.as_str()), ("java", "pid"));
        assert_eq!((function.cpu, function.routing), (Cpu::Unlimited, Routing::Spread(7)));
        assert_eq!((function.memory_mb, function.cores), (128, vec![1]));
    }

    #[test]
    fn a_contender_may_have_its_own_memory() {
        let more = Ready { memory_mb: Some(192), ..contender() };
        let workload = workload(&[("memory_mb", AxisValue::Int(256))]).unwrap();
        let function = |contender: &Ready| {
            workload.clone().for_contender(contender).function(contender, Vec::new(), vec![], 0)
        };
        assert_eq!(function(&contender()).memory_mb, 256);
        let own = function(&more);
        assert_eq!((own.memory_mb, own.handler.as_str()), (192, "java"));
        assert!(own.env.contains(&("MEMORY_MB".into(), "192".into())), "{:?}", own.env);
        assert_eq!(workload.for_contender(&more).params(), json!({ "memory_mb": 192 }));
    }

    #[test]
    fn the_event_is_all_parameters_or_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let of = |given: &[(&str, AxisValue)]| {
            workload(given).unwrap().event(folder.path()).map(|event| String::from_utf8(event).unwrap())
        };
        let given = [("n", AxisValue::Int(27)), ("sleep_s", AxisValue::Float(0.5))];
        assert_eq!(of(&given).unwrap(), r#"{"n":27,"sleep_s":0.5}"#);
        let from_file = [("n", AxisValue::Int(27)), ("payload", text("event.json"))];
        let wrong = || {
            let why = chain(&of(&from_file).unwrap_err());
            why.replace(folder.path().to_str().unwrap(), "FOLDER")
        };
        assert_eq!(wrong(), "the payload FOLDER/event.json: No such file or directory (os error 2)");
        std::fs::write(folder.path().join("event.json"), "{").unwrap();
        assert_eq!(
            wrong(),
            "the payload FOLDER/event.json: it is no JSON: EOF while parsing an object at line 1 column 1"
        );
        std::fs::write(folder.path().join("event.json"), b"\"\xff\"").unwrap();
        assert_eq!(
            wrong(),
            "the payload FOLDER/event.json: it is no JSON: invalid utf-8 sequence of 1 bytes from index 1"
        );
        std::fs::write(folder.path().join("event.json"), "[ 1 ]\n").unwrap();
        assert_eq!(of(&from_file).unwrap(), "[ 1 ]\n");
    }

    #[test]
    fn calls_are_an_axis_as_far_as_they_are_told_apart() {
        let values = |calls| workload(&[("calls", AxisValue::Int(calls))]).unwrap().within().unwrap().values;
        assert_eq!(values(1), [AxisValue::Int(1)], "`at call=1` can always be said");
        assert_eq!(values(3), [1, 2, 3].map(AxisValue::Int));
        assert_eq!(values(10_000).len(), MOST_VALUES);
        assert_eq!((call_value(0), call_value(99), call_value(100)), (Some(at(1)), Some(at(100)), None));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let cases = [
            ("calls", AxisValue::Int(0), "calls is a whole number from 1 to 10000, not 0"),
            ("call", AxisValue::Int(1), "call is the axis within each trial"),
            (
                "aws_region",
                text("x"),
                "aws_region would be the variable AWS_REGION, which is reserved for the host",
            ),
            ("memory_mb", AxisValue::Int(64), "memory_mb is a whole number from 128 to 10240, not 64"),
            ("cpu", text("half"), "cpu is \"by-memory\" or \"core\", not \"half\""),
            ("routing", text("random"), "routing is \"warm-first\" or \"spread\", not \"random\""),
            ("timeout_s", AxisValue::Int(901), "timeout_s is a number from 0.1 to 900, not 901"),
            ("rate_per_s", AxisValue::Int(-1), "rate_per_s is a number from 0 to 10000, not -1"),
            ("handler", AxisValue::Int(1), "handler is text, not 1"),
        ];
        for (name, value, expected) in cases {
            let found = workload(&[(name, value)]).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }
}
