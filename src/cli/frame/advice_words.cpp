#include "cli/frame/advice_words.h"

namespace sk::cli {

namespace {

constexpr AdviceWords kWords[] = {
    {Advice::correct_request, "Correct the command as the message says."},
    {Advice::send_valid_key, "Run 'sandkeep login' with a valid key, or correct SANDKEEP_KEY or --key."},
    {Advice::check_name, "Check the name or id: 'sandkeep ls' and 'sandkeep trash ls' list what exists."},
    {Advice::merge_and_write_again,
     "Get the current version, merge, and put the result with --if-match ID ('sandkeep log' shows the id)."},
    {Advice::wait_for_lock, "Wait until the lock expires, or pass its token: --lock TOKEN."},
    {Advice::wait_and_retry, "Retry in a moment."},
    {Advice::verify_store,
     "Stored bytes do not match their hash. Run 'sandkeep verify' and restore from a backup."},
    {Advice::make_room,
     "Purge files ('sandkeep trash empty') and records of old executions ('sandkeep sessions purge') that "
     "are "
     "not needed, or ask the operator for a larger quota. 'sandkeep usage' shows what counts."},
    {Advice::replace_or_rename, "Choose another path, or add --replace or --rename."},
    {Advice::list_folder,
     "List it with 'sandkeep ls', or copy it here with all its contents: 'sandkeep get'."},
    {Advice::make_key, "Create a new key: 'sandkeep key create'."},
    {Advice::list_keys, "List your keys: 'sandkeep key ls'."},
    {Advice::list_principals, "List the principals: 'sandkeep principal ls'."},
    {Advice::narrow_new_key, "Add --only {workspace_id}, or use a key that is not limited to a workspace."},
    {Advice::list_versions, "List a file's versions: 'sandkeep log PATH'."},
    {Advice::omit_condition, "Check the path. To create the file, leave out --if-match."},
    {Advice::wait_to_acquire, "Wait until the lock expires, or wait for it with --wait DURATION."},
    {Advice::list_locks, "List the locks: 'sandkeep lock ls'."},
    {Advice::let_in_first, "First make the principal a member: 'sandkeep workspace member'."},
    {Advice::let_in_or_name_own,
     "First make the principal a member ('sandkeep workspace member'), or name one of its own workspaces, "
     "such as 'default'."},
    {Advice::list_workspaces, "List your workspaces: 'sandkeep workspace ls'."},
    {Advice::list_trash, "List the trash: 'sandkeep trash ls'."},
    {Advice::restore_from_trash, "Restore it: 'sandkeep trash restore {trashed_file_id}'."},
    {Advice::restore_folder_from_trash,
     "Restore the folder '{trashed_path}', which contains it: 'sandkeep trash restore {trashed_file_id}'."},
    {Advice::restore_file_first, "Restore the file first: 'sandkeep trash restore {file_id}'."},
    {Advice::collect_or_free_disk,
     "Purge files that are not needed and collect garbage ('sandkeep gc'), or free space on the server's "
     "disk."},
    {Advice::list_sessions, "List your sessions: 'sandkeep sessions ls'."},
    {Advice::end_a_session, "Wait until one of your executions ends."},
    {Advice::keep_files_first,
     "List them with 'sandkeep sessions unkept ID', and keep them with 'sandkeep sessions retry ID' once the "
     "reason is gone. --force deletes the session with them."},
    {Advice::complete_sandbox,
     "Run 'sandkeep doctor' to see how to add them. '--sandbox=weak' runs code without those layers where "
     "possible; use it only for code that you trust."},
    {Advice::choose_longer_root_key,
     "Choose a longer root key for SANDKEEP_ROOT_KEY, for example: openssl rand -base64 32"},
    {Advice::check_settings_file, "Check the path in --config and the file's permissions."},
    {Advice::choose_data_folder, "Stop the other server, or choose another data folder: --data DIR."},
    {Advice::choose_other_port,
     "Stop the program that uses this port, or choose another port: --listen {host}:PORT."},
    {Advice::choose_higher_port, "Choose a port above 1023 (--listen {host}:PORT), or run as root."},
    {Advice::choose_own_address, "Choose an address of this machine: --listen HOST:PORT."},
    {Advice::trust_certificate,
     "To trust the authority that signed it, use --ca-file FILE or SANDKEEP_CA_FILE. A server with "
     "self-signed TLS has its authority in tls/ca.pem in its data folder."},
};
static_assert(is_complete(kWords));

}  // namespace

std::string hint_of(const Error& error) { return error.hint(kWords); }

}  // namespace sk::cli
