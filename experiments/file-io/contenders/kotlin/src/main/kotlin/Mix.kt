// Reading beside other work, or that work alone: the sequence of tasks, which is the same for every contender, and
// what became of it.

import kotlinx.coroutines.CompletableDeferred
import kumite.Job
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

private const val CHECKED = 10

internal class Mix(
    job: Job,
    private val texts: Texts,
) {
    val inFlight = job.int("in_flight")
    private val cpuOnly = job.params["form"] == "cpu"
    private val ioShare = if (cpuOnly) 0.0 else (job.params["io_share"] as Number).toDouble()
    private val tasks = if (cpuOnly) job.int("tasks") else Int.MAX_VALUE
    private val ioTasks = job.int("io_tasks")
    private val objects = job.int("objects")
    private val steps = job.int("steps")
    private val drawn = AtomicInteger()
    private val ioDone = AtomicInteger()
    private val cpuDone = AtomicInteger()
    private val running = CountDownLatch(inFlight)
    private val checksum = AtomicInteger()

    @Volatile
    private var lastSum = 0

    /** How many CPU tasks were done when the last task that counts was. */
    val end = CompletableDeferred<Int>()

    /** The next task's number, or null: then none takes the place of the one that is done. */
    fun draw(): Int? {
        if (ioDone.get() < ioTasks && !end.isCompleted) {
            val task = drawn.getAndIncrement()
            if (task < tasks) return task
        }
        running.countDown()
        return null
    }

    /** Inline, so that [read] may suspend or block, as its caller does. */
    inline fun run(
        task: Int,
        read: (Path) -> String,
    ) {
        try {
            val ioBefore = ioBefore(task)
            if (ioBefore(task + 1) > ioBefore) {
                texts.keep(ioBefore, read(texts.path(ioBefore)))
                if (ioDone.incrementAndGet() == ioTasks) end.complete(cpuDone.get())
            } else {
                compute(task - ioBefore)
                if (cpuDone.incrementAndGet() == tasks) end.complete(tasks)
            }
        } catch (e: Throwable) {
            end.completeExceptionally(e)
        }
    }

    private fun ioBefore(task: Int) = (task * ioShare).toInt()

    private fun compute(task: Int) {
        val numbers = List(objects) { Numbered(task + it) }
        var sum = numbers.sumOf { it.number }
        repeat(steps) { sum = (sum xor (sum ushr 15)) * 1664525 + 1013904223 }
        if (task < CHECKED) checksum.accumulateAndGet(sum, Int::xor)
        lastSum = sum // or nobody would need it, and a compiler may see that
    }

    /** Waits for what is still in flight. */
    fun checksum(): Int {
        running.await()
        return checksum.get()
    }
}

private class Numbered(
    val number: Int,
)
