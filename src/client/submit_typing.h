#pragma once
// Reads and writes a config file as gcloud's generated client does. The client rejects some values,
// converts others, and passes on values that it does not know.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "google/message_schema.h"

namespace caip::client {

/// A file after gcloud's client has read and written it.
struct TypedFile {
  Json job = {};                            // unknown names are kept
  std::vector<FieldViolation> faults = {};  // values on which the client crashes
  std::vector<FieldViolation> traps = {};   // values that it silently converts or passes on
  std::vector<std::string> unknown = {};    // pointers of names that the client does not know
  std::string crash = {};                   // what the client says of the first fault
};

/// Types the values of `file` as the client does. The file need not be a Job.
TypedFile TypeFile(const Json& file);
/// The same for another message. The file need not be one. `not_sent`: the pointer of a member that
/// the client replaces before it writes the message as JSON; "" none.
TypedFile TypeFileAs(const google::MessageSchema& message, const Json& file,
                     const std::string& not_sent = "");

/// The value names of an enum field ("trainingInput.scaleTier"), numbered from 0. The field must
/// exist.
std::span<const std::string_view> EnumNames(std::string_view path);

/// kInvalidArgument if a Job has no field with this path: "trainingInput.region", "labels.team".
Status CheckJobField(std::string_view path);

/// True if the client knows `value` for the enum field `path` ("trainingInput.scaleTier").
bool IsKnownEnum(std::string_view path, const Json& value);

}  // namespace caip::client
