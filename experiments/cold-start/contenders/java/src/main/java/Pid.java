import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.Map;

/** Says who it is, and how often it was called. */
public final class Pid implements RequestHandler<Map<String, Object>, Map<String, Object>> {
  private static final String INSTANCE = String.valueOf(ProcessHandle.current().pid());
  private static int count;

  @Override
  public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
    count++;
    return Map.of("handler", "pid", "instance", INSTANCE, "count", count);
  }
}
