//! From a changed file to what it makes necessary.

/// Something that a changed file makes necessary, besides the steps that are always made.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// Every contender of this experiment is right, and formatted.
    Experiment(String),
    /// The contender in this folder below `contenders/` of the experiment is right, and those that use its files; the
    /// experiment is formatted.
    Contender(String, String),
    /// This kit conforms and is formatted, and one experiment works with it.
    Kit(String),
    /// An experiment of this kind runs.
    Kind(&'static str),
    /// One of each kind does.
    EveryKind,
    /// An experiment with this kind of service is right.
    Service(&'static str),
    /// A contender in each language is right.
    EveryLanguage,
    /// Contenders and kits are formatted.
    EveryFormat,
    /// Kits conform.
    EveryKit,
    /// The macro player compiles for Windows.
    Windows,
    /// The macro player's page works in a browser.
    Page,
    /// The binary that users get compiles.
    Release,
    /// The packages can be installed and used.
    Install,
    /// The GitHub action does what it promises.
    Action,
    /// The recipes of docs/ci.md work.
    Recipes,
    /// Small inputs are taken as they should be.
    Cases,
    /// The function host serves AWS's own clients.
    Clients,
    /// Nodes that share a run are begun, and fail in every way.
    Nodes,
    /// The manifest that `kumite manifest` prints works on a Kubernetes.
    Kubernetes,
}

/// The needs of files whose path begins like this; the longest beginning that fits counts. Where none fits, nobody has
/// thought of the file, and one experiment of each kind is run.
const RULES: [(&str, &[Need]); 63] = [
    (".ci/base", &[]),
    (".ci/run", &[]),
    (".github/", &[]),
    (".github/actions/", &[Need::Action]),
    ("bench/", &[]),
    ("crates/kumite-disk/", &[Need::Service("files")]),
    ("crates/kumite-function/", &[Need::Kind("function")]),
    ("crates/kumite-lab/src/contender/", &[Need::EveryLanguage]),
    ("crates/kumite-lab/src/driver/command/", &[Need::Kind("command")]),
    ("crates/kumite-lab/src/driver/conditions.rs", &[Need::EveryKind, Need::Service("stub")]),
    ("crates/kumite-lab/src/driver/function/", &[Need::Kind("function")]),
    ("crates/kumite-lab/src/driver/http/", &[Need::Kind("http")]),
    ("crates/kumite-lab/src/driver/pacing/", &[Need::Kind("pacing")]),
    ("crates/kumite-lab/src/driver/task/", &[Need::Kind("task")]),
    ("crates/kumite-lab/src/kit_test", &[Need::EveryKit]),
    ("crates/kumite-lab/src/measures.", &[]),
    ("crates/kumite-lab/src/run/prepare", &[Need::EveryLanguage]),
    ("crates/kumite-agent/", &[Need::Nodes]),
    ("crates/kumite/examples/", &[]),
    ("crates/kumite/src/compare", &[Need::Action, Need::Recipes]),
    ("crates/kumite/src/for_review.rs", &[Need::Action]),
    ("crates/kumite/src/merge.rs", &[Need::Nodes]),
    ("crates/kumite/src/manifest.rs", &[Need::Nodes]),
    ("crates/kumite/src/nodes.rs", &[Need::Nodes]),
    ("crates/kumite/tests/", &[]),
    ("crates/kumite/tests/page/", &[Need::Page]),
    ("crates/kumite-nodes/", &[Need::Nodes]),
    ("crates/kumite-lab/src/node.rs", &[Need::Nodes]),
    ("crates/kumite-lab/src/run/nodes.rs", &[Need::Nodes]),
    ("crates/kumite-lab/src/station.rs", &[Need::Nodes]),
    ("crates/kumite-lab/src/work.rs", &[Need::Nodes]),
    ("crates/kumite-lab/src/service/", &[Need::EveryKind, Need::Service("stub")]),
    // Its tests start Redis; no experiment has such a service.
    ("crates/kumite-lab/src/service/command.rs", &[]),
    ("crates/kumite-lab/src/service/dynamodb.rs", &[Need::Service("dynamodb")]),
    ("crates/kumite-lab/src/service/files.rs", &[Need::Service("files")]),
    ("crates/kumite-lab/src/service/postgresql.rs", &[Need::Service("postgresql")]),
    ("crates/kumite-lab/src/service/stub.rs", &[Need::Service("stub")]),
    ("crates/kumite-lab/src/spec/functions.rs", &[Need::Kind("function")]),
    (
        "crates/kumite-limits/",
        &[Need::Windows, Need::Kind("http"), Need::Kind("pacing"), Need::Service("stub")],
    ),
    ("crates/kumite-load/", &[Need::Kind("http")]),
    ("crates/kumite-play/", &[Need::Windows, Need::Page, Need::Kind("pacing")]),
    ("crates/kumite-revision/", &[Need::Action, Need::Recipes]),
    ("crates/kumite-ring/", &[Need::Kind("http")]),
    ("crates/kumite-stub/", &[Need::Kind("http"), Need::Service("stub")]),
    ("crates/kumite-testing/", &[]),
    ("Cargo.", &[Need::EveryKind, Need::Release]),
    ("LICENSE", &[]),
    // Asked before a release.
    ("deny.toml", &[]),
    // Made by hand.
    ("docs/cast/", &[]),
    ("docs/ci.md", &[Need::Recipes]),
    ("docs/image/", &[Need::Install]),
    ("tests/", &[]),
    ("tests/action/", &[Need::Action]),
    ("tests/aws/", &[Need::Clients]),
    ("tests/cases/", &[Need::Cases]),
    ("tests/ci-recipes/", &[Need::Recipes]),
    ("tests/cluster/", &[Need::Nodes]),
    // It takes too long for each change: by hand, and in `--all`.
    ("tests/cluster/kubernetes", &[]),
    ("tests/install/", &[Need::Install]),
    ("xtask/", &[]),
    ("xtask/src/ci/format.rs", &[Need::EveryFormat]),
    ("xtask/src/ci/kits.rs", &[Need::EveryKit]),
    ("xtask/src/dist", &[Need::Install]),
];

/// The needs of a change of this file.
pub fn needs(file: &str) -> Vec<Need> {
    // Tidy is always made: it compares documents with the code, and found runs with what is told and drawn of them. Only a
    // document that a rule names whole needs more.
    let is_told = |(rule, _): &&(&str, &[Need])| *rule == file;
    if file.ends_with(".md") || file.contains("/found/") || file.ends_with("/pictures.toml") {
        return RULES.iter().find(is_told).map_or(Vec::new(), |(_, needs)| needs.to_vec());
    }
    if let ["experiments", name, "contenders", folder, _, ..] = Vec::from_iter(file.split('/'))[..] {
        return vec![Need::Contender(name.to_owned(), folder.to_owned())];
    }
    if let ["experiments", name, _, ..] = Vec::from_iter(file.split('/'))[..] {
        return vec![Need::Experiment(name.to_owned())];
    }
    if let ["kits", name, _, ..] = Vec::from_iter(file.split('/'))[..] {
        return vec![Need::Kit(name.to_owned())];
    }
    let fitting = RULES.iter().filter(|(start, _)| file.starts_with(start));
    match fitting.max_by_key(|(start, _)| start.len()) {
        Some((_, needs)) => needs.to_vec(),
        None => vec![Need::EveryKind],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_file_has_its_needs() {
        let experiment = |name: &str| vec![Need::Experiment(name.to_owned())];
        let cases: [(&str, Vec<Need>); 31] = [
            ("experiments/fib/README.md", vec![]),
            ("experiments/fib/found/standard.json.gz", vec![]),
            ("experiments/fib/pictures.toml", vec![]),
            ("experiments/fib/experiment.toml", experiment("fib")),
            ("experiments/fib/contenders/go/main.go", vec![Need::Contender("fib".into(), "go".into())]),
            ("kits/go/kit.go", vec![Need::Kit("go".to_owned())]),
            ("README.md", vec![]),
            ("deny.toml", vec![]),
            ("docs/cast/page.sh", vec![]),
            ("docs/ci.md", vec![Need::Recipes]),
            (".github/actions/kumite/README.md", vec![]),
            (".github/actions/kumite/get.sh", vec![Need::Action]),
            ("bench/load/RESULTS.md", vec![]),
            ("crates/kumite-play/README.md", vec![]),
            (".ci/base", vec![]),
            ("crates/kumite/tests/cli/run.rs", vec![]),
            ("crates/kumite/tests/page/main.rs", vec![Need::Page]),
            ("tests/cluster/ssh.sh", vec![Need::Nodes]),
            ("tests/cluster/kubernetes.sh", vec![]),
            ("tests/cluster/kubernetes/node.sh", vec![]),
            ("xtask/src/dist/wheel.py", vec![Need::Install]),
            ("crates/kumite-lab/src/driver/http/metrics.rs", vec![Need::Kind("http")]),
            ("crates/kumite-lab/src/service/command.rs", vec![]),
            ("crates/kumite-lab/src/spec/functions.rs", vec![Need::Kind("function")]),
            ("crates/kumite-lab/src/service/postgresql.rs", vec![Need::Service("postgresql")]),
            ("crates/kumite-lab/src/run/prepare.rs", vec![Need::EveryLanguage]),
            ("crates/kumite-lab/src/contender/tools.rs", vec![Need::EveryLanguage]),
            ("crates/kumite-play/src/pacer.rs", vec![Need::Windows, Need::Page, Need::Kind("pacing")]),
            ("crates/kumite-stub/src/server.rs", vec![Need::Kind("http"), Need::Service("stub")]),
            ("Cargo.lock", vec![Need::EveryKind, Need::Release]),
            ("xtask/src/ci/kits.rs", vec![Need::EveryKit]),
        ];
        for (file, expected) in cases {
            assert_eq!(needs(file), expected, "{file}");
        }
    }

    #[test]
    fn a_file_that_no_rule_names_runs_one_experiment_of_each_kind() {
        for file in
            ["crates/kumite-stats/src/lib.rs", "crates/new/src/lib.rs", "new-folder/file", "rustfmt.toml"]
        {
            assert_eq!(needs(file), [Need::EveryKind], "{file}");
        }
    }

    #[test]
    fn every_rule_names_something_that_is_there() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let files = crate::ci::git::files(root).unwrap();
        for (start, _) in RULES {
            assert!(files.iter().any(|file| file.starts_with(start)), "no file begins with {start}");
        }
    }
}
