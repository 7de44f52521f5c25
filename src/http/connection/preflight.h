#pragma once
// CORS: a browser asks before it sends what a form could not.

#include "http/message.h"

namespace caip::http {

/// OPTIONS with an Origin and the method that is to follow.
bool IsPreflight(const Request& request);

/// Allows what is asked. Only for an Origin that passed the guard: our own pages'.
Response PreflightAnswer(const Request& request);

}  // namespace caip::http
