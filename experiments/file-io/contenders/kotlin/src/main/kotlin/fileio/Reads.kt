// The ways to read a file as a text. The JMH benchmark compiles this very file.

package fileio

import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext
import java.nio.ByteBuffer
import java.nio.channels.AsynchronousFileChannel
import java.nio.channels.CompletionHandler
import java.nio.file.Path
import java.nio.file.StandardOpenOption.READ
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.io.path.fileSize
import kotlin.io.path.inputStream

// By the size, as below: whoever looks for the end of the file asks the slow disk once more, and a real one not at all.
fun readBlocking(path: Path): String = path.inputStream().use { it.readNBytes(Math.toIntExact(path.fileSize())) }.decodeToString()

suspend fun readOnIo(path: Path): String = withContext(Dispatchers.IO) { readBlocking(path) }

suspend fun readAsync(path: Path): String =
    AsynchronousFileChannel.open(path, READ).use { channel ->
        val buffer = ByteBuffer.allocate(Math.toIntExact(channel.size()))
        while (buffer.hasRemaining() && channel.aRead(buffer, buffer.position().toLong()) > 0) Unit
        buffer.array().decodeToString(0, buffer.position())
    }

private suspend fun AsynchronousFileChannel.aRead(
    buffer: ByteBuffer,
    position: Long,
): Int =
    suspendCancellableCoroutine { continuation ->
        continuation.invokeOnCancellation { close() }
        read(buffer, position, continuation, Resumption)
    }

private object Resumption : CompletionHandler<Int, CancellableContinuation<Int>> {
    override fun completed(
        bytes: Int,
        continuation: CancellableContinuation<Int>,
    ) = continuation.resume(bytes)

    override fun failed(
        e: Throwable,
        continuation: CancellableContinuation<Int>,
    ) = continuation.resumeWithException(e)
}
