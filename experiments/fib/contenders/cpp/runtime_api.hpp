// A client of the Lambda Runtime API, as far as a function of our own needs it.
#pragma once
#include <curl/curl.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

class RuntimeApi {
 public:
  using Json = nlohmann::json;

  explicit RuntimeApi(const std::string& host) : base_("http://" + host + "/2018-06-01/runtime/invocation/") {
    if (!curl_) throw std::runtime_error("curl_easy_init");
  }

  // Answers one call after another, for good. An exception is the answer to its call.
  [[noreturn]] void serve(const std::function<Json(const Json&)>& handle) {
    for (;;) {
      const auto event = next();
      try {
        post("/response", handle(Json::parse(event)));
      } catch (const Failure&) {
        throw;
      } catch (const std::exception& error) {
        post("/error", {{"errorType", "Exception"}, {"errorMessage", error.what()}});
      }
    }
  }

 private:
  // Of the API itself; there is nobody to tell it to.
  struct Failure : std::runtime_error {
    using runtime_error::runtime_error;
  };

  std::string next() {
    request_id_.clear();
    const auto body = request("next", nullptr);
    if (request_id_.empty()) throw Failure("the Runtime API names no request");
    return body;
  }

  void post(const std::string& what, const Json& answer) {
    const auto body = answer.dump();
    request(request_id_ + what, &body);
  }

  // Without a limit of time: the next call may be hours away. One handle, so that the connection is kept.
  std::string request(const std::string& path, const std::string* body) {
    std::string answer;
    curl_easy_reset(curl_.get());
    set(CURLOPT_URL, (base_ + path).c_str());
    set(CURLOPT_FAILONERROR, 1L);
    set(CURLOPT_PROXY, "");
    set(CURLOPT_HEADERFUNCTION, &on_header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_WRITEFUNCTION, &on_body);
    set(CURLOPT_WRITEDATA, &answer);
    if (body) {
      set(CURLOPT_POSTFIELDSIZE, static_cast<long>(body->size()));
      set(CURLOPT_POSTFIELDS, body->c_str());
    }
    if (const auto code = curl_easy_perform(curl_.get()))
      throw Failure(path + ": " + curl_easy_strerror(code));
    return answer;
  }

  template <typename Value>
  void set(CURLoption option, Value value) {
    curl_easy_setopt(curl_.get(), option, value);
  }

  static std::size_t on_header(char* line, std::size_t size, std::size_t count, void* self) {
    constexpr std::string_view name = "lambda-runtime-aws-request-id:";
    const std::string_view header(line, size * count);
    if (header.size() >= name.size() && curl_strnequal(line, name.data(), name.size())) {
      const auto value = header.substr(name.size());
      const auto from = value.find_first_not_of(" \t");
      const auto to = value.find_last_not_of(" \t\r\n");
      if (to != value.npos) static_cast<RuntimeApi*>(self)->request_id_ = value.substr(from, to - from + 1);
    }
    return header.size();
  }

  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* answer) {
    static_cast<std::string*>(answer)->append(bytes, size * count);
    return size * count;
  }

  std::string base_;
  std::string request_id_;
  std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl_{curl_easy_init(), curl_easy_cleanup};
};
