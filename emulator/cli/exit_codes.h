#pragma once
// Exit codes of caip. Scripts rely on them; they are gcloud's where gcloud has the command.

namespace caip::cli {

enum ExitCode : int {
  kExitSuccess = 0,        // done; with --stream-logs: the job SUCCEEDED
  kExitFailure = 1,        // refused or failed; with --stream-logs: the job did not succeed
  kExitUsage = 2,          // the words of the command line are wrong; nothing was done
  kExitCannot = 3,         // scenarios: this host cannot run it; the message says why
  kExitOurFault = 4,       // scenarios: caip itself broke
  kExitInterrupted = 130,  // Ctrl-C before the command had an outcome
};

}  // namespace caip::cli
