// A worker on the kit that does what params.do says, for `kumite kit-test`.
#include "kumite.hpp"

kumite::Answer perform(kumite::Job& job) {
  const std::string what = job.params.at("do");
  if (what == "echo") return {job.params.at("value")};
  if (what == "empty") return {};
  if (what == "fail") throw std::runtime_error(job.params.at("message"));
  if (what == "sleep") {
    std::this_thread::sleep_for(std::chrono::milliseconds(job.params.at("ms")));
    return {};
  }
  if (what == "events") {
    job.event("next", "one");
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    job.event("complete", "two");
    return {};
  }
  if (what == "metrics") return {.metrics = {{"answer_count", 42}}};
  throw std::runtime_error("do what? " + what);
}

int main() { return kumite::serve("cpp-conformance", perform); }
