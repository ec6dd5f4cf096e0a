#include "base/sentence.h"

namespace sk {

Sentence::Sentence(std::string words, const std::vector<Mark>& marks) : text_(std::move(words)) {
  size_t end = 0;
  for (const auto& mark : marks) {
    if (mark.begin < end || mark.begin > text_.size() || mark.size > text_.size() - mark.begin) continue;
    marks_.push_back(mark);
    end = mark.begin + mark.size;
  }
}

Sentence Sentence::of_path(std::string_view path) {
  Sentence out(path);
  out.marks_.push_back({0, path.size()});
  return out;
}

Sentence& Sentence::operator+=(const Sentence& other) {
  size_t offset = text_.size();
  size_t count = other.marks_.size();  // before anything is added, since `other` may be *this
  text_ += other.text_;
  for (size_t i = 0; i < count; ++i) marks_.push_back({offset + other.marks_[i].begin, other.marks_[i].size});
  return *this;
}

std::string Sentence::text(const PathNaming& naming) const {
  std::string out;
  std::string_view rest = text_;
  size_t at = 0;
  for (const auto& mark : marks_) {
    out.append(rest.substr(at, mark.begin - at)).append(naming(rest.substr(mark.begin, mark.size)));
    at = mark.begin + mark.size;
  }
  return out.append(rest.substr(at));
}

Sentence quoted_path(std::string_view path) { return "'" + Sentence::of_path(path) + "'"; }

}  // namespace sk
