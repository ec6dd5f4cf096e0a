#include "cli/frame/advice_words.h"

namespace sk::cli {

namespace {

constexpr AdviceWords kWords[] = {
    {Advice::correct_request, "Correct the command as the message says."},
    {Advice::send_valid_key, "Run 'sandkeep login' with a valid key, or correct SANDKEEP_KEY or --key."},
    {Advice::check_name, "Check the name or id; 'sandkeep ls' and 'sandkeep trash ls' show what exists."},
    {Advice::merge_and_write_again,
     "Get the current version, merge, and put it with --if-match and its id, which 'sandkeep log' shows."},
    {Advice::wait_for_lock, "Wait until the lock ends, or pass its token: --lock TOKEN."},
    {Advice::wait_and_retry, "Try again in a moment."},
    {Advice::verify_store,
     "Stored bytes do not match their hash: run 'sandkeep verify' and restore from a backup."},
    {Advice::replace_or_rename, "Choose another path, or add --replace or --rename."},
    {Advice::list_folder, "'sandkeep ls' lists it, 'sandkeep get' copies it here with all that is in it."},
    {Advice::make_key, "Make a new key: 'sandkeep key create'."},
    {Advice::list_keys, "'sandkeep key ls' lists your keys."},
    {Advice::let_in_first, "Let it in first: 'sandkeep workspace member'."},
    {Advice::let_in_or_name_own,
     "Let it in first ('sandkeep workspace member'), or name one of its own, such as 'default'."},
    {Advice::list_workspaces, "'sandkeep workspace ls' lists yours."},
    {Advice::list_trash, "'sandkeep trash ls' shows what is."},
    {Advice::restore_from_trash, "Bring it back with 'sandkeep trash restore {trashed_file_id}'."},
    {Advice::restore_folder_from_trash,
     "Bring '{trashed_path}', which holds it, back with 'sandkeep trash restore {trashed_file_id}'."},
    {Advice::restore_file_first, "Restore the file first: 'sandkeep trash restore {file_id}'."},
    {Advice::collect_or_free_disk,
     "Purge what is not needed and collect it ('sandkeep gc'), or free space on the server's disk."},
    {Advice::list_sessions, "'sandkeep sessions ls' lists yours."},
    {Advice::end_a_session, "Wait until one goes to sleep, or end one: 'sandkeep sessions rm'."},
    {Advice::keep_files_first,
     "'sandkeep sessions unkept ID' lists them, 'sandkeep sessions retry ID' keeps them once the reason is "
     "gone; --force ends it with them."},
    {Advice::complete_sandbox,
     "'sandkeep doctor' says what to do about it. '--sandbox=weak' runs code without those layers, where "
     "that "
     "is possible at all; do it only for code that you trust."},
    {Advice::choose_longer_root_key,
     "Choose a longer one for SANDKEEP_ROOT_KEY, for example: openssl rand -base64 32"},
    {Advice::check_settings_file, "Check the name that --config gives, and its permissions."},
    {Advice::choose_data_folder, "Stop it, or choose another folder with --data."},
    {Advice::choose_other_port,
     "Stop the program that has this port, or choose another one: --listen {host}:PORT."},
    {Advice::choose_higher_port, "Ports below 1024 need root; choose another one: --listen {host}:PORT."},
    {Advice::choose_own_address, "Choose an address of this machine: --listen HOST:PORT."},
    {Advice::trust_certificate,
     "Trust the authority that signed it: --ca-file FILE, or SANDKEEP_CA_FILE. A server with self-signed TLS "
     "keeps its own in tls/ca.pem in its data folder."},
};
static_assert(is_complete(kWords));

}  // namespace

std::string hint_of(const Error& error) { return error.hint(kWords); }

}  // namespace sk::cli
