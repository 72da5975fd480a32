import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.Map;

/** Sleeps in the constructor. */
abstract class WaitInit implements RequestHandler<Map<String, Object>, Map<String, Object>> {
  private static int count;
  private final String name;

  WaitInit(String name, String sleepMs) {
    this.name = name;
    SinceLoad.print("constructor entered");
    Sleep.of(sleepMs);
    SinceLoad.print("constructor left");
  }

  @Override
  public final Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
    count++;
    return Map.of("handler", name, "count", count);
  }
}
