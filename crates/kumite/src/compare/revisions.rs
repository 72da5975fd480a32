//! `--rev`: git revisions as contenders, each with a tree of its own that is built once.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_compare::{At, Bench, Place, typed};
use kumite_process::Shell;
use kumite_record::ComparedRevision;
use kumite_revision::{Build, Repository, Revision, Tree, Trees};

use crate::exit::Failure;
use crate::output;
use crate::store::default_db;

#[derive(clap::Args)]
#[command(next_help_heading = "Revisions of the git repository here")]
pub struct RevisionArgs {
    /// Git revision to run the command at, in a tree of its own; the first is the reference. A branch, a tag, a commit;
    /// `A...B` for where the two parted; `.` for the files as they are, without ignored ones. With --gate and one revision, the
    /// reference is where it left the default branch
    #[arg(long = "rev", value_name = "REV")]
    revs: Vec<String>,
    /// Command that builds a revision in its folder, once: it is built again only if its files, this command, or a variable
    /// that builds read has changed (PATH, CC, CXX, *FLAGS, CARGO_*, RUSTUP_TOOLCHAIN, GO*, NODE*, JAVA_HOME). Without --rev it
    /// builds the files as they are
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,
    /// Further variable that --build reads (several: each)
    #[arg(long, value_name = "NAME", requires = "build")]
    build_env: Vec<String>,
    /// Make the trees anew, and build them anew
    #[arg(long)]
    no_cache: bool,
}

/// The revisions that were asked for, in the user's repository.
pub struct Revisions<'a> {
    args: &'a RevisionArgs,
    repository: Repository<'a>,
    revisions: Vec<Revision>,
    /// The revision of a baseline; None if there is none.
    earlier: Option<Revision>,
    stop: &'a AtomicBool,
}

impl RevisionArgs {
    /// True if `--rev` or `--build` is given.
    pub fn are_given(&self) -> bool {
        !self.revs.is_empty() || self.build.is_some()
    }

    /// Fills in the flags that were not typed, for a comparison with a baseline: `.` as the revision, and the build of
    /// the baseline. The variables of the baseline's build are added to those that were typed.
    pub fn fill(&mut self, build: Option<&str>, build_env: &[String]) {
        if self.revs.is_empty() {
            self.revs.push(".".to_owned());
        }
        if self.build.is_none() {
            self.build = build.map(str::to_owned);
        }
        self.build_env.extend(build_env.iter().cloned());
    }

    /// The names of further variables that a build reads.
    pub fn build_env(&self) -> &[String] {
        &self.build_env
    }

    /// The command that builds a revision; `None` without --build.
    pub fn build(&self) -> Option<String> {
        self.build.clone()
    }

    /// The revisions that were asked for; `None` without these flags. If `needs_base` is true and one revision is
    /// given, the commit at which it left the default branch comes first. `earlier` is the revision of a baseline: its
    /// name in the comparison, and its commit. An error if the folder is in no repository, or git knows no such
    /// revision.
    pub fn found<'a>(
        &'a self,
        needs_base: bool,
        earlier: Option<(&str, &str)>,
        stop: &'a AtomicBool,
    ) -> Result<Option<Revisions<'a>>, Failure> {
        if !self.are_given() {
            return match self.no_cache {
                true => Err(Failure::Usage("--no-cache is of revisions: give --rev or --build".to_owned())),
                false => Ok(None),
            };
        }
        let here = std::env::current_dir().map_err(|error| {
            Failure::Incomplete(format!("cannot find the folder that it is run in: {error}"))
        })?;
        let repository = Repository::around(&here, stop)?;
        let mut names = self.revs.clone();
        if names.is_empty() {
            names.push(".".to_owned());
        }
        if let ([name], true) = (&names[..], needs_base) {
            names.insert(0, repository.merge_base_name(name)?);
        }
        let revisions = names.iter().map(|name| repository.revision(name)).collect::<Result<Vec<_>, _>>();
        let revisions = revisions?;
        let earlier = earlier.map(|(name, commit)| {
            let found = repository.revision(commit);
            let mut found = found.map_err(|error| match Failure::from(error) {
                Failure::Usage(why) => {
                    Failure::Usage(format!("{name} is of a commit that is not here: {why}"))
                }
                failure => failure,
            })?;
            name.clone_into(&mut found.name);
            Ok::<_, Failure>(found)
        });
        let earlier = earlier.transpose()?;
        let all: Vec<&Revision> = earlier.iter().chain(&revisions).collect();
        if let [first, others @ ..] = &all[..]
            && let Some(same) = others.iter().find(|other| other.is_as(first))
        {
            output::note(&format!(
                "{} and {} are the same commit: it is compared with itself",
                first.name, same.name
            ));
        }
        Ok(Some(Revisions { args: self, repository, revisions, earlier, stop }))
    }
}

impl Revisions<'_> {
    /// The names of the revisions, in the order of the command line.
    pub fn names(&self) -> Vec<String> {
        self.revisions.iter().map(|revision| revision.name.clone()).collect()
    }

    /// Makes and builds the tree of each revision, and gives each command that is to be run at a revision its place.
    /// The trees stay as long as the returned values live. An error if a tree cannot be made or built.
    pub fn place(&self, benches: &mut [Bench], shell: &Shell) -> Result<Vec<Tree>, Failure> {
        let database = default_db();
        let state = database.parent().unwrap_or(Path::new("."));
        let trees = Trees::new(&self.repository, state, &self.args.build_env, self.stop)?;
        let mut made: BTreeMap<At, (Place, Tree)> = BTreeMap::new();
        for bench in benches {
            let Some(at) = &bench.at else { continue };
            let mut all = self.earlier.iter().chain(&self.revisions);
            let revision = all.find(|revision| revision.name == at.revision);
            let revision = revision.expect("commands are at the revisions that were found");
            if !made.contains_key(at) {
                let line = at.build.as_ref().map(|text| typed("--build", text, shell));
                let line = line.transpose().map_err(super::usage)?;
                let build = at.build.clone().zip(line).map(|(text, line)| Build { text, line });
                let tree = trees.tree(revision, build.as_ref(), self.args.no_cache, &mut output::note)?;
                made.insert(at.clone(), (place(revision, at, &tree), tree));
            }
            bench.place = made.get(at).map(|(place, _)| place.clone());
        }
        Ok(made.into_values().map(|(_, tree)| tree).collect())
    }
}

fn place(revision: &Revision, at: &At, tree: &Tree) -> Place {
    let revision = ComparedRevision {
        name: revision.name.clone(),
        commit: revision.commit.clone(),
        changed: revision.digest().map(str::to_owned),
        build: at.build.clone(),
        build_s: tree.build_s,
        was_cached: tree.was_cached,
    };
    Place { folder: tree.folder.clone(), revision }
}
