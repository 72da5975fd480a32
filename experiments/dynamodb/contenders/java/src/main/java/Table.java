import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent;
import java.net.URI;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider;
import software.amazon.awssdk.core.SdkSystemSetting;
import software.amazon.awssdk.http.crt.AwsCrtHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** What the functions have in common. They differ in when they make their client. */
final class Table {
  record Item(String id, String message) {}

  record Answer(Item item) {}

  /** Where region, credentials and HTTP client are said, the SDK looks for none of them. */
  static DynamoDbClient client() {
    return DynamoDbClient.builder()
        .region(Region.of(System.getenv(SdkSystemSetting.AWS_REGION.environmentVariable())))
        .credentialsProvider(EnvironmentVariableCredentialsProvider.create())
        .httpClientBuilder(AwsCrtHttpClient.builder())
        .endpointOverride(URI.create(System.getenv("DB_URL")))
        .build();
  }

  static void print(DynamodbEvent event, Context context) {
    for (var record : event.getRecords()) {
      context
          .getLogger()
          .log(
              "%s %s %s\n"
                  .formatted(record.getEventID(), record.getEventName(), record.getDynamodb()));
    }
  }

  static Answer answer(DynamoDbClient client) {
    var key = Map.of("id", AttributeValue.fromS("test"));
    var item = client.getItem(get -> get.tableName("mytest").key(key)).item();
    return new Answer(new Item(item.get("id").s(), item.get("message").s()));
  }

  private Table() {}
}
