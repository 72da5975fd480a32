// Asks a backend many times, one after another or all at once, on one thread and io_uring.
#include <sys/utsname.h>

#include <cstdlib>
#include <iostream>
#include <kumite.hpp>
#include <map>

#include "client.hpp"

using kumite::json;
using Bodies = std::vector<std::string>;

struct FanOut {
  Client& client;
  int to_ask;
  Bodies bodies = {};

  // Once for each answer it asks again, as long as there is something to ask.
  void ask() {
    to_ask--;
    client.get([this](std::string_view body) {
      bodies.emplace_back(body);
      if (to_ask > 0) ask();
    });
  }
};

json counted(const std::vector<Bodies>& fan_outs) {
  json counts = json::array();
  for (const auto& bodies : fan_outs) {
    std::map<std::string, int> count;
    for (const auto& body : bodies) count[body]++;
    counts.push_back(count);
  }
  return counts;
}

kumite::Answer fan_out(Client& client, const json& params) {
  const std::string form = params.at("form");
  if (form != "sequential" && form != "parallel") {
    throw std::runtime_error("params.form is neither sequential nor parallel");
  }
  const int requests = params.at("requests"), jobs = params.at("jobs");
  std::vector<FanOut> fan_outs(jobs, FanOut{client, requests});
  for (auto& one : fan_outs) {
    const int at_once = form == "parallel" ? requests : std::min(requests, 1);
    for (int nth = 0; nth < at_once; nth++) one.ask();
  }
  client.run();

  std::vector<Bodies> bodies;
  for (auto& one : fan_outs) bodies.push_back(std::move(one.bodies));
  return {.after = [bodies = std::move(bodies)] { return kumite::Answer{counted(bodies)}; }};
}

int main(int count, char** words) try {
  if (count > 1 && std::string(words[1]) == "--version") {
    utsname os;
    uname(&os);
    std::cout << "GCC " __VERSION__ ", io_uring of " << os.sysname << " " << os.release << std::endl;
    return 0;
  }
  const char* url = std::getenv("BACKEND_URL");
  if (!url) throw std::runtime_error("BACKEND_URL is not set");
  Client client(url);
  return kumite::serve("cpp-io-uring", [&](kumite::Job& job) { return fan_out(client, job.params); });
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
