import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * Writes into the log what runs here: threads, processes above this one, the JVM, and names of the
 * environment.
 */
public final class Dump implements RequestHandler<Map<String, Object>, Map<String, Object>> {
  @Override
  public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
    var threads = Thread.getAllStackTraces();
    threads.forEach(Dump::print);
    // No arguments and no values of the environment: there may be keys among them.
    for (var process = Optional.of(ProcessHandle.current());
        process.isPresent();
        process = process.get().parent()) {
      var command = process.get().info().command().orElse("?");
      System.out.println("process " + process.get().pid() + ": " + command);
    }
    for (var name :
        new String[] {"java.vm.vendor", "java.vm.name", "java.vm.version", "os.version"}) {
      System.out.println(name + ": " + System.getProperty(name));
    }
    System.out.println("environment: " + new TreeSet<>(System.getenv().keySet()));
    return Map.of("handler", "dump", "threads", threads.size());
  }

  private static void print(Thread thread, StackTraceElement[] stack) {
    var lines = new StringBuilder(thread.toString());
    for (var element : stack) lines.append("\n\tat ").append(element);
    System.out.println(lines);
  }
}
