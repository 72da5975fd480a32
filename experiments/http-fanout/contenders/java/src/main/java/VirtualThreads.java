import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import kumite.Worker;

/**
 * A virtual thread for each fan-out, and one for each request that goes out at the same time as
 * others.
 */
record VirtualThreads(HttpClient client, HttpRequest request) {
  List<Map<String, Long>> fetch(Worker.Job job) throws InterruptedException, ExecutionException {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      return all(executor, job.integer("jobs"), () -> Fanout.count(fanOut(job, executor)));
    }
  }

  private List<String> fanOut(Worker.Job job, ExecutorService executor)
      throws IOException, InterruptedException, ExecutionException {
    int requests = job.integer("requests");
    return switch ((String) job.params.get("form")) {
      case "sequential" -> {
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
          bodies.add(get());
        }
        yield bodies;
      }
      case "parallel" -> all(executor, requests, this::get);
      default -> throw new IllegalArgumentException("there is no form " + job.params.get("form"));
    };
  }

  private String get() throws IOException, InterruptedException {
    return Fanout.body(client.send(request, BodyHandlers.ofString()));
  }

  private static <T> List<T> all(ExecutorService executor, int times, Callable<T> task)
      throws InterruptedException, ExecutionException {
    List<T> results = new ArrayList<>();
    for (Future<T> future : executor.invokeAll(Collections.nCopies(times, task))) {
      results.add(future.get());
    }
    return results;
  }
}
