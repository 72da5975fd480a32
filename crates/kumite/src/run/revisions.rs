//! `kumite run --rev A --rev B`: the contenders of an experiment at one revision against themselves at another.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_lab::{Experiment, Side};
use kumite_record::RunRevision;
use kumite_revision::{Repository, Tree, Trees};

use crate::exit::Failure;
use crate::output;

#[derive(clap::Args)]
pub struct RevisionFlags {
    /// Two git revisions: each contender is measured as it is at the first and as it is at the second, and they are compared
    /// by the metric that `headline` of the experiment names. The rest of the experiment is that of the working tree, which is
    /// `.` here
    #[arg(long = "rev", value_name = "REV", conflicts_with_all = ["shard", "shards", "on", "role", "sittings"])]
    revs: Vec<String>,
}

/// An experiment of two revisions, with their trees.
pub struct OfRevisions {
    pub experiment: Experiment,
    /// The trees of the contenders, which are kept as long as this lives.
    pub trees: Vec<Tree>,
}

impl RevisionFlags {
    /// True if revisions are compared.
    pub fn are_given(&self) -> bool {
        !self.revs.is_empty()
    }

    /// Reads the experiment of this name, with its contenders at both revisions. The trees of the revisions are made if
    /// they are not there; their logs are beside the store `db`. An error if not exactly two revisions are given, if
    /// git does not know one of them, or if the experiment cannot be read.
    pub fn read(
        &self,
        name: &str,
        profile: &str,
        db: &Path,
        stop: &AtomicBool,
    ) -> Result<OfRevisions, Failure> {
        let [before, after] = &self.revs[..] else {
            let given = self.revs.len();
            return Err(Failure::Usage(format!("two revisions are compared, and --rev names {given}")));
        };
        let folder = Experiment::find(name)?;
        let repository = Repository::around(&folder, stop)?;
        let state = db.parent().unwrap_or(Path::new("."));
        let trees = Trees::new(&repository, state, &[], stop)?;
        let side = |name: &String| {
            let revision = repository.revision(name)?;
            let tree = trees.tree(&revision, None, false, &mut output::note)?;
            let changed = revision.digest().map(str::to_owned);
            let revision = RunRevision { name: revision.name, commit: revision.commit, changed };
            Ok::<_, Failure>((Side { revision, folder: tree.folder.clone() }, tree))
        };
        let ((before, first), (after, second)) = (side(before)?, side(after)?);
        let experiment = Experiment::of_revisions(name, profile, &[before, after])?;
        Ok(OfRevisions { experiment, trees: vec![first, second] })
    }
}
