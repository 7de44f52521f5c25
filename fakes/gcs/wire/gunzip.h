#pragma once
// Decompressive transcoding: an object stored as gzip, for a client that does not take gzip.
// https://cloud.google.com/storage/docs/transcoding

#include "fakes/gcs/store/bucket_store.h"
#include "http/message.h"

namespace caip::gcs {

/// True when the client must get the object's bytes unpacked.
bool MustGunzip(const http::Request& request, ObjectReader& reader);

/// Unpacks into the sink, in constant memory; all members of the file. False when the bytes are
/// broken or the peer is gone.
bool Gunzip(ObjectReader& reader, const http::Response::Sink& sink);

}  // namespace caip::gcs
