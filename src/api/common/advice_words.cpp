#include "api/common/advice_words.h"

namespace sk::api {

namespace {

// HTTP headers mean the same to every client.
constexpr std::string_view kKeyHeader = "Send a valid key: 'Authorization: Bearer KEY'.";
constexpr std::string_view kLockHeader = "Wait until the lock expires, or send its token in X-Sandkeep-Lock.";
constexpr std::string_view kAllowHeader = "Use one of the methods in the Allow header.";
constexpr std::string_view kRangeHeader = "Request a range within the size in Content-Range.";
constexpr std::string_view kRetryHeader = "Wait for the time in Retry-After, then retry.";
constexpr std::string_view kKeyOfRequest = "Retry with the same Idempotency-Key.";

constexpr AdviceWords kRestWords[] = {
    {Advice::send_valid_key, kKeyHeader},
    {Advice::wait_for_lock, kLockHeader},
    {Advice::use_allowed_method, kAllowHeader},
    {Advice::ask_within_size, kRangeHeader},
    {Advice::wait_and_retry, kRetryHeader},
    {Advice::retry_with_same_key, kKeyOfRequest},
    {Advice::check_name,
     "Check the name or id: GET /api/v1/workspaces/{workspace}/list and …/trash list what exists."},
    {Advice::check_address, "Check the address: GET /api/v1/openapi.json lists the routes of the API."},
    {Advice::verify_store,
     "Stored bytes do not match their hash. Ask the operator to verify the store (POST /api/v1/verify) and "
     "to restore from a backup."},
    {Advice::make_room,
     "Purge files (DELETE /api/v1/workspaces/{workspace}/trash), and delete conversations and the records of "
     "old executions (DELETE /api/v1/workspaces/{workspace}/executions) that are not needed, or ask the "
     "operator for a larger quota. GET /api/v1/workspaces/{workspace}/usage shows what counts."},
    {Advice::replace_or_rename, "Choose another path, or set on_existing to replace or rename."},
    {Advice::list_folder, "List the folder instead: GET /api/v1/workspaces/{workspace}/list?folder={path}"},
    {Advice::make_key, "Create a new key: POST /api/v1/keys."},
    {Advice::list_keys, "List your keys: GET /api/v1/keys."},
    {Advice::list_principals, "List the principals: GET /api/v1/principals."},
    {Advice::narrow_new_key,
     "Set 'workspace' to {workspace_id}, or use a key that is not limited to a workspace."},
    {Advice::list_versions,
     "List a file's versions: GET /api/v1/workspaces/{workspace}/versions?path={path}"},
    {Advice::omit_condition,
     "Check the path. To create the file, leave out the condition (If-Match, or if_match in a batch)."},
    {Advice::wait_to_acquire, "Wait until the lock expires, or set wait_s to wait for it."},
    {Advice::list_locks, "List the locks: GET /api/v1/workspaces/{workspace}/locks."},
    {Advice::let_in_first,
     "First make the principal a member: PUT /api/v1/workspaces/{workspace}/members/{principal}."},
    {Advice::let_in_or_name_own,
     "First make the principal a member (PUT /api/v1/workspaces/{workspace}/members/{principal}), or name "
     "one of its own workspaces, such as 'default'."},
    {Advice::list_workspaces, "List your workspaces: GET /api/v1/workspaces."},
    {Advice::list_trash, "List the trash: GET /api/v1/workspaces/{workspace}/trash."},
    {Advice::restore_from_trash,
     "Restore it: POST /api/v1/workspaces/{workspace}/trash/{trashed_file_id}/restore."},
    {Advice::restore_folder_from_trash,
     "Restore the folder '{trashed_path}', which contains it: POST "
     "/api/v1/workspaces/{workspace}/trash/{trashed_file_id}/restore."},
    {Advice::restore_file_first,
     "Restore the file first: POST /api/v1/workspaces/{workspace}/trash/{file_id}/restore."},
    {Advice::collect_or_free_disk,
     "Purge files that are not needed and collect garbage (POST /api/v1/gc), or free space on the server's "
     "disk."},
    {Advice::list_sessions, "List your sessions: GET /api/v1/sessions."},
    {Advice::end_a_session,
     "Wait until one of the executions ends, or delete a session: DELETE /api/v1/sessions/{session}."},
    {Advice::keep_files_first,
     "List them with GET /api/v1/sessions/{session}/unkept, and keep them with POST "
     "/api/v1/sessions/{session}/retry once the reason is gone. ?force=true deletes the session with them."},
};

constexpr AdviceWords kToolWords[] = {
    {Advice::send_valid_key, kKeyHeader},
    {Advice::wait_for_lock, "Wait until the lock expires, or pass its token as lock_token."},
    {Advice::check_name, "Use list_files or search to find what exists."},
    {Advice::narrow_new_key, "Use another key."},
    {Advice::list_versions, "Use versions to see the ids of a file's versions."},
    {Advice::omit_condition, "Check the path. To create the file, leave out if_version."},
    {Advice::wait_to_acquire, "Wait until the lock expires, or set wait_s to wait for it."},
    {Advice::replace_or_rename, "Choose another path, or set on_existing to replace or rename."},
    {Advice::list_folder, "Use list_files to see its contents."},
    {Advice::make_key, "Use another key."},
    {Advice::list_workspaces, "Use list_workspaces to see your workspaces."},
    {Advice::list_trash, "Use list_files with trash: true to see the trash."},
    {Advice::restore_from_trash, "It is in the trash. Use restore with its path."},
    {Advice::restore_folder_from_trash,
     "The folder '{trashed_path}', which contains it, is in the trash. Use restore with that path."},
    {Advice::restore_file_first, "It is in the trash. Use restore with its path."},
    {Advice::list_sessions, "Use list_sessions to see your sessions."},
    {Advice::end_a_session,
     "Wait until one of the executions ends, or continue in a session that list_sessions shows."},
    {Advice::keep_files_first,
     "List them with session_unkept, and keep them with retry: true once the reason is gone."},
};

// No hint is better than one that these clients cannot follow.
constexpr AdviceWords kVendorWords[] = {
    {Advice::send_valid_key, kKeyHeader},
    {Advice::wait_for_lock, kLockHeader},
    {Advice::use_allowed_method, kAllowHeader},
    {Advice::ask_within_size, kRangeHeader},
    {Advice::wait_and_retry, kRetryHeader},
    {Advice::retry_with_same_key, kKeyOfRequest},
    {Advice::check_name, ""},
    {Advice::narrow_new_key, "Use another key."},
    {Advice::omit_condition, "Check the path. To create the file, leave out If-Match."},
    {Advice::wait_to_acquire, "Wait until the lock expires."},
    {Advice::replace_or_rename, "Choose another path."},
    {Advice::list_folder, ""},
    {Advice::make_key, "Use another key."},
    {Advice::list_workspaces, ""},
    {Advice::list_trash, ""},
    {Advice::restore_from_trash, "It is in the trash. Restore it from there."},
    {Advice::restore_folder_from_trash,
     "The folder '{trashed_path}', which contains it, is in the trash. Restore it from there."},
    {Advice::restore_file_first, "It is in the trash. Restore it from there."},
    {Advice::list_sessions, ""},
    {Advice::end_a_session, "Wait until one of the executions ends."},
    {Advice::keep_files_first,
     "Remove the reason, such as a full quota, and delete the session again: that keeps them first. "
     "?force=true deletes the session with them."},
};

constexpr AdviceWords kPageWords[] = {
    {Advice::correct_request, "Go back and correct the input as the message says."},
    {Advice::send_valid_key, "Sign in with a valid key."},
    {Advice::wait_for_lock, "Wait until the lock expires, or ask its owner."},
    {Advice::check_name, "Search for it in the workspaces and in their trash."},
    {Advice::narrow_new_key, "Sign in with a key that is not limited to a workspace."},
    {Advice::omit_condition, "It was moved or deleted. Search for it in the workspace and in its trash."},
    {Advice::wait_to_acquire, "Wait until the lock expires, or ask its owner."},
    {Advice::merge_and_write_again, "Open the current version, then decide again."},
    {Advice::replace_or_rename, "Choose another path."},
    {Advice::list_folder, "Open the folder in the workspace."},
    {Advice::make_key, "Sign in with another key."},
    {Advice::list_workspaces, "The start page lists your workspaces."},
    {Advice::list_trash, "Open the workspace's trash to see its contents."},
    {Advice::restore_from_trash, "It is in the workspace's trash. Restore it there."},
    {Advice::restore_folder_from_trash,
     "The folder '{trashed_path}', which contains it, is in the workspace's trash. Restore it there."},
    {Advice::restore_file_first, "Restore the file first, in the workspace's trash."},
    {Advice::list_sessions, ""},
    {Advice::end_a_session, "Wait until one of the executions ends."},
    {Advice::keep_files_first, "Keep or dismiss the session's unkept files first."},
};

static_assert(is_complete(kRestWords));
static_assert(is_complete(kToolWords));
static_assert(is_complete(kVendorWords));
static_assert(is_complete(kPageWords));

std::span<const AdviceWords> table_of(Audience audience) {
  switch (audience) {
    case Audience::rest:
      return kRestWords;
    case Audience::tools:
      return kToolWords;
    case Audience::vendor:
      return kVendorWords;
    case Audience::page:
      return kPageWords;
  }
  return {};
}

}  // namespace

std::string hint_for(Audience audience, const Error& error) { return error.hint(table_of(audience)); }

}  // namespace sk::api
