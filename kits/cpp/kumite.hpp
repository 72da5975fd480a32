// Speaks kumite's task protocol: jobs come in on standard input, answers go out on standard output.
#pragma once

#include <unistd.h>

#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

namespace kumite {

using json = nlohmann::json;
using Clock = std::chrono::steady_clock;

inline constexpr std::size_t line_bytes_max = 16 << 20;

// What a job gives.
struct Answer {
  json result = nullptr;
  std::map<std::string, double> metrics = {};  // by name, unit last
  std::function<Answer()> after = nullptr;     // if set, makes the answer once the clock has stopped
};

// One job. Its functions may be called from any thread.
class Job {
 public:
  const json params;

  explicit Job(json params) : params(std::move(params)), wanted_(this->params.value("events", false)) {}

  // Records that something of this kind happened now, on this thread.
  void event(const std::string& kind, const std::string& id) {
    if (wanted_) event_on("thread-" + std::to_string(gettid()), kind, id);
  }

  // The same on a thread of this name.
  void event_on(const std::string& thread, const std::string& kind, const std::string& id) {
    if (!wanted_) return;
    const auto at = elapsed_ns();
    const std::lock_guard lock(mutex_);
    events_.push_back({at, thread, kind, id});
  }

  long long elapsed_ns() const { return std::chrono::nanoseconds(Clock::now() - began_).count(); }

  std::optional<json> events() {
    const std::lock_guard lock(mutex_);
    return wanted_ ? std::optional(events_) : std::nullopt;
  }

 private:
  const bool wanted_;
  std::mutex mutex_;
  json events_ = json::array();
  const Clock::time_point began_ = Clock::now();  // The last member: all else is ready.
};

inline json failed(const json& number, std::string why) {
  for (char& letter : why) letter = letter == '\n' ? ' ' : letter;
  return {{"job", number}, {"error", why}};
}

inline void send(const json& answer) {
  const auto text = [](const json& any) {
    return any.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  };
  std::string line = text(answer);
  if (line.size() > line_bytes_max) {
    line = text(failed(answer.value("job", json()),
                       "an answer of " + std::to_string(line.size()) + " bytes is more than 16 MiB"));
  }
  std::cout << line << std::flush;
}

inline json answered(const json& number, json params, const std::function<Answer(Job&)>& run) try {
  Job job(params.is_object() ? std::move(params) : json::object());
  Answer answer = run(job);
  const auto elapsed_ns = job.elapsed_ns();
  send({{"done", number}});
  if (answer.after) answer = answer.after();
  json line = {{"job", number}, {"elapsed_ns", elapsed_ns}, {"result", std::move(answer.result)}};
  if (!answer.metrics.empty()) line["metrics"] = answer.metrics;
  if (auto events = job.events()) line["events"] = std::move(*events);
  return line;
} catch (const std::exception& error) {
  return failed(number, error.what());
} catch (...) {
  return failed(number, "threw what is no std::exception");
}

// Does the jobs of standard input, one after the other, until it ends; gives the exit status of the process.
// An exception of `run` is the job's answer.
inline int serve(const std::string& name, const std::function<Answer(Job&)>& run) {
#ifdef __clang__
  const std::string runtime = __VERSION__;
#else
  const std::string runtime = "GCC " __VERSION__;
#endif
  const json hello = {{"hello", 1},
                      {"name", name},
                      {"runtime", runtime},
                      {"pid", getpid()},
                      {"cores", std::thread::hardware_concurrency()}};
  std::ios::sync_with_stdio(false);
  std::string line;
  for (int byte;
       (byte = std::cin.rdbuf()->sbumpc()) != EOF;) {  // What the end of the input cuts off is no line.
    if (byte != '\n' && line.size() < line_bytes_max) {
      line += static_cast<char>(byte);
      continue;
    }
    json request = json::parse(line, nullptr, false);
    if (request.is_object() && request.contains("hello")) {
      send(hello);
    } else if (request.is_object() && request.contains("job") && request["job"].is_number_unsigned() &&
               request["job"] > 0) {
      send(answered(request["job"], std::move(request["params"]), run));
    } else {
      std::cerr << "not a request: " << line.substr(0, 200) << std::endl;
      return 2;
    }
    line.clear();
  }
  return 0;
}

}  // namespace kumite
