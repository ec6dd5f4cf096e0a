// Fetches files of a remote interpreter: OpenAI containers, Foundry, Azure dynamic sessions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bridge/remote_server.h"
#include "bridge/source.h"

namespace sk::bridge {

// A file as a message names it: the container and at least one of file_id, paths, name.
struct WantedFile {
  std::string container;
  std::string file_id;             // "cfile_…", "file-…"
  std::string name;                // without folders
  std::vector<std::string> paths;  // below /mnt/data, most likely first
  std::string url;                 // a web address, used instead of all other fields
};

struct Fetched {
  enum class Outcome {
    ok,
    missing,      // the container exists without such a file: the model invented the link
    gone,         // it existed and was deleted
    denied,       // the key has no access
    cannot_tell,  // no conclusive answer
  };
  Outcome outcome = Outcome::cannot_tell;
  std::string explanation;  // for users; empty when ok
  std::string path;         // below /mnt/data; empty if unknown
};

// For one job; one thread. Requests the listing of each container once.
class Upstream {
 public:
  virtual ~Upstream() = default;
  // Fetches a file. If the outcome is ok, `sink` has the bytes; otherwise discard its contents.
  virtual Fetched fetch(const WantedFile& wanted, ByteSink& sink) = 0;
};

std::unique_ptr<Upstream> open_upstream(const RemoteSource& source, const RemoteOptions& options,
                                        Patience& patience);

// Fetches files by `url` from any permitted address. Sends the source's key to its own host only.
std::unique_ptr<Upstream> open_web(const RemoteSource& source, const RemoteOptions& options,
                                   Patience& patience);

// A file in a container's listing.
struct ListedFile {
  std::string id;    // empty if files have no ids
  std::string path;  // below /mnt/data
};
// Finds the wanted file by id, else by path. Uses the name alone only for a citation without a path, and only
// if exactly one file has it. Returns null if there is no match. The result points into `listed`.
const ListedFile* find_meant(const WantedFile& wanted, const std::vector<ListedFile>& listed);

// Derives the outcome from a response. Never claims more than the response proves.
Fetched::Outcome verdict_on(const RemoteAnswer& answer);

// Returns the endpoints that may serve a Foundry project's containers, most likely first. Downloads can fail
// at the project's endpoint and work at the account's, or vice versa.
std::vector<std::string> foundry_endpoints(const std::string& base_url);

}  // namespace sk::bridge
