import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import kumite.Worker;

/** Futures that follow one another, or are there at the same time. */
record Futures(HttpClient client, HttpRequest request) {
  List<Map<String, Long>> fetch(Worker.Job job) {
    return all(job.integer("jobs"), () -> fanOut(job).thenApply(Fanout::count)).join();
  }

  private CompletableFuture<List<String>> fanOut(Worker.Job job) {
    int requests = job.integer("requests");
    return switch ((String) job.params.get("form")) {
      case "sequential" -> inSequence(requests);
      case "parallel" -> all(requests, this::get);
      default -> throw new IllegalArgumentException("there is no form " + job.params.get("form"));
    };
  }

  private CompletableFuture<List<String>> inSequence(int requests) {
    CompletableFuture<List<String>> bodies = CompletableFuture.completedFuture(new ArrayList<>());
    for (int i = 0; i < requests; i++) {
      bodies =
          bodies.thenCompose(
              list ->
                  get()
                      .thenApply(
                          body -> {
                            list.add(body);
                            return list;
                          }));
    }
    return bodies;
  }

  private CompletableFuture<String> get() {
    return client.sendAsync(request, BodyHandlers.ofString()).thenApply(Fanout::body);
  }

  private static <T> CompletableFuture<List<T>> all(
      int times, Supplier<CompletableFuture<T>> task) {
    List<CompletableFuture<T>> futures = Stream.generate(task).limit(times).toList();
    return CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new))
        .thenApply(done -> futures.stream().map(CompletableFuture::join).toList());
  }
}
