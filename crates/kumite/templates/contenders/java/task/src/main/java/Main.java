import java.io.IOException;
import java.util.Map;
import kumite.Worker;

/** A job brings all parameters: job.integer("things"). What is returned is the result. */
public final class Main {
  public static void main(String[] args) throws IOException {
    Worker.serve("java", job -> Map.of("not written yet", job.params));
  }
}
