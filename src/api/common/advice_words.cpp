#include "api/common/advice_words.h"

namespace sk::api {

namespace {

// HTTP headers mean the same to every client.
constexpr std::string_view kKeyHeader = "Send a valid key: 'Authorization: Bearer KEY'.";
constexpr std::string_view kLockHeader = "Wait until the lock ends, or send its token in X-Sandkeep-Lock.";
constexpr std::string_view kAllowHeader = "Use one of the methods in the Allow header.";
constexpr std::string_view kRangeHeader = "Ask for a range inside the size that Content-Range states.";
constexpr std::string_view kRetryHeader = "Wait for the time in Retry-After.";
constexpr std::string_view kKeyOfRequest = "Try again with the same Idempotency-Key.";

constexpr AdviceWords kRestWords[] = {
    {Advice::send_valid_key, kKeyHeader},
    {Advice::wait_for_lock, kLockHeader},
    {Advice::use_allowed_method, kAllowHeader},
    {Advice::ask_within_size, kRangeHeader},
    {Advice::wait_and_retry, kRetryHeader},
    {Advice::retry_with_same_key, kKeyOfRequest},
    {Advice::check_name,
     "Check the name or id: GET /api/v1/workspaces/{workspace}/list and …/trash show what exists."},
    {Advice::verify_store,
     "Stored bytes do not match their hash: ask the operator to verify the store (POST /api/v1/verify) and "
     "to "
     "restore from a backup."},
    {Advice::replace_or_rename, "Choose another path, or say on_existing: replace or rename."},
    {Advice::list_folder, "List it: GET /api/v1/workspaces/{workspace}/list?folder={path}"},
    {Advice::make_key, "Make a new key: POST /api/v1/keys."},
    {Advice::list_keys, "GET /api/v1/keys lists your keys."},
    {Advice::let_in_first, "Let it in first: PUT /api/v1/workspaces/{workspace}/members/{principal}."},
    {Advice::let_in_or_name_own,
     "Let it in first (PUT /api/v1/workspaces/{workspace}/members/{principal}), or name one of its own, such "
     "as 'default'."},
    {Advice::list_workspaces, "GET /api/v1/workspaces lists yours."},
    {Advice::list_trash, "GET /api/v1/workspaces/{workspace}/trash shows what is."},
    {Advice::restore_from_trash,
     "Bring it back: POST /api/v1/workspaces/{workspace}/trash/{trashed_file_id}/restore."},
    {Advice::restore_folder_from_trash,
     "Bring '{trashed_path}', which holds it, back: POST "
     "/api/v1/workspaces/{workspace}/trash/{trashed_file_id}/restore."},
    {Advice::restore_file_first,
     "Restore the file first: POST /api/v1/workspaces/{workspace}/trash/{file_id}/restore."},
    {Advice::collect_or_free_disk,
     "Purge what is not needed and collect it (POST /api/v1/gc), or free space on the server's disk."},
    {Advice::list_sessions, "GET /api/v1/sessions lists yours."},
    {Advice::end_a_session,
     "Wait until one goes to sleep, or delete one with DELETE /api/v1/sessions/{session}."},
    {Advice::keep_files_first,
     "GET /api/v1/sessions/{session}/unkept lists them, and POST /api/v1/sessions/{session}/retry keeps them "
     "once the reason is gone. With ?force=true it is deleted with them."},
};

constexpr AdviceWords kToolWords[] = {
    {Advice::send_valid_key, kKeyHeader},
    {Advice::wait_for_lock, "Wait until the lock ends, or pass its token as lock_token."},
    {Advice::check_name, "list_files and search show what is there."},
    {Advice::replace_or_rename, "Choose another path, or say on_existing: replace or rename."},
    {Advice::list_folder, "list_files shows what is in it."},
    {Advice::make_key, "Use another key."},
    {Advice::list_workspaces, "list_workspaces shows yours."},
    {Advice::list_trash, "list_files with trash: true shows what is."},
    {Advice::restore_from_trash, "It is in the trash: restore with its path brings it back."},
    {Advice::restore_folder_from_trash,
     "'{trashed_path}', which holds it, is in the trash: restore with that path brings it back."},
    {Advice::restore_file_first, "It is in the trash: restore with its path brings it back."},
    {Advice::list_sessions, "list_sessions shows yours."},
    {Advice::end_a_session, "Wait until one goes to sleep, or go on in one that list_sessions shows."},
    {Advice::keep_files_first,
     "session_unkept lists them, and keeps them with retry: true once the reason is gone."},
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
    {Advice::replace_or_rename, "Choose another path."},
    {Advice::list_folder, ""},
    {Advice::make_key, "Use another key."},
    {Advice::list_workspaces, ""},
    {Advice::list_trash, ""},
    {Advice::restore_from_trash, "It is in the trash, and can be restored from there."},
    {Advice::restore_folder_from_trash,
     "'{trashed_path}', which holds it, is in the trash, and can be restored from there."},
    {Advice::restore_file_first, "It is in the trash, and can be restored from there."},
    {Advice::list_sessions, ""},
    {Advice::end_a_session, "Wait until one goes to sleep, or delete one."},
    {Advice::keep_files_first, ""},
};

constexpr AdviceWords kPageWords[] = {
    {Advice::correct_request, "Go back and correct it as the message says."},
    {Advice::send_valid_key, "Sign in with a valid key."},
    {Advice::wait_for_lock, "Wait until the lock ends, or ask its owner."},
    {Advice::check_name, "Look for it in the workspaces, and in their trash."},
    {Advice::merge_and_write_again, "Open the current version, and decide again."},
    {Advice::replace_or_rename, "Choose another path."},
    {Advice::list_folder, "Open it in the workspace."},
    {Advice::make_key, "Sign in with another key."},
    {Advice::list_workspaces, "The front page lists yours."},
    {Advice::list_trash, "The workspace's trash shows what is."},
    {Advice::restore_from_trash, "It is in the workspace's trash: restore it there."},
    {Advice::restore_folder_from_trash,
     "'{trashed_path}', which holds it, is in the workspace's trash: restore it there."},
    {Advice::restore_file_first, "Restore the file first, in the workspace's trash."},
    {Advice::list_sessions, ""},
    {Advice::end_a_session, "Wait until one goes to sleep."},
    {Advice::keep_files_first, "Some files of the session are not kept yet; keep or dismiss them first."},
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
