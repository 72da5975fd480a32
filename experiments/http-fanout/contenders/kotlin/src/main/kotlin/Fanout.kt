// Fan-outs to a backend, by threads that wait or by coroutines that suspend.

import kotlinx.coroutines.Dispatchers
import kumite.serve
import okhttp3.OkHttp

fun main(args: Array<String>) {
    when (val way = args[0]) {
        "--version" -> println(versions())
        "kotlin-sync" -> serve(way, Blocking(threads = Runtime.getRuntime().availableProcessors())::fetch)
        "kotlin-sync-100" -> serve(way, Blocking(threads = 100)::fetch)
        "kotlin-coroutines" -> serve(way, Suspending()::fetch)
        else -> throw IllegalArgumentException("there is no way $way")
    }
}

private fun versions(): String {
    val coroutines = Dispatchers::class.java.`package`.implementationVersion
    val kotlin = KotlinVersion.CURRENT
    return "OkHttp ${OkHttp.VERSION}, kotlinx.coroutines $coroutines, Kotlin $kotlin, Java ${Runtime.version()}"
}

internal fun backend(): String = System.getenv("BACKEND_URL")

/** How often each body came. */
internal fun count(bodies: List<String>): Map<String, Int> = bodies.groupingBy { it }.eachCount()
