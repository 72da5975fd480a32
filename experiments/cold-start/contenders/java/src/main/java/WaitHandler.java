import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.Map;

/** Sleeps in the handler. */
public final class WaitHandler implements RequestHandler<Map<String, Object>, Map<String, Object>> {
  private static int count;

  public WaitHandler() {
    SinceLoad.ms();
  }

  @Override
  public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
    count++;
    var sinceLoadMs = SinceLoad.ms();
    SinceLoad.print("before wait");
    Sleep.of("HANDLER_SLEEP_MS");
    SinceLoad.print("after wait");
    return Map.of("handler", "wait-handler", "since_load_ms", sinceLoadMs, "count", count);
  }
}
