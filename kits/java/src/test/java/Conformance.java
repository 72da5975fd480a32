import java.io.IOException;
import kumite.Worker;

/** The worker by which the conformance script tests the kit. */
final class Conformance {
  public static void main(String[] args) throws IOException {
    Worker.serve("java-conformance", Conformance::run);
  }

  private static Object run(Worker.Job job) throws InterruptedException {
    switch ((String) job.params.get("do")) {
      case "echo" -> {
        return job.params.get("value");
      }
      case "empty" -> {}
      case "fail" -> throw new IllegalStateException((String) job.params.get("message"));
      case "sleep" -> Thread.sleep(job.integer("ms"));
      case "events" -> {
        job.event("next", "one");
        Thread.sleep(1);
        job.event("complete", "two");
      }
      case "metrics" -> job.metric("answer_count", 42);
      default -> throw new IllegalArgumentException("cannot do " + job.params.get("do"));
    }
    return null;
  }
}
