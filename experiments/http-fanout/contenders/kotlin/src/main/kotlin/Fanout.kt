// Fan-outs to a backend, by threads that wait or by coroutines that suspend.

import kotlinx.coroutines.Dispatchers
import kumite.serve
import org.apache.hc.client5.http.config.RequestConfig
import org.apache.hc.core5.util.VersionInfo
import java.net.URI
import java.util.concurrent.Executors
import java.util.concurrent.ForkJoinPool

/** As many as six fan-outs have requests at once, so that no request waits for a connection. */
internal const val CONNECTIONS = 600

fun main(args: Array<String>) {
    when (val way = args[0]) {
        "--version" -> println(versions())
        "kotlin-sync" -> serve(way, Blocking(ForkJoinPool(Runtime.getRuntime().availableProcessors()))::fetch)
        "kotlin-sync-100" -> serve(way, Blocking(Executors.newFixedThreadPool(100))::fetch)
        "kotlin-coroutines" -> serve(way, Suspending()::fetch)
        else -> throw IllegalArgumentException("there is no way $way")
    }
}

private fun versions(): String {
    val client = VersionInfo.loadVersionInfo("org.apache.hc.client5", null)
    val coroutines = Dispatchers::class.java.`package`.implementationVersion
    val kotlin = KotlinVersion.CURRENT
    return "HttpClient ${client.release}, kotlinx.coroutines $coroutines, Kotlin $kotlin, Java ${Runtime.version()}"
}

internal fun backend(): URI = URI(System.getenv("BACKEND_URL"))

/** By default each request offers to go on in TLS. */
internal fun requestConfig(): RequestConfig = RequestConfig.custom().setProtocolUpgradeEnabled(false).build()

/** How often each body came. */
internal fun count(bodies: List<String>): Map<String, Int> = bodies.groupingBy { it }.eachCount()
