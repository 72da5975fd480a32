import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import kumite.Worker;

/** Fan-outs whose threads wait for answers; what they differ in is how tasks run at once. */
interface Blocking {
  /** A request, whose body the thread that calls it waits for. */
  Callable<String> get();

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
          bodies.add(get().call());
        }
        yield bodies;
      }
      case "parallel" -> all(requests, get());
      default -> throw new IllegalArgumentException("there is no form " + job.params.get("form"));
    };
  }
}
