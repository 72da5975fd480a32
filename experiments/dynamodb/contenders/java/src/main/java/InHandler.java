import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;

/** Makes a client in each call and never closes it, as the source did. */
public final class InHandler implements RequestHandler<DynamodbEvent, Table.Answer> {
  @Override
  public Table.Answer handleRequest(DynamodbEvent event, Context context) {
    Table.print(event, context);
    return Table.answer(Table.client());
  }
}
