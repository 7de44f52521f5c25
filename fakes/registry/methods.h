#pragma once
// The methods of the API: each reads a request, calls the service and renders the answer. Private
// to fakes/registry.

#include "fakes/registry/registry.h"
#include "http/message.h"
#include "http/router.h"

namespace caip::registry {

using http::PathParameters;
using http::Request;
using http::Response;

/// A method of the API. errors::ToResponse renders its error.
using Method = Result<Response> (*)(Registry&, const Request&, const PathParameters&);

// blob_methods.cc
Result<Response> GetBlob(Registry&, const Request&, const PathParameters&);
Result<Response> DeleteBlob(Registry&, const Request&, const PathParameters&);

// upload_methods.cc
Result<Response> StartUpload(Registry&, const Request&, const PathParameters&);
Result<Response> GetUpload(Registry&, const Request&, const PathParameters&);
Result<Response> PatchUpload(Registry&, const Request&, const PathParameters&);
Result<Response> PutUpload(Registry&, const Request&, const PathParameters&);
Result<Response> DeleteUpload(Registry&, const Request&, const PathParameters&);

// manifest_methods.cc
Result<Response> GetManifest(Registry&, const Request&, const PathParameters&);
Result<Response> PutManifest(Registry&, const Request&, const PathParameters&);
Result<Response> DeleteManifest(Registry&, const Request&, const PathParameters&);

// list_methods.cc
Result<Response> CheckVersion(Registry&, const Request&, const PathParameters&);
Result<Response> GetToken(Registry&, const Request&, const PathParameters&);
Result<Response> ListRepositories(Registry&, const Request&, const PathParameters&);
Result<Response> ListTags(Registry&, const Request&, const PathParameters&);
Result<Response> ListReferrers(Registry&, const Request&, const PathParameters&);

// registry_api.cc

/// The repository {name} of a request.
Result<Repository> RepositoryIn(const Request& request, const PathParameters& path);
/// "/v2/project/image".
std::string PathOf(const Repository& repository);
/// A response without a body.
Response EmptyResponse(int status);
/// Adds the fields with which a browser does not run data of a client as a page of the emulator.
void ForbidActingAsPage(Response* response);

}  // namespace caip::registry
