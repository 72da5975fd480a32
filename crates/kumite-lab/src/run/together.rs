//! The test whether trials belong together: those of a resumed run, of shards that are merged, or of sittings that
//! are joined.
//!
//! Trials belong together if everything that their figures depend on is the same: the version of measuring, the
//! profile, the part of the experiment that trials and verdicts depend on, and the files of the contenders that were
//! measured. Versions of kumite, tools and services may differ, and are named.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{
    Contender, ContenderStatus, FileDigests, Labels, Machine, OtherVersion, Part, RoleElsewhere, Run,
    Service, Versioned,
};

use crate::spec::{Asked, Experiment};
use crate::toml_source::SpecError;

/// The number of characters from which on a differing value is not shown.
const SHOWN_CHARS: usize = 60;

/// A property that two runs must have in common and do not, with both values if they are short.
#[derive(Debug, PartialEq)]
pub struct Difference {
    /// The name of the property, as a subject: "the profile".
    pub what: String,
    /// The value of each run. `None` if a value is too long to be shown, and for the source of a contender.
    pub values: Option<[String; 2]>,
}

impl Difference {
    pub(super) fn new(what: &str, values: [String; 2]) -> Difference {
        let is_short = values.iter().all(|value| value.chars().count() < SHOWN_CHARS);
        Difference { what: what.to_owned(), values: is_short.then_some(values) }
    }

    fn between(what: &str, values: [impl ToString; 2]) -> Option<Difference> {
        let values = values.map(|value| value.to_string());
        (values[0] != values[1]).then(|| Difference::new(what, values))
    }
}

/// The first difference of two runs in the version of measuring, the experiment's name, the profile, the part of the
/// experiment's file that trials depend on, the texts of labels, or the files that requests send. Contenders are not
/// compared. `None` if there is no such difference. An error if the experiment's file that one of them keeps cannot be
/// read.
pub fn differ_in_trials(a: &Run, b: &Run) -> Result<Option<Difference>, SpecError> {
    let measures = |run: &Run| run.measures.map_or("none".to_owned(), |measures| measures.to_string());
    let of_one = Difference::between("how kumite measures (MEASURES)", [measures(a), measures(b)])
        .or_else(|| Difference::between("the experiment", [&a.experiment, &b.experiment]))
        .or_else(|| Difference::between("the profile", [&a.profile, &b.profile]));
    if of_one.is_some() {
        return Ok(of_one);
    }
    let differing = Asked::of_run(a)?.difference(&Asked::of_run(b)?);
    let differing =
        differing.map(|(key, values)| Difference::new(&format!("experiment.toml, {key}"), values));
    let differing = differing.or_else(|| differ_in_labels(&a.labels, &b.labels));
    Ok(differing.or_else(|| differ_in_files(&a.files, &b.files)))
}

/// The first difference of the texts that labels stand for: one may come from a file. None if there is none.
fn differ_in_labels(a: &Labels, b: &Labels) -> Option<Difference> {
    let all = |labels: &Labels| -> BTreeSet<(String, String)> {
        let of_axis = |(axis, texts): (&String, &BTreeMap<String, String>)| {
            texts.keys().map(|label| (axis.clone(), label.clone())).collect::<Vec<_>>()
        };
        labels.iter().flat_map(of_axis).collect()
    };
    let text = |labels: &Labels, axis: &str, label: &str| {
        labels.get(axis).and_then(|texts| texts.get(label)).cloned().unwrap_or_default()
    };
    all(a).union(&all(b)).find_map(|(axis, label)| {
        Difference::between(&format!("the text of {axis}={label}"), [a, b].map(|of| text(of, axis, label)))
    })
}

/// The first file that requests send whose content differs. None if there is none.
fn differ_in_files(a: &FileDigests, b: &FileDigests) -> Option<Difference> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let name = names.into_iter().find(|name| a.get(*name) != b.get(*name))?;
    Some(Difference { what: format!("the content of {name}"), values: None })
}

/// A machine in words, as far as figures depend on it.
pub(super) fn described(machine: &Machine) -> String {
    let cores = &machine.cores;
    format!(
        "{}, {}, contender on CPUs {:?}, engine on {:?}",
        machine.cpu, machine.kernel, cores.contender, cores.engine
    )
}

/// The difference of two machines in their CPU, their kernel, or the CPUs of contender and engine. `None` if there is
/// no such difference. A run on both machines would compare them instead of contenders.
pub fn differ_in_machines(a: &Machine, b: &Machine) -> Option<Difference> {
    let values = [a, b].map(described);
    (values[0] != values[1]).then(|| Difference { what: "the machine".to_owned(), values: Some(values) })
}

/// The difference of two runs in the names or the machines of the nodes that have roles. `None` if there is no
/// difference.
pub fn differ_in_roles(a: &[RoleElsewhere], b: &[RoleElsewhere]) -> Option<Difference> {
    let named = |roles: &[RoleElsewhere]| match roles {
        [] => "none".to_owned(),
        roles => {
            roles.iter().map(|of| format!("{} on {}", of.role, of.node.name)).collect::<Vec<_>>().join(", ")
        }
    };
    let values = [a, b].map(named);
    if values[0] != values[1] {
        let what = "what --role names (roles of other nodes)".to_owned();
        return Some(Difference { what, values: Some(values) });
    }
    a.iter().zip(b).find_map(|(a, b)| differ_in_machines(&a.node.machine, &b.node.machine))
}

/// True if a run asks what this experiment asks now, and has the present version of measuring. Contenders are not
/// compared. An error if the experiment's file that the run keeps cannot be read.
pub fn is_of(run: &Run, experiment: &Experiment) -> Result<bool, SpecError> {
    Ok(differ_in_trials(run, &super::begin(experiment, &Default::default()))?.is_none())
}

/// The first difference of two runs in the contenders that were measured, or in the source of one. Versions of tools
/// may differ. `None` if there is no such difference.
pub fn differ_in_contenders(a: &[Contender], b: &[Contender]) -> Option<Difference> {
    let names: BTreeSet<&str> = measured(a).into_keys().chain(measured(b).into_keys()).collect();
    names.into_iter().find_map(|name| {
        let [of_a, of_b] = [a, b].map(|all| all.iter().find(|of| of.name == name));
        let took_part = |of: Option<&Contender>| match of {
            None => "there is none".to_owned(),
            Some(Contender { reason: Some(why), status, .. }) => format!("{}: {why}", status.as_str()),
            Some(of) => of.status.as_str().to_owned(),
        };
        let source = |of: Option<&Contender>| Some(of?.digests.as_ref()?.source.clone());
        let is_measured = |of: Option<&Contender>| of.is_some_and(was_measured);
        match is_measured(of_a) == is_measured(of_b) {
            false => Difference::between(&format!("whether {name} took part"), [of_a, of_b].map(took_part)),
            true if source(of_a) == source(of_b) => None,
            true => Some(Difference {
                what: format!("{name}'s source (its files or build command)"),
                values: None,
            }),
        }
    })
}

/// The versions that differ between the first part of a run and another part, `here`: of kumite, of contenders' tools,
/// and of services. Contenders and services that only one part has are left out.
pub fn other_versions(first: Made, here: Made, part: &Part) -> Vec<OtherVersion> {
    let other = |of: Versioned, first: Option<&str>, here: Option<&str>| {
        let [first, here] = [first, here].map(|version| version.map(str::to_owned));
        OtherVersion { of, first, here, part: part.clone() }
    };
    let mut others = Vec::new();
    if first.kumite != here.kumite {
        others.push(other(Versioned::Kumite, Some(first.kumite), Some(here.kumite)));
    }
    let tools = |of: &Contender| (of.version.clone(), of.digests.as_ref().map(|of| of.tools.clone()));
    let of_here = measured(here.contenders);
    for (name, a) in measured(first.contenders) {
        let Some(b) = of_here.get(name).filter(|b| tools(b) != tools(a)) else { continue };
        others.push(other(
            Versioned::Tools { contender: name.to_owned() },
            a.version.as_deref(),
            b.version.as_deref(),
        ));
    }
    for a in first.services {
        let b = here.services.iter().find(|b| b.name == a.name);
        let Some(b) = b.filter(|b| b.version != a.version) else { continue };
        others.push(other(Versioned::Service { name: a.name.clone() }, Some(&a.version), Some(&b.version)));
    }
    others
}

/// The kumite, the contenders and the services that made a part of a run, each with its version.
#[derive(Clone, Copy)]
pub struct Made<'a> {
    /// The version of kumite that made the part.
    pub kumite: &'a str,
    /// The contenders, with the versions of their tools.
    pub contenders: &'a [Contender],
    /// The services that ran beside contenders.
    pub services: &'a [Service],
}

fn measured(contenders: &[Contender]) -> BTreeMap<&str, &Contender> {
    contenders.iter().filter(|of| was_measured(of)).map(|of| (of.name.as_str(), of)).collect()
}

fn was_measured(contender: &Contender) -> bool {
    contender.status == ContenderStatus::Ran
}

#[cfg(test)]
mod tests {
    use kumite_record::Digests;

    use super::*;

    fn contender(name: &str, source: &str, version: &str, status: ContenderStatus) -> Contender {
        Contender {
            name: name.to_owned(),
            model: "threads".to_owned(),
            version: Some(version.to_owned()),
            digests: Some(Digests { source: source.to_owned(), tools: version.to_owned() }),
            status,
            reason: None,
        }
    }

    fn run() -> Run {
        let spec = "question = \"a\"\nblocks = 6\n";
        Run {
            measures: Some(1),
            profile: "quick".into(),
            spec: spec.into(),
            kumite: "1".into(),
            ..Run::default()
        }
    }

    fn differing(change: impl Fn(&mut Run)) -> Option<(String, [String; 2])> {
        let mut other = run();
        change(&mut other);
        differ_in_trials(&run(), &other).unwrap().map(|of| (of.what, of.values.unwrap_or_default()))
    }

    #[test]
    fn runs_of_two_kumites_belong_together_and_of_two_ways_to_measure_do_not() {
        assert_eq!(differing(|run| run.kumite = "2".into()), None);
        assert_eq!(differing(|run| run.spec = "question = \"b\"\n# words\nblocks = 6".into()), None);
        let of = |what: &str, a: &str, b: &str| Some((what.to_owned(), [a.to_owned(), b.to_owned()]));
        let measures = "how kumite measures (MEASURES)";
        assert_eq!(differing(|run| run.measures = Some(2)), of(measures, "1", "2"));
        assert_eq!(differing(|run| run.measures = None), of(measures, "1", "none"));
        assert_eq!(differing(|run| run.profile = "full".into()), of("the profile", "quick", "full"));
        assert_eq!(differing(|run| run.spec = "blocks = 7".into()), of("experiment.toml, blocks", "6", "7"));
        let with_file = |run: &mut Run| drop(run.files.insert("users.csv".into(), "ab".into()));
        assert_eq!(differing(with_file), of("the content of users.csv", "", ""));
    }

    #[test]
    fn what_was_not_measured_may_be_anything_and_what_was_has_its_files() {
        use ContenderStatus::{Ran, Skipped};
        let [a, b] = [contender("a", "1", "v1", Ran), contender("b", "1", "v1", Ran)];
        let skipped = |source: &str| contender("c", source, "v1", Skipped);
        let all = [a.clone(), b.clone(), skipped("1")];
        assert_eq!(differ_in_contenders(&all, &[b.clone(), a.clone()]), None);
        assert_eq!(differ_in_contenders(&all, &[a.clone(), b.clone(), skipped("2")]), None);
        assert_eq!(differ_in_contenders(&all, &[a.clone(), contender("b", "1", "v2", Ran)]), None);
        let what = |other: &[Contender]| differ_in_contenders(&all, other).unwrap();
        assert_eq!(
            what(&[a.clone(), contender("b", "2", "v1", Ran)]).what,
            "b's source (its files or build command)"
        );
        let took_part = |a: &str, b: &str| Difference {
            what: "whether b took part".to_owned(),
            values: Some([a.to_owned(), b.to_owned()]),
        };
        assert_eq!(what(&[a.clone(), contender("b", "1", "v1", Skipped)]), took_part("ran", "skipped"));
        assert_eq!(what(&[a]), took_part("ran", "there is none"));
    }

    #[test]
    fn another_version_is_named_with_that_of_the_first_part() {
        let contenders = |version: &str| [contender("a", "1", version, ContenderStatus::Ran)];
        let services = |version: &str| {
            [Service { name: "db".into(), kind: "postgresql".into(), version: version.to_owned() }]
        };
        let (of_first, beside_first) = (contenders("v1"), services("15"));
        let (of_second, beside_second) = (contenders("v2"), services("16"));
        let first = Made { kumite: "k1", contenders: &of_first, services: &beside_first };
        let second = Made { kumite: "k2", contenders: &of_second, services: &beside_second };
        assert_eq!(other_versions(first, first, &Part::Shard { nth: 2 }), []);
        let told: Vec<_> = other_versions(first, second, &Part::Shard { nth: 2 })
            .into_iter()
            .map(|other| (other.of, other.first.unwrap(), other.here.unwrap()))
            .collect();
        let of = |of: Versioned, first: &str, here: &str| (of, first.to_owned(), here.to_owned());
        let expected = [
            of(Versioned::Kumite, "k1", "k2"),
            of(Versioned::Tools { contender: "a".into() }, "v1", "v2"),
            of(Versioned::Service { name: "db".into() }, "15", "16"),
        ];
        assert_eq!(told, expected);
    }
}
