// Stores records in Tkrzw's hash database, a batch at a time, in the way that its argument names.
#include <tkrzw_dbm_async.h>
#include <tkrzw_dbm_hash.h>

#include <filesystem>
#include <memory>

#include "kumite.hpp"

using tkrzw::AsyncDBM, tkrzw::HashDBM, tkrzw::Status;

constexpr long records_max = 100'000'000;  // Their numbers have eight digits.

// Stores records [from, to): begins them all, then checks every status, and gives one of those that say
// failure.
using Batch = std::function<Status(long from, long to)>;
// What a batch needs beside the database ends with it.
using Model = std::function<Batch(HashDBM&)>;

// The key and the value of a record: its number in eight digits.
std::string digits(long n) {
  std::string text(8, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, n /= 10) *digit += n % 10;
  return text;
}

Batch one_after_another(HashDBM& dbm) {
  return [&dbm](long from, long to) {
    Status failure;
    for (long n = from; n < to; ++n) {
      const auto key = digits(n);
      failure |= dbm.Set(key, key);
    }
    return failure;
  };
}

// The library's own asynchronous interface, with one thread.
Batch asynchronous(HashDBM& dbm) {
  return [async = std::make_shared<AsyncDBM>(&dbm, 1)](long from, long to) {
    std::vector<std::future<Status>> statuses;
    statuses.reserve(to - from);
    for (long n = from; n < to; ++n) {
      const auto key = digits(n);
      statuses.push_back(async->Set(key, key));
    }
    Status failure;
    for (auto& status : statuses) failure |= status.get();
    return failure;
  };
}

std::shared_ptr<HashDBM> make(const std::string& path, long records) {
  auto dbm = std::make_shared<HashDBM>();
  HashDBM::TuningParameters tuning;
  tuning.num_buckets = 2 * records;
  dbm->OpenAdvanced(path, true, tkrzw::File::OPEN_TRUNCATE, tuning).OrDie();
  return dbm;
}

// Ends with the first batch that has a failure. Gives how many records are in batches of which every status
// said success.
long store(const Batch& batch, long records, long batch_size) {
  for (long from = 0; from < records; from += batch_size) {
    const long to = std::min(from + batch_size, records);
    if (const Status status = batch(from, to); !status.IsOK()) {
      std::cerr << "records " << from << " to " << to - 1 << ": " << status << std::endl;
      return from;
    }
  }
  return records;
}

// Reads the file: how many records it has, and 1,000 of them, evenly spread, the first and the last included.
kumite::Answer check(const std::string& path, long records, long stored) {
  HashDBM dbm;
  dbm.Open(path, false).OrDie();
  const long sample = std::min(records, 1000L);
  long missing = 0, wrong = 0;
  for (long i = 0; i < sample; ++i) {
    const auto key = digits(i * (records - 1) / std::max(sample - 1, 1L));
    std::string value;
    if (!dbm.Get(key, &value).IsOK()) {
      ++missing;
    } else if (value != key) {
      ++wrong;
    }
  }
  // A record that is missing in the sample is one of those that the count lacks, unless another came in its
  // place.
  const long lost = std::max<long>(records - dbm.CountSimple(), missing);
  const long garbled = std::max<long>(dbm.CountSimple() - records, 0) + wrong;
  dbm.Close().OrDie();
  const double file_bytes = std::filesystem::file_size(path);
  std::filesystem::remove(path);
  return {.result = {{"stored", stored}, {"lost", lost}, {"garbled", garbled}},
          .metrics = {{"file_bytes", file_bytes}, {"lost_records", lost}, {"garbled_records", garbled}}};
}

int main(int argc, char** argv) {
  const std::string name = argv[argc - 1];
  if (name == "--version") {
    std::cout << "GCC " __VERSION__ ", Tkrzw " << tkrzw::PACKAGE_VERSION << std::endl;
    return 0;
  }
  const std::map<std::string, Model> models = {{"cpp-sync", one_after_another}, {"cpp-async", asynchronous}};
  const auto scratch = std::getenv("SCRATCH");
  if (!models.contains(name) || !scratch) {
    std::cerr << "SCRATCH is not set, or no contender is called " << name << std::endl;
    return 1;
  }
  const std::string path = std::string(scratch) + "/records.tkh";
  return kumite::serve(name, [&](kumite::Job& job) -> kumite::Answer {
    const long records = job.params.at("records"), batch_size = job.params.at("batch_size");
    if (records < 1 || records > records_max || batch_size < 1) {
      throw std::runtime_error("records is 1 to 100,000,000, and batch_size at least 1");
    }
    const auto dbm = make(path, records);
    Batch batch = models.at(name)(*dbm);
    const long stored = store(batch, records, batch_size);
    return {.after = [=]() mutable {
      batch = nullptr;
      dbm->Close().OrDie();
      return check(path, records, stored);
    }};
  });
}
