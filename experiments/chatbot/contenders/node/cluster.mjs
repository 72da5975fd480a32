// The bot in a process for each CPU that the affinity allows: the primary accepts connections and deals them out.
import cluster from "node:cluster";
import { availableParallelism } from "node:os";

if (cluster.isWorker || process.argv[2] === "--version") {
  await import("./bot.mjs");
} else {
  for (let i = 0; i < availableParallelism(); i++) cluster.fork();
  replaceCrashed();
}

function replaceCrashed() {
  let stopping = false;
  // Only one that has listened is replaced: what fails before, as on a port in use, would fail for ever.
  cluster.on("listening", (worker) => {
    worker.once("exit", () => {
      if (!stopping) cluster.fork();
    });
  });
  // Signalled alone or with its workers, the primary ends last: without a worker nothing keeps it.
  process.once("SIGTERM", () => {
    stopping = true;
    for (const worker of Object.values(cluster.workers)) worker.kill();
  });
}
