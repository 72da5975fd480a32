import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Makes its client once, before the first call. */
public final class InInit implements RequestHandler<DynamodbEvent, Table.Answer> {
  private final DynamoDbClient client = Table.client();

  @Override
  public Table.Answer handleRequest(DynamodbEvent event, Context context) {
    Table.print(event, context);
    return Table.answer(client);
  }
}
