// Outputs that become files of the session: displayed images, and output that was too long for the answer.
// Their bytes go from the kernel's channel into the store, and into files below outputs/ of the working copy,
// which code can open. The next capture keeps them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "interpreter/copy/copy_keeper.h"
#include "interpreter/run/output_collector.h"

namespace sk::interpreter {

// The kind of entry at a path of the session's folder, in its working copy or in the workspace.
enum class Occupied { no, by_folder, by_other };

// The path for an output named "3-1.png": outputs/3-1.png, or the next name (outputs/3-1-2.png) that neither
// code nor another session of the folder uses. Uses another folder (outputs-2) where code created something
// else of that name. After 10,000 attempts, returns a path that is taken.
std::string free_output_path(const std::string& name,
                             const std::function<Occupied(const std::string& path)>& look);

// Places the collector's files in the open copy and sets their paths in its outputs. Returns the files that
// could not be placed.
std::vector<NotKept> place_output_files(OutputCollector& outputs, CopyKeeper& keeper, workspace::Keep& keep,
                                        const workspace::Authority& authority);

}  // namespace sk::interpreter
