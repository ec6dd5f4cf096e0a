// Translates the settings into the option structs of the rooms. A field that is missing here does not
// compile, because those structs have no defaults for settings.
#pragma once

#include "api/settings.h"
#include "http/server.h"
#include "interpreter/options.h"
#include "sandbox/host.h"
#include "server/settings.h"
#include "server/tls_files.h"
#include "workspace/keep.h"

namespace sk::server {

workspace::KeepOptions keep_options(const Settings& settings, workspace::TypeOfBytes type_of_bytes);
http::ServerOptions http_options(const Settings& settings, const TlsFiles& tls);
sandbox::SandboxHost::Options sandbox_options(const Settings& settings);
// Logs a warning if the boot id cannot be read.
interpreter::InterpreterOptions interpreter_options(const Settings& settings);
api::DialectSettings api_settings(const Settings& settings);

}  // namespace sk::server
