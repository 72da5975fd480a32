//! Flags that make no sense, alone or together, for a run on several machines.

use std::path::PathBuf;

use kumite_record::Role;

/// A fault of the flags, with its remedy.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum Misuse {
    /// `--slurm` is given inside a job, which has its nodes already.
    #[error(
        "--slurm: this is inside a job already, whose nodes are used; leave --slurm, or submit from outside of it"
    )]
    InsideJob,
    /// `--slurm` has options for several parts of a job, and there are no roles for them.
    #[error("--slurm: ':' is for the nodes of roles")]
    PartsWithoutRoles,
    /// `--slurm` has options for another number of nodes than the roles need.
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
    /// A role has no host, and there is no job that could give it a node.
    #[error("--role: write {}; any node is for --on slurm", role_forms())]
    RoleWithoutHost,
    /// The engine is given to another node, and no role to any node but the engine's.
    #[error("--role engine: no other part is on another node; to run everything there, write --on ssh:HOST")]
    OnlyEngine,
    /// This machine would have the engine, and this process is in no job of the cluster.
    #[error(
        "--role: this machine is not a node of the cluster, so the engine needs a node, too: add --role engine"
    )]
    EngineOutside,
    /// A role is for a node that the job does not have.
    #[error("--role: the job has {}, and not {name}", nodes.join(", "))]
    NotInJob {
        /// The names of the job's nodes.
        nodes: Vec<String>,
        /// The host that `--role` names.
        name: String,
    },
    /// A role without a host has no node left. Each node of the job has a role already, or is this machine and has the
    /// engine.
    #[error("--role: the job has {}: too few for a node each", nodes.join(", "))]
    TooFewNodes {
        /// The names of the job's nodes.
        nodes: Vec<String>,
    },

    /// Nodes are to have roles and shares of the blocks, which cannot be combined.
    #[error(
        "--role cannot be combined with --on ssh or --shard: nodes have parts of a run, or shares of its blocks"
    )]
    RolesAndShares,
    /// Flags for Slurm are given without `--on slurm`.
    #[error("--shards and --slurm need --on slurm")]
    NotOnSlurm,
    /// An array would be submitted inside a job.
    #[error("--shards: this is inside job {job}, whose nodes have a share each: leave out --shards")]
    ShardsInsideJob {
        /// The number of the job.
        job: String,
    },

    /// There are fewer blocks than shares.
    #[error("{option}: {blocks} blocks cannot be shared by {of} {what}; use --blocks {of} or more")]
    TooFewBlocks {
        /// The flag that gives the number of shares.
        option: &'static str,
        /// The number of shares.
        of: u32,
        /// The word for those that have a share each: `nodes`, `shards` or `shares`.
        what: &'static str,
        /// The number of blocks, by the profile or by `--blocks`.
        blocks: u32,
    },
    /// `--shard auto/N` and Slurm's array have different numbers of shards.
    #[error("--shard auto/{given}: Slurm's array has {count} tasks")]
    OtherArray {
        /// The number of shards in the flag.
        given: u32,
        /// The number of tasks in the array.
        count: u32,
    },
    /// Slurm's array has gaps, or is only a part of an array, so the number of a task does not say which shard it is.
    #[error(
        "--shard auto: task {id} of an array of {count} from {least} to {most}, in steps of {step}, does not say which shard \
         it is: submit it as --array=1-{count}, or write --shard I/N"
    )]
    SparseArray {
        /// The number of this task.
        id: u32,
        /// The number of tasks.
        count: u32,
        /// The number of the first task.
        least: u32,
        /// The number of the last task.
        most: u32,
        /// The distance from one task's number to the next.
        step: u32,
    },
    /// The index of a pod is too high for the number of shards.
    #[error("--shard auto/{of}: JOB_COMPLETION_INDEX is {index}; with {of} shards it is below {of}")]
    IndexTooHigh {
        /// The index of this pod, from 0 on.
        index: u32,
        /// The number of shards in the flag.
        of: u32,
    },
    /// The number of shards is not given, and Kubernetes tells a pod its index alone.
    #[error("--shard auto: an Indexed Job does not say how many there are; write --shard auto/N")]
    UnknownCount,
    /// `--shard auto` is given, and neither Slurm nor Kubernetes has started this process as one of several.
    #[error("--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set; write --shard I/N")]
    NoLauncher,

    /// A gate takes only shards that were run by the strict rule.
    #[error("--gate takes shards that were run with --strict")]
    GateOfLax,
    /// The stores have no shard, or none of the seed that was asked for.
    #[error(
        "there is no shard{} in {}: `kumite run NAME --shard 1/2 --db FILE` makes one",
        seed.map(|seed| format!(" of seed {seed}")).unwrap_or_default(),
        stores.iter().map(|store| store.display().to_string()).collect::<Vec<_>>().join(", ")
    )]
    NoShards {
        /// The seed that was asked for; none if none was.
        seed: Option<u64>,
        /// The stores that were given.
        stores: Vec<PathBuf>,
    },
    /// Two different shards have the same id, so one would replace the other. Two nodes may give the same id if they
    /// begin in the same microsecond.
    #[error(
        "{} and {} have two shards with the id {id}: measure one of them anew, by its `kumite run … --shard`",
        stores[0].display(), stores[1].display()
    )]
    SameId {
        /// The id.
        id: String,
        /// The stores that have the two.
        stores: [PathBuf; 2],
    },
    /// The stores have shards of several runs.
    #[error("the stores have shards of {runs} runs: {}; --seed N takes those of one", shards.join("; "))]
    SeveralRuns {
        /// The number of runs.
        runs: usize,
        /// A description of each shard, with its run and seed.
        shards: Vec<String>,
    },

    /// A word of the command cannot be quoted for a shell.
    #[error("cannot be written in a manifest: {0}")]
    NoWord(#[source] shlex::QuoteError),
}

/// The forms of `--role` with a host, in a list for a sentence.
pub(crate) fn role_forms() -> String {
    let [first @ .., last] = Role::ALL.map(|role| format!("{role}=HOST"));
    format!("{} or {last}", first.join(", "))
}
