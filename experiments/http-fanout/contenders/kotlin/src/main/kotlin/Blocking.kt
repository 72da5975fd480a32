import kumite.Job
import org.apache.hc.client5.http.classic.methods.HttpGet
import org.apache.hc.client5.http.impl.classic.HttpClients
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder
import org.apache.hc.core5.http.io.entity.EntityUtils
import java.util.concurrent.Callable
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.Future

/** A thread for each fan-out, and a [pool] that all share whose requests go out at once. */
class Blocking(
    private val pool: ExecutorService,
) {
    private val client =
        HttpClients
            .custom()
            .setConnectionManager(
                PoolingHttpClientConnectionManagerBuilder
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
    private val backend = backend()
    private val callers = Executors.newCachedThreadPool()

    fun fetch(job: Job): List<Map<String, Int>> {
        val fanOut = Callable { count(fanOut(job)) }
        return List(job.int("jobs")) { callers.submit(fanOut) }.getAll()
    }

    private fun fanOut(job: Job): List<String> =
        when (val form = job.params["form"]) {
            "sequential" -> List(job.int("requests")) { get() }
            "parallel" -> List(job.int("requests")) { pool.submit(Callable { get() }) }.getAll()
            else -> throw IllegalArgumentException("there is no form $form")
        }

    private fun get(): String =
        client.execute(HttpGet(backend)) { response ->
            check(response.code == 200) { "status ${response.code}" }
            EntityUtils.toString(response.entity)
        }
}

/** Where one fails the others are waited for nevertheless: none of them goes on beside the next job. */
private fun <T> List<Future<T>>.getAll(): List<T> = map { runCatching { it.get() } }.map { it.getOrThrow() }
