// Files read and decoded, one after the other or beside other work.

import fileio.readAsync
import fileio.readBlocking
import fileio.readOnIo
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.launch
import kumite.Job
import kumite.serve
import java.lang.management.ManagementFactory
import java.nio.file.Path
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.Executor
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.ForkJoinTask

fun main(args: Array<String>) {
    val variant = args.single()
    val read: suspend (Path) -> String =
        when (variant) {
            "kotlin-blocking" -> { path -> readBlocking(path) }
            "kotlin-nio-coroutine" -> ::readAsync
            "kotlin-dispatchers-io" -> ::readOnIo
            "--version" -> return printVersion()
            else -> throw IllegalArgumentException("there is no way $variant")
        }

    serve(variant) {
        val texts = Texts(Path.of(System.getenv("DISK_PATH")), int("files"))
        when (params["form"]) {
            "single" -> single(texts, read)
            "mixed", "cpu" -> mixed(texts) { pool -> if (variant == "kotlin-blocking") submitAll(pool) else launchAll(pool, read) }
            else -> throw IllegalArgumentException("there is no form ${params["form"]}")
        }
    }
}

private suspend fun Job.single(
    texts: Texts,
    read: suspend (Path) -> String,
): Any {
    repeat(int("reads")) { texts.keep(it, read(texts.path(it))) }
    return mapOf("read" to texts.byFile())
}

/** A pool lives as long as the process, as a server's does. */
private val pools = ConcurrentHashMap<Int, Executor>()

/** A thread of the pool would do first what it submits itself. This way all stand in line. */
private fun pool(threads: Int): Executor {
    val pool = ForkJoinPool(threads)
    return Executor { pool.externalSubmit(ForkJoinTask.adapt(it)) }
}

private suspend fun Job.mixed(
    texts: Texts,
    start: Mix.(Executor) -> Unit,
): Any {
    val pool = pools.computeIfAbsent(int("threads"), ::pool)
    val mix = Mix(this, texts)
    val gcBefore = gcMillis()
    mix.start(pool)
    metric("cpu_tasks", mix.end.await())
    metric("gc_ms", gcMillis() - gcBefore)
    return MixedResult(texts, mix)
}

private fun Mix.submitAll(pool: Executor) = repeat(inFlight) { submitNext(pool) }

private fun Mix.submitNext(pool: Executor) {
    val task = draw() ?: return
    pool.execute {
        run(task, ::readBlocking)
        submitNext(pool)
    }
}

private fun Mix.launchAll(
    pool: Executor,
    read: suspend (Path) -> String,
) {
    val scope = CoroutineScope(pool.asCoroutineDispatcher())
    repeat(inFlight) { launchNext(scope, read) }
}

private fun Mix.launchNext(
    scope: CoroutineScope,
    read: suspend (Path) -> String,
) {
    val task = draw() ?: return
    scope.launch {
        run(task) { read(it) }
        launchNext(scope, read)
    }
}

/** Its getters are called when the answer is written, after the clock. */
class MixedResult internal constructor(
    private val texts: Texts,
    private val mix: Mix,
) {
    val checksum get() = mix.checksum()
    val read get() = texts.byFile()
}

private fun gcMillis() = ManagementFactory.getGarbageCollectorMXBeans().sumOf { it.collectionTime }

private fun printVersion() {
    val coroutines = Dispatchers::class.java.`package`.implementationVersion
    println("kotlinx.coroutines $coroutines, Kotlin ${KotlinVersion.CURRENT}, Java ${Runtime.version()}")
}
