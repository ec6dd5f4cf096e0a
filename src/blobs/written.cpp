#include "blobs/written.h"

#include "base/error.h"
#include "base/log.h"

namespace sk::blobs {

// A file that cannot be removed is left to the garbage collector.
Written::Impl::~Impl() {
  const auto remove_file = [this](const Blob& blob) {
    if (blob.kind != Kind::file || blob.known || blob.location.empty()) return;
    try {
      store.remove(blob.location);
    } catch (const Error& error) {
      log::warn("an unneeded blob file was not removed",
                {{"location", blob.location}, {"why", error.message()}});
    }
  };
  if (!committed) {
    remove_file(root);
    for (const auto& piece : pieces) remove_file(piece);
  }
}

Compressed Store::compress(int64_t, const std::function<bool()>&) { return {}; }

Written::Written() = default;
Written::Written(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Written::Written(Written&&) noexcept = default;
Written& Written::operator=(Written&&) noexcept = default;
Written::~Written() = default;

const Blob& Written::root() const {
  SK_CHECK(impl_ != nullptr);
  return impl_->root;
}

const std::vector<Blob>& Written::pieces() const {
  SK_CHECK(impl_ != nullptr);
  return impl_->pieces;
}

void Written::commit() {
  SK_CHECK(impl_ != nullptr);
  impl_->committed = true;
}

}  // namespace sk::blobs
