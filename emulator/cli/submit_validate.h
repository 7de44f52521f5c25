#pragma once
// --validate-only: the service's own rules, asked without a service.

#include "base/json_fwd.h"
#include "base/result.h"
#include "emulator/cli/emulator_flags.h"
#include "http/client.h"

namespace caip::cli {

/// What POST create would say of `job`, but for what only Cloud Storage and other jobs can tell.
Status CheckAsService(const Json& job, const EmulatorFlags& flags);

/// `error` as the service would answer it.
http::ClientResponse AsAnswer(const Error& error);

}  // namespace caip::cli
