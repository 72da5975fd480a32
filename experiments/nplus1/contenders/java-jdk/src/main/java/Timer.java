import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import kumite.Worker;

/** Each is there a delay after it is asked for. */
record Timer(Worker.Job job, int delayMs) implements Backend {
  @Override
  public void await() throws InterruptedException {
    Thread.sleep(delayMs);
  }

  /** The JDK's timer thread only hands over to the executor. */
  @Override
  public CompletableFuture<Void> arrival(String id, Executor executor) {
    Executor later =
        CompletableFuture.delayedExecutor(
            delayMs,
            MILLISECONDS,
            task -> {
              job.event("tick", id);
              executor.execute(task);
            });
    return CompletableFuture.runAsync(() -> {}, later);
  }
}
