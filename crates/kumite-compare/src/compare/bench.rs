//! The commands to compare, with their names, parameters and hooks, made from the user's arguments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kumite_process::{CommandLine, CommandLineError, Output, Passes, Shell, Stdin};
use kumite_record::{ComparedBaseline, ComparedRevision};

use super::error::{EnvError, UsageError};
use super::import::Imported;
use super::parameters::{Parameter, combinations, filled};
use super::program::{program, with_program};

/// The most commands that one comparison takes: more than anybody compares.
const MOST_COMMANDS: usize = 1_000;
/// The name in braces that stands for the folder of a revision.
const FOLDER: &str = "dir";

/// The way to count instructions.
#[derive(Clone, Debug)]
pub struct Counts {
    /// The path of valgrind.
    pub valgrind: PathBuf,
    /// The path of `callgrind_annotate`, which comes with valgrind; `None` if it was not found. Without it, the
    /// functions that changed are not named.
    pub annotate: Option<PathBuf>,
    /// The margin, as a share: counts whose ratio is from 1 / (1 + margin) to 1 + margin are the same.
    pub margin: f64,
    /// The folder that has a folder with callgrind's files for each comparison. Only the folders of the 20 newest
    /// comparisons are kept.
    pub folder: PathBuf,
    /// A baseline of another day, whose counts are compared with the counts of each command; `None` for none.
    pub since: Option<ComparedBaseline>,
}

/// The commands to compare, and the way to run them.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The commands, in the order in which they are reported. If there is a control, the last element is its second
    /// position, which is not reported as a command.
    pub benches: Vec<Bench>,
    /// The shell for the commands and their hooks.
    pub shell: Shell,
    /// The standard input of each command.
    pub stdin: Stdin,
    /// True if all runs of all commands must write the same to standard output, which then goes to a file.
    pub same_output: bool,
    /// The exit codes that are no failure. With [`Allowed::None`], a run that fails ends the comparison; with the
    /// others, such a run is left out.
    pub allowed: Allowed,
    /// The CPUs that commands are kept to; empty for any.
    pub cores: Vec<usize>,
    /// True if two commands run at once, each on one half of the CPUs.
    pub duet: bool,
    /// The longest time that a run may take; `None` for no limit. A run that takes longer is ended, and fails.
    pub timeout: Option<Duration>,
    /// The number of runs of each command before the first block, which are in no figure.
    pub warm_up: usize,
    /// The way to count instructions once the times are known; `None` to count none.
    pub counts: Option<Counts>,
    /// The path of kumite itself, and the argument by which it becomes the runner's helper.
    pub helper: (PathBuf, String),
}

/// A command to compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bench {
    /// The command's name, which is unique among the commands that are compared. The second position of a control has
    /// the same name as the first.
    pub name: String,
    /// The command line as it was typed, with parameters filled in.
    pub command: String,
    /// The parameters that were filled in: each name with its value.
    pub parameters: BTreeMap<String, String>,
    /// The destination of the command's output.
    pub output: Output,
    /// The environment variables for the command and its hooks, on top of our own: each name with its value, in which
    /// `{dir}` is not filled in yet.
    pub env: Vec<(String, String)>,
    /// A command that is run once, before the first run of any command; `None` for none.
    pub setup: Option<String>,
    /// A command that is run before each run; `None` for none.
    pub prepare: Option<String>,
    /// A command that is run after each run; `None` for none.
    pub conclude: Option<String>,
    /// A command that is run once, after the last run of all commands; `None` for none.
    pub cleanup: Option<String>,
    /// The figures that hyperfine found for this command, which are shown beside ours; `None` if there are none.
    pub imported: Option<Imported>,
    /// The git revision at which the command is to be run; `None` to run it where the user is.
    pub at: Option<At>,
    /// The place of the revision, once its tree is made; `None` before, and without a revision.
    pub place: Option<Place>,
    /// The file that is run in place of the command's own program; `None` to run the command's own.
    pub program: Option<PathBuf>,
    /// The baseline, for the record, if this is the command of one; `None` if it is not.
    pub baseline: Option<ComparedBaseline>,
}

/// A baseline: a command of an earlier comparison, which is measured again.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The command's name in the comparison.
    pub name: String,
    /// The command line as it is run; no parameters are filled into it.
    pub command: String,
    /// The git revision at which the command is to be run; `None` to run it where the user is.
    pub at: Option<At>,
    /// The file that is run in place of the command's own program; `None` to run the command's own.
    pub program: Option<PathBuf>,
    /// The baseline, for the record.
    pub baseline: ComparedBaseline,
}

/// A git revision at which a command is to be run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    /// The revision as it was typed.
    pub revision: String,
    /// The command that builds the revision, with parameters filled in; `None` for none.
    pub build: Option<String>,
}

/// The place where a revision's files are, with the facts of the revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The folder of the revision's files, in which the command and its hooks run.
    pub folder: PathBuf,
    /// The revision, for the record.
    pub revision: ComparedRevision,
}

impl Bench {
    /// The folder that the command and its hooks run in.
    pub(crate) fn folder(&self) -> &Path {
        self.place.as_ref().map_or(Path::new("."), |place| &place.folder)
    }

    /// The file of the program that is run: `program` if there is one, else the file that the command's first word
    /// names. `None` if that word has no slash, or if the command needs a shell. The file may be missing.
    pub fn program_file(&self) -> Option<PathBuf> {
        let word = || program(&self.in_place(&self.command)).map(|word| self.folder().join(word));
        self.program.clone().or_else(word)
    }

    /// The command as it is started.
    pub(crate) fn line(&self, shell: &Shell) -> Result<CommandLine, CommandLineError> {
        let command = self.in_place(&self.command);
        match &self.program {
            Some(program) => CommandLine::new(&with_program(&command, program)?, shell),
            None => CommandLine::new(&command, shell),
        }
    }

    /// A text of the command's, with the folder of its revision filled in for `{dir}` if it has a place.
    pub(crate) fn in_place(&self, text: &str) -> String {
        match &self.place {
            Some(place) => {
                let folder = place.folder.to_string_lossy().into_owned();
                filled(text, &BTreeMap::from([(FOLDER.to_owned(), folder)]))
            }
            None => text.to_owned(),
        }
    }

    /// The environment variables for the command and its hooks, on top of our own, with `{dir}` filled in.
    pub(crate) fn env(&self) -> Vec<(String, String)> {
        self.env.iter().map(|(name, value)| (name.clone(), self.in_place(value))).collect()
    }

    /// The command as messages name it: with its revision, by which alone it may differ from another.
    pub(crate) fn called(&self) -> String {
        match &self.at {
            Some(at) => format!("`{}` at {}", self.command, at.revision),
            None => format!("`{}`", self.command),
        }
    }
}

/// The error that a text is no value of `--ignore-failure`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected exit codes such as 1,2, or all-non-zero")]
pub struct NoExitCodes;

/// The exit codes of a command that are no failure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Allowed {
    /// Exit code 0 only.
    #[default]
    None,
    /// Every exit code.
    All,
    /// Exit code 0 and these.
    Codes(Vec<i32>),
}

impl Allowed {
    /// Parses the value of `--ignore-failure`: `all-non-zero`, or exit codes from 0 to 255 with commas between them.
    pub fn parse(text: &str) -> Result<Allowed, NoExitCodes> {
        if text == "all-non-zero" {
            return Ok(Allowed::All);
        }
        let code = |code: &str| code.trim().parse::<u8>().map(i32::from);
        let codes: Result<_, _> = text.split(',').map(code).collect();
        codes.map(Allowed::Codes).map_err(|_| NoExitCodes)
    }

    /// `true` if a run that fails is left out; `false` if it ends the comparison.
    pub(crate) fn leaves_out(&self) -> bool {
        *self != Allowed::None
    }

    /// The runs that do not end the comparison, in the form that a runner takes.
    pub(crate) fn passes(&self) -> Passes {
        if self.leaves_out() { Passes::AnyStatus } else { Passes::Statuses(vec![0]) }
    }

    pub(crate) fn allows(&self, code: i32) -> bool {
        match self {
            Allowed::None => code == 0,
            Allowed::All => true,
            Allowed::Codes(codes) => code == 0 || codes.contains(&code),
        }
    }
}

/// Commands before their parameters are filled in, as the user gave them.
#[derive(Clone, Debug, Default)]
pub struct Templates {
    /// The texts of the commands.
    pub commands: Vec<String>,
    /// The names that were given: at most one for each of `commands`, in their order, or one for each command that
    /// revisions and parameters make of them. A command without a name gets one from its text or revision.
    pub names: Vec<String>,
    /// The command that the others are compared with, by its name, text or revision: one of `commands`, or a further
    /// one. `None` for the first.
    pub reference: Option<String>,
    /// A baseline, which is the reference and comes first; `None` for none.
    pub earlier: Option<Earlier>,
    /// The name of a reference that is not one of `commands`; `None` to use its text.
    pub reference_name: Option<String>,
    /// The parameters that are filled into all texts, except for those of a reference that is not one of `commands`.
    pub parameters: Vec<Parameter>,
    /// The git revisions at which each of `commands` is run; empty to run them where the user is.
    pub revisions: Vec<String>,
    /// The command that builds a revision; `None` for none.
    pub build: Option<String>,
    /// The setup, which is run once for each command; `None` for none.
    pub setup: Option<String>,
    /// The hooks to run before each run: one for all commands, or one for each; empty for none.
    pub prepare: Vec<String>,
    /// The hooks to run after each run: one for all commands, or one for each; empty for none.
    pub conclude: Vec<String>,
    /// The cleanup, which is run once for each command; `None` for none.
    pub cleanup: Option<String>,
    /// The destinations of output: one for all commands, or one for each. Each is `null`, `pipe`, `inherit` or the path
    /// of a file. Empty for `null`.
    pub output: Vec<String>,
    /// Environment variables, `NAME=VALUE …`, which are split as by a shell: one text for all commands, or one for
    /// each; empty for none.
    pub env: Vec<String>,
}

/// A command before its parameters are filled in.
#[derive(Clone)]
struct Template {
    text: String,
    /// The values that are to be filled in, by the parameters' names.
    values: BTreeMap<String, String>,
    revision: Option<String>,
}

/// The commands at every revision, with every combination of parameters.
struct Expanded {
    commands: Vec<Template>,
    /// For each command, the position of its template, by which its name and its hooks are found.
    origin: Vec<usize>,
    /// The number of templates, including a reference that is none of [`Templates::commands`].
    typed: usize,
    /// The position of the reference in `commands`.
    reference: usize,
}

impl Expanded {
    /// Adds a reference that is none of the commands. It comes before them.
    fn add_reference(&mut self, text: &str) {
        let added = Template { text: text.to_owned(), values: BTreeMap::new(), revision: None };
        self.commands.insert(0, added);
        self.origin = [0].into_iter().chain(self.origin.iter().map(|at| at + 1)).collect();
        self.typed += 1;
        self.reference = 0;
    }
}

impl Templates {
    /// Every command at every revision with every combination of parameters, and the position of the reference among
    /// them. An error if the user's arguments contradict each other, or if there is no command or more than 1,000.
    pub fn benches(&self) -> Result<(Vec<Bench>, usize), UsageError> {
        let expanded = self.expanded()?;
        let Expanded { commands, origin, typed, reference } = &expanded;
        if commands.len() > MOST_COMMANDS {
            return Err(UsageError::TooManyCommands { most: MOST_COMMANDS });
        }
        let names = self.names_for(&expanded)?;
        let each = |flag: &'static str, given: &[String], at: usize| -> Result<Option<String>, UsageError> {
            let text = match given.len() {
                0 => None,
                1 => given.first(),
                n if n == *typed => given.get(origin[at]),
                given => return Err(UsageError::NotOneEach { flag, given, commands: *typed }),
            };
            Ok(text.cloned())
        };
        let of_each = |flag: &'static str, given: &[String], at: usize| {
            each(flag, given, at).map(|text| text.map(|text| filled(&text, &commands[at].values)))
        };
        let bench = |at: usize| -> Result<Bench, UsageError> {
            let Template { text, values, revision } = &commands[at];
            let build = self.build.as_ref().map(|text| filled(text, values));
            let here = || revision.clone().map(|revision| At { revision, build });
            let earlier = self.earlier.as_ref().filter(|_| at == *reference);
            Ok(Bench {
                name: names[at].clone(),
                command: filled(text, values),
                parameters: values.clone(),
                setup: self.setup.as_ref().map(|text| filled(text, values)),
                prepare: of_each("--prepare", &self.prepare, at)?,
                conclude: of_each("--conclude", &self.conclude, at)?,
                cleanup: self.cleanup.as_ref().map(|text| filled(text, values)),
                env: match each("--env", &self.env, at)? {
                    Some(text) => assignments(&text, values)
                        .map_err(|source| UsageError::Env { text: text.clone(), source })?,
                    None => Vec::new(),
                },
                output: of_each("--output", &self.output, at)?.as_deref().map(output).unwrap_or_default(),
                imported: None,
                at: earlier.map_or_else(here, |earlier| earlier.at.clone()),
                place: None,
                program: earlier.and_then(|earlier| earlier.program.clone()),
                baseline: earlier.map(|earlier| earlier.baseline.clone()),
            })
        };
        let benches = (0..commands.len()).map(bench).collect::<Result<Vec<_>, _>>()?;
        if benches.is_empty() {
            return Err(UsageError::NoCommand);
        }
        Ok((benches, *reference))
    }

    fn expanded(&self) -> Result<Expanded, UsageError> {
        let combinations = combinations(&self.parameters)?;
        if !self.revisions.is_empty() && self.parameters.iter().any(|parameter| parameter.name == FOLDER) {
            return Err(UsageError::FolderTwice);
        }
        let revisions: Vec<Option<String>> = match self.revisions.is_empty() {
            true => vec![None],
            false => self.revisions.iter().cloned().map(Some).collect(),
        };
        let mut commands = Vec::new();
        for text in &self.commands {
            for revision in &revisions {
                let template = |values: &BTreeMap<String, String>| Template {
                    text: text.clone(),
                    values: values.clone(),
                    revision: revision.clone(),
                };
                commands.extend(combinations.iter().map(template));
            }
        }
        let of_each = combinations.len() * revisions.len();
        let origin = (0..commands.len()).map(|at| at / of_each).collect();
        let mut expanded = Expanded { commands, origin, typed: self.commands.len(), reference: 0 };
        if let Some(wanted) = &self.reference {
            let is_wanted = |(at, Template { text, values, revision }): (usize, &Template)| {
                let named = self.names.get(at).is_some_and(|name| filled(name, values) == *wanted);
                filled(text, values) == *wanted || named || revision.as_ref() == Some(wanted)
            };
            match expanded.commands.iter().enumerate().position(is_wanted) {
                Some(at) => expanded.reference = at,
                None => expanded.add_reference(wanted),
            }
        }
        if let Some(earlier) = &self.earlier {
            expanded.add_reference(&earlier.command);
        }
        Ok(expanded)
    }

    /// A unique name for each command: names that were given, for each template or for each command made from it;
    /// otherwise the command's text, or its revision if one command is run at several.
    fn names_for(&self, expanded: &Expanded) -> Result<Vec<String>, UsageError> {
        let Expanded { commands, origin, .. } = expanded;
        // One, if the reference was added.
        let shift = expanded.typed - self.commands.len();
        let (given, typed, all) = (self.names.len(), self.commands.len(), commands.len() - shift);
        if given > typed && given != all {
            return Err(UsageError::TooManyNames { names: given, commands: typed });
        }
        let name = |at: usize| -> String {
            let Template { text, values, revision } = &commands[at];
            let own = match at.checked_sub(shift) {
                Some(place) => self.names.get(if given == all { place } else { origin[at] - shift }),
                None => self.earlier.as_ref().map(|earlier| &earlier.name).or(self.reference_name.as_ref()),
            };
            let own_or_text = filled(own.unwrap_or(text), values);
            match revision.as_ref().filter(|_| self.revisions.len() > 1 && given < all) {
                Some(revision) if own.is_none() && typed == 1 => revision.clone(),
                Some(revision) => format!("{own_or_text} at {revision}"),
                None => own_or_text,
            }
        };
        let mut names: Vec<String> = (0..commands.len()).map(name).collect();
        // Parameters that are not in the command tell apart what would else be called the same.
        let same = |names: &[String], name: &str| names.iter().filter(|other| *other == name).count();
        let first = names.clone();
        for (name, Template { values, .. }) in names.iter_mut().zip(commands) {
            if same(&first, name) > 1 && !values.is_empty() {
                let told: Vec<String> =
                    values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                *name += &format!(" ({})", told.join(", "));
            }
        }
        let told = names.clone();
        for (at, name) in names.iter_mut().enumerate() {
            if same(&told, name) > 1 {
                *name += &format!(" ({})", same(&told[..=at], name));
            }
        }
        Ok(names)
    }
}

/// Parses the value of `--env`. A parameter's value is filled in after splitting, so that it makes no further word,
/// whatever is in it.
fn assignments(text: &str, values: &BTreeMap<String, String>) -> Result<Vec<(String, String)>, EnvError> {
    let words = shlex::split(text).ok_or(EnvError::Unclosed)?;
    let assignment = |word: &String| {
        let (name, value) = word.split_once('=').unwrap_or(("", ""));
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| !c.is_ascii_digit());
        match is_name {
            true if name.starts_with("KUMITE_") => Err(EnvError::Reserved),
            true => Ok((name.to_owned(), filled(value, values))),
            false => Err(EnvError::NoAssignment(word.clone())),
        }
    };
    words.iter().map(assignment).collect()
}

/// Parses the value of `--output`: a word such as `null`, or else a file.
fn output(text: &str) -> Output {
    match text {
        "null" => Output::Null,
        "pipe" => Output::Pipe,
        "inherit" => Output::Inherit,
        file => Output::File(file.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    fn templates(commands: &[&str]) -> Templates {
        Templates { commands: texts(commands), ..Templates::default() }
    }

    fn names(templates: &Templates) -> Vec<String> {
        templates.benches().unwrap().0.into_iter().map(|bench| bench.name).collect()
    }

    #[test]
    fn two_of_one_name_get_numbers() {
        assert_eq!(names(&templates(&["a", "b", "a"])), ["a (1)", "b", "a (2)"]);
        let named = Templates { names: texts(&["x"]), ..templates(&["a", "b"]) };
        assert_eq!(names(&named), ["x", "b"]);
    }

    #[test]
    fn parameters_make_commands_of_a_command() {
        let list = Parameter::list("n", "1,2").unwrap();
        let one = Templates { parameters: vec![list.clone()], ..templates(&["a {n}"]) };
        assert_eq!(names(&one), ["a 1", "a 2"]);
        let named = Templates { names: texts(&["with {n}"]), ..one.clone() };
        assert_eq!(names(&named), ["with 1", "with 2"]);
        let each = Templates { names: texts(&["x", "y"]), ..one.clone() };
        assert_eq!(names(&each), ["x", "y"]);
        let unused = Templates { parameters: vec![list], prepare: texts(&["p {n}"]), ..templates(&["a"]) };
        assert_eq!(names(&unused), ["a (n = 1)", "a (n = 2)"]);
        assert_eq!(unused.benches().unwrap().0[1].prepare.as_deref(), Some("p 2"));
    }

    #[test]
    fn the_reference_is_one_of_them_or_comes_first() {
        let of = |reference: &str, base: Templates| {
            let (benches, at) =
                Templates { reference: Some(reference.to_owned()), ..base }.benches().unwrap();
            (benches.into_iter().map(|bench| bench.command).collect::<Vec<_>>(), at)
        };
        assert_eq!(of("b", templates(&["a", "b"])), (texts(&["a", "b"]), 1));
        assert_eq!(of("c", templates(&["a", "b"])), (texts(&["c", "a", "b"]), 0));
        let named = Templates { names: texts(&["x", "y"]), ..templates(&["a", "b"]) };
        assert_eq!(of("y", named.clone()), (texts(&["a", "b"]), 1));
        let with = Templates { reference: Some("c".to_owned()), ..named };
        assert_eq!(names(&with), ["c", "x", "y"]);
        let called = Templates { reference_name: Some("base".to_owned()), ..with };
        assert_eq!(names(&called), ["base", "x", "y"]);
    }

    #[test]
    fn prepare_and_conclude_are_one_for_all_or_one_for_each() {
        let with =
            |prepare: &[&str]| Templates { prepare: texts(prepare), ..templates(&["a", "b"]) }.benches();
        let prepares =
            |prepare| with(prepare).unwrap().0.into_iter().map(|bench| bench.prepare).collect::<Vec<_>>();
        assert_eq!(prepares(&["p"]), [Some("p".to_owned()), Some("p".to_owned())]);
        assert_eq!(prepares(&["p", "q"]), [Some("p".to_owned()), Some("q".to_owned())]);
        let three = UsageError::NotOneEach { flag: "--prepare", given: 3, commands: 2 };
        assert_eq!(with(&["p", "q", "r"]).unwrap_err().to_string(), three.to_string());
        let reference = Templates {
            reference: Some("r".to_owned()),
            conclude: texts(&["1", "2", "3"]),
            ..templates(&["a", "b"])
        };
        let concludes: Vec<_> =
            reference.benches().unwrap().0.into_iter().filter_map(|bench| bench.conclude).collect();
        assert_eq!(concludes, ["1", "2", "3"]);
    }

    #[test]
    fn an_environment_is_one_for_all_or_one_for_each() {
        let with = |env: &[&str]| {
            let parameters = vec![Parameter::list("n", "1,a b").unwrap()];
            let benches = Templates { env: texts(env), parameters, ..templates(&["a", "b"]) }.benches()?.0;
            let told = |bench: Bench| {
                bench.env.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
            };
            Ok::<_, UsageError>(benches.into_iter().map(told).collect::<Vec<_>>())
        };
        assert_eq!(with(&["A={n} B='x y' C="]).unwrap()[..2], ["A=1;B=x y;C=", "A=a b;B=x y;C="]);
        assert_eq!(with(&["A=1", ""]).unwrap(), ["A=1", "A=1", "", ""]);
        for (env, why) in [
            (&["A"][..], "`A` is no NAME=VALUE"),
            (&["=1"], "`=1` is no NAME=VALUE"),
            (&["1A=1"], "is no NAME=VALUE"),
            (&["A='"], "a quote is not closed"),
            (&["KUMITE_TREE=1"], "kumite's own"),
            (&["A=1", "A=1", "A=1"], "3 times --env for 2 commands"),
        ] {
            let error = with(env).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn no_command_and_too_many_names_are_errors() {
        assert!(templates(&[]).benches().is_err() && templates(&["a"]).benches().is_ok());
        let named = Templates { names: texts(&["x", "y", "z"]), ..templates(&["a", "b"]) };
        assert!(matches!(named.benches(), Err(UsageError::TooManyNames { names: 3, commands: 2 })));
    }

    #[test]
    fn an_allowed_exit_code_is_no_failure() {
        assert_eq!(Allowed::parse("all-non-zero"), Ok(Allowed::All));
        assert_eq!(Allowed::parse("1, 2"), Ok(Allowed::Codes(vec![1, 2])));
        assert!(Allowed::parse("x").is_err() && Allowed::parse("300").is_err());
        assert!(Allowed::Codes(vec![1]).allows(0) && !Allowed::Codes(vec![1]).allows(2));
        assert!(!Allowed::None.allows(1) && Allowed::All.allows(139));
    }
}
