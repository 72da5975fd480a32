import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import kumite.Worker;

/** Fan-outs whose threads wait for answers; what they differ in is how tasks run at once. */
interface Blocking {
  HttpClient client();

  HttpRequest request();

  /** Runs the task so many times at once, each on a virtual thread, and waits for all. */
  <T> List<T> all(int times, Callable<T> task) throws Exception;

  default List<Map<String, Long>> fetch(Worker.Job job) throws Exception {
    return all(job.integer("jobs"), () -> Fanout.count(fanOut(job)));
  }

  private List<String> fanOut(Worker.Job job) throws Exception {
    int requests = job.integer("requests");
    return switch ((String) job.params.get("form")) {
      case "sequential" -> {
        List<String> bodies = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
          bodies.add(get());
        }
        yield bodies;
      }
      case "parallel" -> all(requests, this::get);
      default -> throw new IllegalArgumentException("there is no form " + job.params.get("form"));
    };
  }

  private String get() throws IOException, InterruptedException {
    return Fanout.body(client().send(request(), BodyHandlers.ofString()));
  }
}
