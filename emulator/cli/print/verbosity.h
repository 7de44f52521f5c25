#pragma once
// --verbosity: which messages of a command are shown. Results are never hidden by it, but by
// --no-user-output-enabled, with all that is no message.

#include <string_view>

#include "emulator/cli/commands/commands.h"

namespace caip::cli {

/// The kinds of messages, as gcloud ranks them. What a command tells about its success is none.
enum class Message { kWarning, kError };

inline bool IsShown(const GcloudFlags& flags, Message message) {
  const std::string_view level = flags.verbosity;
  if (level == "none" || level == "critical") return false;
  return message == Message::kError || level != "error";
}

/// `io`, which must outlive it, less what these flags hide.
Io IoFor(const GcloudFlags& flags, const Io& io);

}  // namespace caip::cli
