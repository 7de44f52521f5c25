#include "emulator/cli/print/format_errors.h"

#include "base/text.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/print/format_expression.h"

namespace caip::cli::errors {
namespace {

Error Format(std::string text) {
  return Argument("--format", {Code::kInvalidArgument, std::move(text)});
}

std::string Bracketed(std::string_view text) { return "[" + std::string(text) + "]"; }

// What does nearly the same: formats of gcloud that are not here, else the one that was mistyped.
std::string Instead(std::string_view format, const std::vector<std::string>& formats) {
  if (format == "config") return "flattened";
  if (format == "object" || format == "diff") return "yaml";
  if (format == "multi") return "json";
  return NearestName(LowerCase(format), formats);
}

}  // namespace

// Declared in errors.h.
Error UnknownFormat(std::string_view format) {
  const std::vector<std::string>& formats = FormatNames();
  const std::string instead = Instead(format, formats);
  return Format("Format must be one of " + Join(formats, ", ") + "; received " + Bracketed(format) +
                "." + (instead.empty() ? "" : " Nearest to it is " + instead + "."));
}

Error FormatNotTaken() {
  return Format("What this command prints has one form. Leave --format out.");
}

Error FormatNeedsKeys(std::string_view format) {
  const std::string name(format);
  return Format("Format " + Bracketed(format) +
                " requires a non-empty projection. Say which keys to print: " + name +
                "(jobId,trainingInput.region).");
}

Error FormatBroken(std::string_view what, std::string_view place) {
  return Format(std::string(what) + " " + Bracketed(place) + ".");
}

Error FormatAttributeUnknown(std::string_view format, std::string_view attribute,
                             const std::vector<std::string>& known) {
  return Format("Format " + std::string(format) + " has no attribute " + Bracketed(attribute) +
                " here; it has " + (known.empty() ? "" : Join(known, ", ") + ", ") +
                "no-transforms and private.");
}

Error KeyAttributeUnknown(std::string_view attribute, bool table) {
  return Format("There is no key attribute " + Bracketed(attribute) + " here; use label=TEXT" +
                (table ? ", align=left|center|right, sort=N, reverse and optional." : "."));
}

Error TransformUnknown(std::string_view transform, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(transform, known);
  return Format("There is no transform " + Bracketed(transform) + " here; use " +
                Join(known, "(), ") + "() or map()." +
                (nearest.empty() ? "" : " Nearest to it is " + nearest + "()."));
}

Error TransformTakes(std::string_view transform, const std::vector<std::string>& parameters) {
  return Format("Transform " + std::string(transform) + "() takes " +
                (parameters.empty() ? std::string("nothing")
                                    : "at most " + Join(parameters, ", ") + ", each once") +
                ".");
}

Error TransformArgument(std::string_view transform, std::string_view parameter,
                        std::string_view value, std::string_view rule) {
  return Format("Transform " + std::string(transform) + "() has " + std::string(parameter) + "=" +
                std::string(value) + "; it must be " + std::string(rule) + ".");
}

}  // namespace caip::cli::errors
