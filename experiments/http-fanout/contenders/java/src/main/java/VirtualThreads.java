import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** By an executor that makes a virtual thread for each task. */
record VirtualThreads(Callable<String> get) implements Blocking {
  @Override
  public <T> List<T> all(int times, Callable<T> task) throws Exception {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      List<T> results = new ArrayList<>();
      for (Future<T> future : executor.invokeAll(Collections.nCopies(times, task))) {
        results.add(future.get());
      }
      return results;
    }
  }
}
