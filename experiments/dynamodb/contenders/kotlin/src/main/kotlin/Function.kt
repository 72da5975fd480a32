import aws.sdk.kotlin.services.dynamodb.DynamoDbClient
import aws.sdk.kotlin.services.dynamodb.SdkVersion
import aws.sdk.kotlin.services.dynamodb.getItem
import aws.sdk.kotlin.services.dynamodb.model.AttributeValue
import aws.smithy.kotlin.runtime.net.url.Url
import com.amazonaws.services.lambda.runtime.Context
import com.amazonaws.services.lambda.runtime.RequestHandler
import com.amazonaws.services.lambda.runtime.events.DynamodbEvent
import kotlinx.coroutines.runBlocking

data class Item(
    val id: String,
    val message: String,
)

data class Answer(
    val item: Item,
)

/** A function that fetches an item; its client is made once, before the first call. */
class Function : RequestHandler<DynamodbEvent, Answer> {
    // Region and credentials come from the environment.
    private val client =
        runBlocking {
            DynamoDbClient.fromEnvironment { endpointUrl = Url.parse(System.getenv("DB_URL")) }
        }

    override fun handleRequest(
        event: DynamodbEvent,
        context: Context,
    ): Answer {
        for (record in event.records) {
            context.logger.log("${record.eventID} ${record.eventName} ${record.dynamodb}\n")
        }
        return runBlocking { fetch() }
    }

    private suspend fun fetch(): Answer {
        val found =
            client.getItem {
                tableName = "mytest"
                key = mapOf("id" to AttributeValue.S("test"))
            }
        val item = checkNotNull(found.item) { "the table has no item test" }
        return Answer(Item(item.getValue("id").asS(), item.getValue("message").asS()))
    }
}

fun main() = println("Java ${Runtime.version()}, Kotlin ${KotlinVersion.CURRENT}, AWS SDK for Kotlin $SdkVersion")
