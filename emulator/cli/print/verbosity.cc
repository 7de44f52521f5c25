#include "emulator/cli/print/verbosity.h"

namespace caip::cli {
namespace {

// What a command says to people begins with its kind, as gcloud's messages do.
bool IsShown(const GcloudFlags& flags, std::string_view text) {
  if (text.starts_with("ERROR: (caip.")) return IsShown(flags, Message::kError);
  if (text.starts_with("WARNING: ")) return IsShown(flags, Message::kWarning);
  return flags.user_output_enabled;
}

}  // namespace

Io IoFor(const GcloudFlags& flags, const Io& io) {
  Io shown = io;
  shown.out = [flags, &io](std::string_view text) {
    if (flags.user_output_enabled) io.out(text);
  };
  shown.err = [flags, &io](std::string_view text) {
    if (IsShown(flags, text)) io.err(text);
  };
  return shown;
}

}  // namespace caip::cli
