// A chat bot that answers "ping" with "pong": one thread, and io_uring for all that the kernel does.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <liburing.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "request.h"

#define PONG(header) "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n" header "\r\npong"
#define FOUR(times) times times times times

// Pipelined requests are answered together, by up to so many pongs in one piece.
static const char pongs[] = FOUR(FOUR(PONG("")));
static const char last_pong[] = PONG("Connection: close\r\n");
static const char bad_request[] =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n"
    "Connection: close\r\n\r\nBad Request";

enum {
  PONG_BYTES = sizeof PONG("") - 1,
  BACKLOG = 1024,  // As many as Ranch lets wait.
  SUBMISSIONS = 1024,
  COMPLETIONS = 8192,  // Room for a burst: what does not fit ends a multishot receive.
  BUFFERS = 1024,      // A power of two.
  BUFFER_BYTES = 1024,
  BUFFER_GROUP = 0,
};

// What a completion is about: the lowest bits of its user data, beside the connection's address.
enum { ACCEPTED, RECEIVED, SENT, EVENTS };

struct connection {
  int fd;
  bool receiving, sending;
  size_t pong_bytes;  // Still to be sent. Only counted, so a client that does not read costs no memory.
  const char *last;   // If set, what is sent after them: the end.
  char *kept;         // The beginning of a request whose rest is not there yet.
  size_t kept_bytes;
};

static struct io_uring ring;
static struct io_uring_buf_ring *buffer_ring;
static char buffers[BUFFERS][BUFFER_BYTES];
static int listener;
static bool accepting;

static void fail(const char *what, int error) {
  fprintf(stderr, "%s: %s\n", what, strerror(error));
  exit(1);
}

static void *allocated(void *memory) {
  if (!memory) fail("no memory", errno);
  return memory;
}

static struct io_uring_sqe *submission(void) {
  struct io_uring_sqe *entry;
  while (!(entry = io_uring_get_sqe(&ring))) io_uring_submit(&ring);
  return entry;
}

static uint64_t about(struct connection *connection, int event) { return (uintptr_t)connection | event; }

static void accept_all(void) {
  struct io_uring_sqe *entry = submission();
  io_uring_prep_multishot_accept(entry, listener, NULL, NULL, SOCK_CLOEXEC);
  io_uring_sqe_set_data64(entry, about(NULL, ACCEPTED));
  accepting = true;
}

// One submission for all that will ever come; each time the kernel takes a buffer of the ring.
static void receive_all(struct connection *connection) {
  struct io_uring_sqe *entry = submission();
  io_uring_prep_recv_multishot(entry, connection->fd, NULL, 0, 0);
  io_uring_sqe_set_flags(entry, IOSQE_BUFFER_SELECT);
  entry->buf_group = BUFFER_GROUP;
  io_uring_sqe_set_data64(entry, about(connection, RECEIVED));
  connection->receiving = true;
}

static void send_bytes(struct connection *connection, const char *from, size_t bytes) {
  struct io_uring_sqe *entry = submission();
  io_uring_prep_send(entry, connection->fd, from, bytes, MSG_NOSIGNAL);
  io_uring_sqe_set_data64(entry, about(connection, SENT));
  connection->sending = true;
}

static void close_connection(struct connection *connection) {
  close(connection->fd);
  free(connection->kept);
  free(connection);
  if (!accepting) accept_all();
}

// Sends what there is, one send at a time, or lets the connection go if there is nothing more to come.
static void go_on(struct connection *connection) {
  if (connection->sending) return;
  if (connection->pong_bytes > 0) {
    // A send may end within a pong; the next one begins there.
    size_t already = (PONG_BYTES - connection->pong_bytes % PONG_BYTES) % PONG_BYTES;
    size_t there = sizeof pongs - 1 - already;
    send_bytes(connection, pongs + already, connection->pong_bytes < there ? connection->pong_bytes : there);
  } else if (connection->last && *connection->last) {
    send_bytes(connection, connection->last, strlen(connection->last));
  } else if (!connection->receiving) {
    close_connection(connection);
  }
}

// Answers the whole requests that begin here; gives how many bytes they had.
static size_t answer(struct connection *connection, const char *bytes, size_t length) {
  size_t done = 0;
  while (!connection->last) {
    struct request request = parsed(bytes + done, length - done);
    if (request.state == PARTIAL) break;
    if (request.state == BAD || request.body_length != 4 || memcmp(request.body, "ping", 4) != 0) {
      connection->last = bad_request;
    } else if (request.close) {
      connection->last = last_pong;
    } else {
      connection->pong_bytes += PONG_BYTES;
    }
    done += request.length;
  }
  return done;
}

// Most requests come whole, and are read where the kernel put them; only the others are copied together.
static void hear(struct connection *connection, const char *bytes, size_t length) {
  if (!connection->kept) {
    size_t done = answer(connection, bytes, length);
    bytes += done, length -= done;
  }
  // After the end what still comes is read and dropped: closing with bytes unread is a reset.
  while (length > 0 && !connection->last) {
    if (!connection->kept) connection->kept = allocated(malloc(REQUEST_BYTES_MAX));
    size_t room = REQUEST_BYTES_MAX - connection->kept_bytes, taken = length < room ? length : room;
    memcpy(connection->kept + connection->kept_bytes, bytes, taken);
    bytes += taken, length -= taken, connection->kept_bytes += taken;
    size_t done = answer(connection, connection->kept, connection->kept_bytes);
    connection->kept_bytes -= done;
    memmove(connection->kept, connection->kept + done, connection->kept_bytes);
    if (connection->kept_bytes == REQUEST_BYTES_MAX) connection->last = bad_request;
  }
  if (connection->kept_bytes == 0 || connection->last) {
    free(connection->kept);
    connection->kept = NULL, connection->kept_bytes = 0;
  }
}

static void give_back(int buffer) {
  io_uring_buf_ring_add(buffer_ring, buffers[buffer], BUFFER_BYTES, buffer, io_uring_buf_ring_mask(BUFFERS),
                        0);
  io_uring_buf_ring_advance(buffer_ring, 1);
}

static void accepted(int result, bool more) {
  if (result >= 0) {
    struct connection *connection = allocated(calloc(1, sizeof *connection));
    connection->fd = result;
    receive_all(connection);
  }
  if (more) return;
  // Without a free descriptor, accepting goes on when a connection closes.
  accepting = false;
  if (result != -EMFILE && result != -ENFILE) accept_all();
}

static void received(struct connection *connection, int result, unsigned flags) {
  if (result > 0) hear(connection, buffers[flags >> IORING_CQE_BUFFER_SHIFT], result);
  if (flags & IORING_CQE_F_BUFFER) give_back(flags >> IORING_CQE_BUFFER_SHIFT);
  if (!(flags & IORING_CQE_F_MORE)) {
    connection->receiving = false;
    // Without a free buffer it ends, too. By the time of the next submission there are some again.
    if (result > 0 || result == -ENOBUFS) receive_all(connection);
  }
  go_on(connection);
}

static void sent(struct connection *connection, int result) {
  connection->sending = false;
  if (result < 0) {
    connection->pong_bytes = 0, connection->last = "";
    shutdown(connection->fd, SHUT_RDWR);  // Ends the receive.
  } else if (connection->pong_bytes > 0) {
    connection->pong_bytes -= result;
  } else {
    connection->last += result;
    if (!*connection->last) shutdown(connection->fd, SHUT_WR);
  }
  go_on(connection);
}

static void handle(const struct io_uring_cqe *completion) {
  struct connection *connection = (void *)(uintptr_t)(completion->user_data & ~(uint64_t)EVENTS);
  switch (completion->user_data & EVENTS) {
    case ACCEPTED:
      accepted(completion->res, completion->flags & IORING_CQE_F_MORE);
      break;
    case RECEIVED:
      received(connection, completion->res, completion->flags);
      break;
    case SENT:
      sent(connection, completion->res);
  }
}

static void set_up_ring(void) {
  struct io_uring_params params = {
      // One thread that looks at completions when it has nothing else to do: no need to interrupt it.
      .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE,
      .cq_entries = COMPLETIONS,
  };
  int error = io_uring_queue_init_params(SUBMISSIONS, &ring, &params);
  if (error < 0) fail("no io_uring (it takes Linux 6.1, and must be allowed)", -error);
  buffer_ring = allocated(aligned_alloc(4096, BUFFERS * sizeof(struct io_uring_buf)));
  io_uring_buf_ring_init(buffer_ring);
  struct io_uring_buf_reg group = {
      .ring_addr = (uintptr_t)buffer_ring, .ring_entries = BUFFERS, .bgid = BUFFER_GROUP};
  error = io_uring_register_buf_ring(&ring, &group, 0);
  if (error < 0) fail("io_uring_register_buf_ring", -error);
  for (int buffer = 0; buffer < BUFFERS; buffer++) give_back(buffer);
}

static void set_up_listener(void) {
  const char *host = getenv("HOST"), *port = getenv("PORT");
  struct sockaddr_in address = {.sin_family = AF_INET};
  if (inet_pton(AF_INET, host ? host : "127.0.0.1", &address.sin_addr) != 1) fail("HOST", EINVAL);
  address.sin_port = htons(port ? atoi(port) : 0);
  int yes = 1;
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // Connections have TCP_NODELAY from their listener.
  if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
      setsockopt(listener, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) < 0 ||
      bind(listener, (struct sockaddr *)&address, sizeof address) < 0 || listen(listener, BACKLOG) < 0) {
    fail("cannot listen", errno);
  }
}

// A shell's usual limit of 1,024 files is kept for programs that use select(); this one may have more.
static void allow_files(void) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

int main(int count, char **words) {
  if (count > 1 && strcmp(words[1], "--version") == 0) {
    struct utsname os;
    uname(&os);
    printf("GCC %s, io_uring of %s %s\n", __VERSION__, os.sysname, os.release);
    return 0;
  }
  allow_files();
  set_up_ring();
  set_up_listener();
  accept_all();
  for (;;) {
    int error = io_uring_submit_and_wait(&ring, 1);
    if (error < 0 && error != -EINTR && error != -EBUSY) fail("io_uring_submit_and_wait", -error);
    struct io_uring_cqe *completion;
    unsigned head, seen = 0;
    io_uring_for_each_cqe(&ring, head, completion) {
      handle(completion);
      seen++;
    }
    io_uring_cq_advance(&ring, seen);
  }
}
