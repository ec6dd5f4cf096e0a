// One MCP server: its offer, and its state between requests. There are two: /mcp, and /azure/mcp with the
// tools of Azure's session pools.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "api/app.h"
#include "api/mcp/default_sessions.h"
#include "api/mcp/extension.h"
#include "api/mcp/legacy_session.h"
#include "api/mcp/tasks.h"
#include "api/mcp/tool.h"

namespace sk::api::mcp {

struct Offer {
  std::string name;  // of the server, shown by clients
  std::string title;
  std::string instructions;
  Tools tools;
  bool has_sessions = true;   // Mcp-Session-Id and the features that need it
  bool has_resources = true;  // also prompts and completion
};

// Created with the routes and owned by their handlers. The app outlives it. Any thread.
class Hub {
 public:
  Hub(App& the_app, Offer the_offer);

  App& app;
  const Offer offer;
  const Extension* const extension;  // null: none
  LegacySessions sessions;
  DefaultSessions default_sessions;
  Tasks tasks;

  Json server_info() const;
  Json capabilities(Era era, const std::string& version) const;
  // Returns null when there is no such tool, or when the actor's key may not use it.
  const Tool* find_tool(std::string_view name, const workspace::Actor& actor) const;
  Json list_tools(const workspace::Actor& actor, const std::string& version) const;
};

Offer main_offer();
Offer azure_offer();

}  // namespace sk::api::mcp
