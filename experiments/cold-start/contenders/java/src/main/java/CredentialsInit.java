import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.Map;

/** Sets up in the constructor. */
public final class CredentialsInit
    implements RequestHandler<Map<String, Object>, Map<String, Object>> {
  private static int count;
  private final Credentials credentials = Credentials.load();

  @Override
  public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
    count++;
    return Map.of("handler", "credentials-init", "digest", credentials.digest(), "count", count);
  }
}
