// An interpreter elsewhere, as far as its files go: OpenAI's containers, Foundry's, Azure's dynamic sessions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bridge/remote.h"
#include "bridge/source.h"

namespace sk::bridge {

// A file as a message names it; container and at least one of file_id, paths, name.
struct WantedFile {
  std::string container;
  std::string file_id;             // "cfile_…", "file-…"
  std::string name;                // without folders
  std::vector<std::string> paths;  // below /mnt/data, the likeliest first
  std::string url;                 // instead of all that: an address on the web
};

struct Fetched {
  enum class Outcome {
    ok,
    missing,      // the container is there, and has no such file: the link was invented
    gone,         // it was there, and is not any more
    denied,       // the key may not have it
    cannot_tell,  // no clear answer came
  };
  Outcome outcome = Outcome::cannot_tell;
  std::string explanation;  // for people; empty when ok
  std::string path;         // below /mnt/data, where known
};

// For one job; one thread. Listings are asked for once per container.
class Upstream {
 public:
  virtual ~Upstream() = default;
  // The bytes go to `sink` when the outcome is ok; otherwise what the sink has is to be forgotten.
  virtual Fetched fetch(const WantedFile& wanted, ByteSink& sink) = 0;
};

std::unique_ptr<Upstream> open_upstream(const Source& source, const RemoteOptions& options,
                                        Patience& patience);

// Fetches files by their `url`, from anywhere that may be called at all. The source's key goes to its own
// host only.
std::unique_ptr<Upstream> open_web(const Source& source, const RemoteOptions& options, Patience& patience);

// A file as a container lists it.
struct ListedFile {
  std::string id;    // empty where files have none
  std::string path;  // below /mnt/data
};
// The one that is meant: by its id, else by its path. Other files of the same name are not it. Only what is
// cited without a path is looked for by its name alone, and only where one file has it. Null for none.
const ListedFile* find_meant(const WantedFile& wanted, const std::vector<ListedFile>& listed);

// What an answer says about a file or container: never more than it proves.
Fetched::Outcome verdict_on(const RemoteAnswer& answer);

// The addresses under which a Foundry project's containers may answer, the likeliest first: downloads through
// the project's own have failed where the account's worked, and the other way round.
std::vector<std::string> foundry_endpoints(const std::string& base_url);

}  // namespace sk::bridge
