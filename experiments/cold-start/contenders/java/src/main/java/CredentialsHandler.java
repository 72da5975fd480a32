import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.Map;

/** Sets up at the first call. */
public final class CredentialsHandler
    implements RequestHandler<Map<String, Object>, Map<String, Object>> {
  private static int count;
  private Credentials credentials;

  @Override
  public Map<String, Object> handleRequest(Map<String, Object> event, Context context) {
    count++;
    if (credentials == null) credentials = Credentials.load();
    return Map.of("handler", "credentials-handler", "digest", credentials.digest(), "count", count);
  }
}
