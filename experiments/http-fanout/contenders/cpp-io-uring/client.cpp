#include "client.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "answer.hpp"

namespace {

constexpr int submissions = 1024, completions = 4096;
constexpr int buffers = 1024;  // A power of two.
constexpr int buffer_bytes = 1024, buffer_group = 0;

std::string told(const std::string& what, int error) { return what + ": " + std::strerror(error); }

void check(int result, const std::string& what) {
  if (result < 0) throw std::runtime_error(told(what, -result));
}

}  // namespace

struct Client::Connection {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int pending = 0;  // Submissions that the kernel still has.
  bool ended = false;
  Then then = nullptr;  // Set while it is asked.
  std::string kept;     // The beginning of an answer whose rest is not there yet.

  ~Connection() { ::close(fd); }
};

Client::Client(const std::string& url) : buffers_(buffers * buffer_bytes) {
  const std::string_view scheme = "http://";
  const std::string rest = url.starts_with(scheme) ? url.substr(scheme.size()) : "";
  const auto host = rest.substr(0, rest.find('/')), ip = host.substr(0, host.find(':'));
  const auto path = rest.substr(host.size());
  int port = 80;
  if (host.size() > ip.size()) std::from_chars(host.data() + ip.size() + 1, host.data() + host.size(), port);
  address_.sin_family = AF_INET;
  address_.sin_port = htons(port);
  if (inet_pton(AF_INET, ip.c_str(), &address_.sin_addr) != 1) {
    throw std::runtime_error("not http, or not at an IPv4 address: " + url);
  }
  request_ = "GET " + (path.empty() ? "/" : path) + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n";

  io_uring_params params{};
  // One thread that looks at completions when it has nothing else to do: the kernel need not interrupt it.
  params.flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_CQSIZE;
  params.cq_entries = completions;
  check(io_uring_queue_init_params(submissions, &ring_, &params),
        "no io_uring (it takes Linux 6.1, and must be allowed)");
  buffer_ring_ = static_cast<io_uring_buf_ring*>(std::aligned_alloc(4096, buffers * sizeof(io_uring_buf)));
  if (!buffer_ring_) throw std::bad_alloc();
  io_uring_buf_ring_init(buffer_ring_);
  io_uring_buf_reg group{};
  group.ring_addr = reinterpret_cast<std::uintptr_t>(buffer_ring_);
  group.ring_entries = buffers;
  group.bgid = buffer_group;
  check(io_uring_register_buf_ring(&ring_, &group, 0), "io_uring_register_buf_ring");
  for (int buffer = 0; buffer < buffers; buffer++) give_back(buffer);
}

Client::~Client() {
  io_uring_queue_exit(&ring_);
  std::free(buffer_ring_);
}

void Client::get(Then then) {
  in_flight_++;
  if (!idle_.empty()) {
    Connection& connection = *idle_.back();
    idle_.pop_back();
    connection.then = std::move(then);
    return send(connection);
  }
  Connection& connection = *connections_.emplace_back(std::make_unique<Connection>());
  connection.then = std::move(then);
  if (connection.fd >= 0) return connect(connection);
  end(connection, told("socket", errno));
  let_go(connection);
}

void Client::run() {
  while (in_flight_ > 0) {
    const int result = io_uring_submit_and_wait(&ring_, 1);
    if (result != -EINTR) check(result, "io_uring_submit_and_wait");
    io_uring_cqe* completion;
    unsigned head, seen = 0;
    io_uring_for_each_cqe(&ring_, head, completion) {
      handle(*completion);
      seen++;
    }
    io_uring_cq_advance(&ring_, seen);
  }
  if (!failure_.empty()) throw std::runtime_error(std::exchange(failure_, ""));
}

io_uring_sqe& Client::submission() {
  io_uring_sqe* entry;
  while (!(entry = io_uring_get_sqe(&ring_))) check(io_uring_submit(&ring_), "io_uring_submit");
  return *entry;
}

void Client::begin(io_uring_sqe& entry, Connection& connection, Event event) {
  io_uring_sqe_set_data64(&entry, reinterpret_cast<std::uintptr_t>(&connection) | event);
  connection.pending++;
}

void Client::connect(Connection& connection) {
  const int yes = 1;
  ::setsockopt(connection.fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  auto& entry = submission();
  io_uring_prep_connect(&entry, connection.fd, reinterpret_cast<sockaddr*>(&address_), sizeof address_);
  begin(entry, connection, connected);
}

void Client::send(Connection& connection) {
  auto& entry = submission();
  // MSG_WAITALL has the kernel send the rest, too, where there is room for a part only.
  io_uring_prep_send(&entry, connection.fd, request_.data(), request_.size(), MSG_NOSIGNAL | MSG_WAITALL);
  begin(entry, connection, sent);
}

// One submission for all that will ever come; each time the kernel takes a buffer of the ring.
void Client::receive_all(Connection& connection) {
  auto& entry = submission();
  io_uring_prep_recv_multishot(&entry, connection.fd, nullptr, 0, 0);
  io_uring_sqe_set_flags(&entry, IOSQE_BUFFER_SELECT);
  entry.buf_group = buffer_group;
  begin(entry, connection, received);
}

void Client::give_back(int buffer) {
  io_uring_buf_ring_add(buffer_ring_, &buffers_[buffer * buffer_bytes], buffer_bytes, buffer,
                        io_uring_buf_ring_mask(buffers), 0);
  io_uring_buf_ring_advance(buffer_ring_, 1);
}

void Client::handle(const io_uring_cqe& completion) {
  auto& connection = *reinterpret_cast<Connection*>(completion.user_data & ~std::uintptr_t{events});
  const int result = completion.res;
  const bool more = completion.flags & IORING_CQE_F_MORE;
  if (!more) connection.pending--;

  switch (completion.user_data & events) {
    case connected:
      if (result < 0) {
        end(connection, told("connect", -result));
      } else {
        receive_all(connection);
        send(connection);
      }
      break;
    case sent:
      if (result < 0) end(connection, told("send", -result));
      break;
    case received:
      if (completion.flags & IORING_CQE_F_BUFFER) {
        const int buffer = completion.flags >> IORING_CQE_BUFFER_SHIFT;
        hear(connection, {&buffers_[buffer * buffer_bytes], static_cast<std::size_t>(std::max(result, 0))});
        give_back(buffer);
      }
      if (result == 0) end(connection, "the backend closed a connection");
      // Without a free buffer a receive ends. By the time of the next submission there are some again.
      if (result < 0 && result != -ENOBUFS) end(connection, told("receive", -result));
      if (!more && !connection.ended) receive_all(connection);
  }
  if (connection.ended && connection.pending == 0) let_go(connection);
}

void Client::hear(Connection& connection, std::string_view bytes) {
  if (connection.ended) return;
  if (!connection.then) return end(connection, "");
  // Most answers come whole, and are read where the kernel put them.
  if (!connection.kept.empty()) bytes = connection.kept.append(bytes);
  try {
    const auto answer = parsed(bytes);
    if (!answer) {
      if (connection.kept.empty()) connection.kept = bytes;
    } else if (answer->status != 200) {
      end(connection, "the backend answers " + std::to_string(answer->status));
    } else {
      const Then then = std::exchange(connection.then, nullptr);
      in_flight_--;
      if (answer->close) {
        end(connection, "");
      } else {
        idle_.push_back(&connection);
      }
      then(answer->body);
      connection.kept.clear();
    }
  } catch (const std::exception& error) {
    end(connection, error.what());
  }
}

// Of many failures one says enough.
void Client::end(Connection& connection, const std::string& why) {
  if (connection.ended) return;
  connection.ended = true;
  std::erase(idle_, &connection);
  if (std::exchange(connection.then, nullptr)) {
    in_flight_--;
    if (failure_.empty()) failure_ = why;
  }
  ::shutdown(connection.fd, SHUT_RDWR);  // Ends its receive.
}

void Client::let_go(Connection& connection) {
  std::erase_if(connections_, [&](const auto& any) { return any.get() == &connection; });
}
