import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import kumite.Worker;

/** What makes the items of one source arrive, one after another. */
interface Backend {
  /** Blocks the thread until the next one is there. */
  void await() throws IOException, InterruptedException;

  /** Ends on one of the executor's threads when the next one is there. */
  CompletableFuture<Void> arrival(String id, Executor executor);

  /** Of a source that begins now. */
  static Backend of(Worker.Job job) {
    return switch ((String) job.params.get("backend")) {
      case "timer" -> new Timer(job, Duration.ofMillis(job.integer("delay_ms")));
      case "http" -> new Http();
      case String other -> throw new IllegalArgumentException("there is no backend " + other);
    };
  }
}
