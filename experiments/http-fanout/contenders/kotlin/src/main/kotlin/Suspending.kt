import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext
import kumite.Job
import org.apache.hc.client5.http.async.methods.SimpleHttpRequest
import org.apache.hc.client5.http.async.methods.SimpleHttpResponse
import org.apache.hc.client5.http.async.methods.SimpleRequestBuilder
import org.apache.hc.client5.http.impl.async.CloseableHttpAsyncClient
import org.apache.hc.client5.http.impl.async.HttpAsyncClients
import org.apache.hc.client5.http.impl.nio.PoolingAsyncClientConnectionManagerBuilder
import org.apache.hc.core5.concurrent.FutureCallback
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException

/** A coroutine for each fan-out, and one for each request that goes out at the same time as others. */
class Suspending {
    private val client =
        HttpAsyncClients
            .custom()
            .setConnectionManager(
                PoolingAsyncClientConnectionManagerBuilder
                    .create()
                    .setMaxConnTotal(CONNECTIONS)
                    .setMaxConnPerRoute(CONNECTIONS)
                    .build(),
            ).setDefaultRequestConfig(requestConfig())
            .disableAuthCaching()
            .disableAutomaticRetries()
            .disableContentCompression()
            .disableCookieManagement()
            .disableRedirectHandling()
            .build()
            .apply { start() }
    private val backend = backend()

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
        val response = client.await(SimpleRequestBuilder.get(backend).build())
        check(response.code == 200) { "status ${response.code}" }
        return response.bodyText
    }
}

private suspend fun CloseableHttpAsyncClient.await(request: SimpleHttpRequest): SimpleHttpResponse =
    suspendCancellableCoroutine { continuation ->
        val callback =
            object : FutureCallback<SimpleHttpResponse> {
                override fun completed(response: SimpleHttpResponse) = continuation.resume(response)

                override fun failed(e: Exception) = continuation.resumeWithException(e)

                override fun cancelled() {
                    continuation.cancel()
                }
            }
        val future = execute(request, callback)
        continuation.invokeOnCancellation { future.cancel(true) }
    }
