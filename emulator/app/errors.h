#pragma once
// The errors that stop a command from reaching an emulator, or an emulator from starting.

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "emulator/app/settings/settings_table.h"

namespace caip::app::errors {

// Errors about the emulator that owns a state directory. After kAborted, the caller looks for the
// owner again.
Error LookAgain(std::string text);
Error NoEmulatorRuns(const Path& state);
/// For a command that needs an emulator with its jobs.
Error NoEmulatorToAsk(const Path& state);
Error OwnedByAnother();
Error ServerDidNotStart(std::string_view output, const Path& log);
/// The server was ended.
Error ServerTooSlow(std::chrono::milliseconds patience, std::string_view output, const Path& log);
Error ServerDoesNotEnd(pid_t pid);
/// Another program has the port that the owner of a state directory published.
Error OwnerDoesNotAnswer(pid_t pid, std::string_view url);
/// An owner that does not serve yet, and that cannot be signalled.
Error StarterOutOfReach(pid_t pid);
Error FlagsDoNotFit(std::string_view url, const std::vector<std::string>& present,
                    const std::vector<std::string>& wanted);
/// A note: jobs run with the virtual environment of the emulator that runs already.
std::string EnvironmentNotUsed(std::string_view url, std::string_view environment);
Error InterruptedWaiting(const Error& cause);
/// kCancelled.
Error StartInterrupted();
/// kUnavailable.
Error InUse();
Error Ending();

// Errors of clients' tokens. kInvalidArgument.
/// The file of --token.
Error TokenFileOpen(const Path& file);
Error TokenFileOfAnotherUser(const Path& file, uid_t owner);
Error NotAToken(const Path& file, size_t least, size_t most);
/// Other hosts can reach the address.
Error NotAnAddress(std::string_view text);
Error AddressNeedsToken(std::string_view address);
Error AddressForbidsAllUsers(std::string_view address);

// Errors in settings.
Error ConfigNotAMapping(const Path& file);
/// Joins all violations to one error with a line `field: description` for each.
Error BadFlags(std::vector<FieldViolation> violations);
/// Does the same for violations that contain their position.
Error BadConfigFile(std::vector<FieldViolation> violations);
std::string UnknownSetting(std::string_view key, const std::vector<std::string>& known);
/// `problem` continues a sentence about the value: "must be a text".
std::string WrongSetting(std::string_view key, std::string_view problem);
/// `shown`: one of the two texts above, with its place.
FieldViolation BadSetting(std::string_view key, std::string_view shown);
/// The value of a flag, without the flag's name.
Error FlagRefused(std::string_view problem);
/// kInvalidArgument: the command line names the file.
Error ConfigMissing(const std::string& file);
FieldViolation BadFlag(std::string_view flag, std::string_view text);

SettingProblem NotAText();
SettingProblem NotTrueOrFalse();
SettingProblem NotAListOfTexts();
SettingProblem NotAMapping();
SettingProblem NotOneOf(std::string_view value, const std::vector<std::string>& choices);
SettingProblem Because(const Error& cause);
SettingProblem NotADuration(std::string_view value);
SettingProblem NotADiskSize(std::string_view value);
/// For --allow-users.
SettingProblem NotAUser(std::string_view name);
SettingProblem NotASeed(std::string_view value);
SettingProblem NotANumberUpTo(uint64_t most, std::string_view zero);
/// For --map-image.
SettingProblem NotAnImage(std::string_view value);
SettingProblem NotAnImageName(std::string_view image);
SettingProblem NotACommand(std::string_view image);
SettingProblem NotAPython(std::string_view text);
SettingProblem NotAnInterpreter(std::string_view version);
SettingProblem NotAnExport(std::string_view member);
SettingProblem NotADirectory(std::string_view member);
SettingProblem ExportRepeated(std::string_view member, std::string_view source);
SettingProblem NotACompanion(std::string_view name, const std::vector<std::string>& known);
SettingProblem NotAnSdkPath();

// A system call failed.
/// kUnavailable.
Error TooFewDescriptors(uint64_t limit, uint64_t needed);
Error CannotStartServer(int error_number);
Error CannotMakeSockets(int error_number);

}  // namespace caip::app::errors
