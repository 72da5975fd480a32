// A small HTTP/1.1 client: one thread, connections that are kept, and io_uring for all that the kernel does.
#pragma once

#include <liburing.h>
#include <netinet/in.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

class Client {
 public:
  // Is given the body of an answer.
  using Then = std::function<void(std::string_view)>;

  explicit Client(const std::string& url);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Asks on an idle connection, or on a new one where there is none. Nothing leaves before `run`.
  void get(Then then);

  // Goes on until all that was asked has ended, and throws what failed first.
  void run();

 private:
  struct Connection;
  // What a completion is about: the lowest bits of its user data, beside the connection's address.
  enum Event : std::uintptr_t { connected, sent, received, events };

  io_uring_sqe& submission();
  void begin(io_uring_sqe& entry, Connection& connection, Event event);
  void connect(Connection& connection);
  void send(Connection& connection);
  void receive_all(Connection& connection);

  void handle(const io_uring_cqe& completion);
  void hear(Connection& connection, std::string_view bytes);
  void end(Connection& connection, const std::string& why);
  void let_go(Connection& connection);
  void give_back(int buffer);

  std::string request_;
  sockaddr_in address_{};
  io_uring ring_{};
  io_uring_buf_ring* buffer_ring_ = nullptr;
  std::vector<char> buffers_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> idle_;
  int in_flight_ = 0;
  std::string failure_;
};
