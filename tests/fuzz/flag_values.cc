// The first byte of an input selects a kind of flag value. Any text is such a value, or an error
// that says what is wrong.

#include "client/flag_values.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json.h"
#include "client/vertex/worker_pools.h"
#include "run/queueing.h"

namespace {

using namespace caip;

template <typename Value>
void Check(const Result<Value>& read) {
  if (!read.ok() && read.error().message.empty()) std::abort();
}

// Pools that the flags accept can be sent.
void CheckPool(std::string_view text) {
  const auto pool = client::vertex::ParsePoolFlag(text);
  Check(pool);
  if (!pool.ok() || !client::vertex::CheckPoolFlags({*pool}).ok()) return;
  if (client::vertex::PoolSpecs({*pool}, {"gs://bkt/a.tar.gz"}, "").size() != 1) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 11) {
    case 0:
      Check(client::ParseList(text));
      break;
    case 1:
      Check(client::ParseDict(text));
      break;
    case 2:
      Check(client::ParseInteger(text));
      break;
    case 3:
      Check(client::ParseCount(text));
      break;
    case 4:
      Check(client::ParseAccelerator(text));
      break;
    case 5:
      Check(client::ParseLabels(text));
      break;
    case 6:
      Check(client::ParseObject(text));
      break;
    case 7:
      Check(run::ParseDelayModel(text));
      break;
    case 8:
      CheckPool(text);
      break;
    case 9:
      Check(client::ParseBoolean(text));
      break;
    default:
      Check(client::ParseStagingBucket(text));
      break;
  }
  return 0;
}
