//! Flags that make no sense, or none together, for a run on several machines.

use std::path::PathBuf;

use kumite_record::Role;

/// A fault of the flags, with its remedy.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Misuse {
    /// A job that is there already cannot be given other nodes.
    #[error(
        "--slurm: this is inside a job already, whose nodes are used; leave --slurm, or submit from outside of it"
    )]
    InsideJob,
    /// Parts of a job, and no roles.
    #[error("--slurm: ':' is for the nodes of roles")]
    PartsWithoutRoles,
    /// As many parts as there are roles, or one.
    #[error("--slurm: options for {parts} nodes, and roles for {roles}")]
    OtherParts {
        /// The number of parts that `--slurm` has options for.
        parts: usize,
        /// The number of nodes that the roles need.
        roles: usize,
    },

    /// A role is given twice.
    #[error("--role: a role can be given only once")]
    RoleTwice,
    /// There is no job that could have any node.
    #[error("--role: write {}; any node is for --on slurm", role_forms())]
    RoleWithoutHost,
    /// The engine elsewhere, and all else with it.
    #[error("--role engine: no other part is on another node; to run everything there, write --on ssh:HOST")]
    OnlyEngine,
    /// This machine would measure, and is none of the job's.
    #[error(
        "--role: this machine is not a node of the cluster, so the engine needs a node, too: add --role engine"
    )]
    EngineOutside,
    /// A role is for a node that the job does not have.
    #[error("--role: the job has {}, and not {name}", nodes.join(", "))]
    NotInJob {
        /// Its nodes.
        nodes: Vec<String>,
        /// The node that was named.
        name: String,
    },
    /// More roles than nodes.
    #[error("--role: the job has {}: too few for a node each", nodes.join(", "))]
    TooFewNodes {
        /// Its nodes.
        nodes: Vec<String>,
    },

    /// Parts of a run, and shares of it.
    #[error(
        "--role cannot be combined with --on ssh or --shard: nodes have parts of a run, or shares of its blocks"
    )]
    RolesAndShares,
    /// Flags that are for Slurm.
    #[error("--shards and --slurm need --on slurm")]
    NotOnSlurm,
    /// An array would be submitted from inside of a job.
    #[error("--shards: this is inside job {job}, whose nodes have a share each: leave out --shards")]
    ShardsInsideJob {
        /// The job.
        job: String,
    },

    /// Fewer blocks than shares.
    #[error("{option}: {blocks} blocks cannot be shared by {of} {what}; use --blocks {of} or more")]
    TooFewBlocks {
        /// The flag that says how many shares there are.
        option: &'static str,
        /// The number of shares.
        of: u32,
        /// The name of those who have a share each: `nodes`, `shards`.
        what: &'static str,
        /// The number of blocks, by the profile or `--blocks`.
        blocks: u32,
    },
    /// The flag and the array differ.
    #[error("--shard auto/{given}: Slurm's array has {count} tasks")]
    OtherArray {
        /// As typed.
        given: u32,
        /// The number of tasks, by Slurm.
        count: u32,
    },
    /// An array with gaps, or a part of one.
    #[error(
        "--shard auto: task {id} of an array of {count} from {least} to {most}, in steps of {step}, does not say which shard \
         it is: submit it as --array=1-{count}, or write --shard I/N"
    )]
    SparseArray {
        /// The task here.
        id: u32,
        /// The number of tasks.
        count: u32,
        /// The first task's number.
        least: u32,
        /// The last task's number.
        most: u32,
        /// The distance from one task's number to the next.
        step: u32,
    },
    /// A pod of a larger job.
    #[error("--shard auto/{of}: JOB_COMPLETION_INDEX is {index}; with {of} shards it is below {of}")]
    IndexTooHigh {
        /// This pod's index, from 0 on.
        index: u32,
        /// As typed.
        of: u32,
    },
    /// Kubernetes tells a pod its index alone.
    #[error("--shard auto: an Indexed Job does not say how many there are; write --shard auto/N")]
    UnknownCount,
    /// Nobody has started this as one of several.
    #[error("--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; write --shard I/N")]
    NoLauncher,

    /// Shards of another rule.
    #[error("--gate takes shards that were run with --strict")]
    GateOfLax,
    /// Stores without a shard.
    #[error(
        "there is no shard{} in {}: `kumite run NAME --shard 1/2 --db FILE` makes one",
        seed.map(|seed| format!(" of seed {seed}")).unwrap_or_default(),
        stores.iter().map(|store| store.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NoShards {
        /// The only one that was wanted.
        seed: Option<u64>,
        /// The stores that were given.
        stores: Vec<PathBuf>,
    },
    /// Stores with shards that do not belong together.
    #[error("the stores have shards of {runs} runs: {}; --seed N takes those of one", shards.join("; "))]
    SeveralRuns {
        /// The number of runs.
        runs: usize,
        /// Each shard, with its run and seed.
        shards: Vec<String>,
    },

    /// A word that no shell can be given.
    #[error("cannot be written in a manifest: {0}")]
    NoWord(#[source] shlex::QuoteError),
}

/// The forms of `--role` with a host, as a sentence has them.
pub(crate) fn role_forms() -> String {
    let [first @ .., last] = Role::ALL.map(|role| format!("{role}=HOST"));
    format!("{} or {last}", first.join(", "))
}
