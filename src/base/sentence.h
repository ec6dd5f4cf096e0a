// A sentence of an error or a note in which the paths of entries are marked. The domain names an entry by its
// path in the workspace; clients of some dialects know the same entry by another path, such as
// /mnt/data/a.txt. The marks let a dialect show its own paths without searching for paths in the words.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sk {

// Returns the path by which a client knows the entry at a path of the workspace.
using PathNaming = std::function<std::string(std::string_view path)>;

class Sentence {
 public:
  // A marked path: `begin` and `size` in bytes of text().
  struct Mark {
    size_t begin = 0, size = 0;
    bool operator==(const Mark&) const = default;
  };

  Sentence() = default;
  // Words without a path. Implicit, so that a sentence is written as "a" + quoted_path(path) + "b".
  Sentence(std::string words) : text_(std::move(words)) {}
  Sentence(std::string_view words) : text_(words) {}
  Sentence(const char* words) : text_(words) {}
  // A sentence that was stored. Marks that are out of order or outside of the text are dropped.
  Sentence(std::string words, const std::vector<Mark>& marks);

  // The path alone, marked.
  static Sentence of_path(std::string_view path);

  Sentence& operator+=(const Sentence& other);
  friend Sentence operator+(Sentence left, const Sentence& right) { return std::move(left += right); }
  bool operator==(const Sentence&) const = default;

  bool empty() const { return text_.empty(); }
  // With the workspace's paths.
  const std::string& text() const { return text_; }
  const std::vector<Mark>& marks() const { return marks_; }
  // With each marked path as `naming` gives it.
  std::string text(const PathNaming& naming) const;

 private:
  std::string text_;
  std::vector<Mark> marks_;  // in order, not overlapping
};

// 'path', with the path marked.
Sentence quoted_path(std::string_view path);

}  // namespace sk
