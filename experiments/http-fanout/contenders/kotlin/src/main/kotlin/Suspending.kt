import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asExecutor
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.future.await
import kotlinx.coroutines.withContext
import kumite.Job
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpClient.Version.HTTP_1_1
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers

/** A coroutine for each fan-out, and one for each request that goes out at the same time as others. */
class Suspending {
    private val client =
        HttpClient
            .newBuilder()
            .version(HTTP_1_1)
            .executor(Dispatchers.Default.asExecutor())
            .build()
    private val request = HttpRequest.newBuilder(URI(backend())).build()

    suspend fun fetch(job: Job): List<Map<String, Int>> =
        withContext(Dispatchers.Default) {
            List(job.int("jobs")) { async { count(fanOut(job)) } }.awaitAll()
        }

    private suspend fun fanOut(job: Job): List<String> =
        coroutineScope {
            when (val form = job.params["form"]) {
                "sequential" -> List(job.int("requests")) { get() }
                "parallel" -> List(job.int("requests")) { async { get() } }.awaitAll()
                else -> throw IllegalArgumentException("there is no form $form")
            }
        }

    private suspend fun get(): String {
        val response = client.sendAsync(request, BodyHandlers.ofString()).await()
        check(response.statusCode() == 200) { "status ${response.statusCode()}" }
        return response.body()
    }
}
