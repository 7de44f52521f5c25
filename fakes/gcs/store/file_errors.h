#pragma once
// Errors of the system calls on the files of buckets, objects and parts. Each takes errno.

#include <string_view>

#include "base/errors.h"

namespace caip::gcs::errors {

/// The kernel, or what stands between it and this process, refuses openat2.
Error NoOpenat2(int error_number);
Error CannotOpenBucket(std::string_view bucket, int error_number);
Error CannotListBuckets(int error_number);
Error CannotMakeBucket(std::string_view bucket, int error_number);
Error CannotRemoveBucket(std::string_view bucket, int error_number);
Error CannotSyncBucket(int error_number);
Error CannotSyncBuckets(int error_number);
Error CannotSyncVersions(std::string_view bucket, int error_number);
Error CannotOpenObject(std::string_view object, int error_number);
Error CannotReadObject(std::string_view object, int error_number);
Error CannotReadObjectFile(int error_number);
Error CannotBeginObject(std::string_view object, int error_number);
Error CannotContinueObject(std::string_view object, int error_number);
Error CannotWriteObject(std::string_view object, int error_number);
Error CannotSyncObject(std::string_view object, int error_number);
Error CannotPlaceObject(std::string_view object, int error_number);
/// Without errno.
Error NewFileRemoved(std::string_view object);
Error CannotLookAtObject(std::string_view object, int error_number);
Error CannotMoveObject(std::string_view object, int error_number);
Error CannotDeleteObject(std::string_view object, int error_number);
Error CannotKeepVersion(std::string_view object, int error_number);
Error CannotMakeDirectoryOf(std::string_view object, int error_number);
Error CannotOpenDirectoryOf(std::string_view object, int error_number);
Error CannotMakeRoomFor(std::string_view object, int error_number);
Error CannotKeepPart(int error_number);
Error CannotWritePart(int error_number);
Error CannotReadPart(int error_number);

}  // namespace caip::gcs::errors
