// Random histories. Names come from a small set, so that steps meet each other; each history draws its own
// mixture, so that some are nothing but renames and others nothing but kills.
#include <algorithm>
#include <random>

#include "model/step.h"

namespace sk::model {

namespace {

class Generator {
 public:
  Generator(uint64_t seed, const GeneratorOptions& options)
      : random_(seed * 0x2545F4914F6CDD1Dull + 7), options_(options) {
    history_.seed = seed;
    next_number_ = seed << 12;
  }

  History run() {
    history_.folder = pick<std::string>({"", "s", "s", "sessions/x y", "s"});
    choose_names();
    outside_percent_ = pick<unsigned>({0, 0, 15, 40});
    if (outside_percent_ > 0 && chance(60)) outside();  // something is there before the session wakes
    add("open");
    size_t rounds = 2 + below(5);
    size_t power_at = options_.power ? below(rounds) : rounds;
    writers_ = 1 + below(3);
    trouble_percent_ = pick<unsigned>({0, 0, 10, 25});
    for (size_t round = 0; round < rounds; ++round) {
      code_round();
      if (chance(outside_percent_)) outside();
      if (chance(trouble_percent_)) trouble();
      if (round == power_at)
        power_cut();
      else
        order();
    }
    return std::move(history_);
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> items) {
    return items.begin()[below(items.size())];
  }

  void choose_names() {
    folders_ = {"", "", "d", "d/e", "f"};
    names_ = {"a", "b", "c"};
    if (chance(15))
      names_.push_back(
          "\xff\xfe"
          "z");
    if (chance(5)) names_.push_back(std::string(255, 'n'));
    if (chance(5)) names_.push_back("x\xF4\x8F\xBE\x80");
    if (chance(5)) folders_.push_back("\xe9t\xe9");
    if (chance(10)) names_.push_back("\xc3\xa9 t\xc3\xa9\n%_");
  }

  std::string join(const std::string& folder, const std::string& name) {
    return folder.empty() ? name : folder + "/" + name;
  }
  std::string file() {
    if (!files_.empty() && chance(65)) return files_[below(files_.size())];
    std::string path = join(folders_[below(folders_.size())], names_[below(names_.size())]);
    if (std::find(files_.begin(), files_.end(), path) == files_.end()) files_.push_back(path);
    return path;
  }
  std::string new_file() {
    std::string path = join(folders_[below(folders_.size())], names_[below(names_.size())]);
    if (chance(30)) path += std::to_string(below(3));
    files_.push_back(path);
    return path;
  }
  std::string folder() {
    std::string path = folders_[below(folders_.size())];
    return path.empty() ? "d" : path;
  }
  std::string new_folder() {
    std::string path = pick<std::string>({"g", "h", "d/g", "f/h", "g/h", "d", "f"});
    folders_.push_back(path);
    return path;
  }
  uint64_t number() { return next_number_++; }
  uint64_t size() {
    if (chance(2)) return 70'000 + below(100'000);
    if (chance(8)) return 0;
    return pick<uint64_t>({8, 8, 8, 16, 100, 5'000});
  }

  Step& add(std::string what, std::string path = "", std::string other = "") {
    Step step;
    step.what = std::move(what);
    step.path = std::move(path);
    step.other = std::move(other);
    history_.steps.push_back(std::move(step));
    return history_.steps.back();
  }
  Step& code(std::string what, std::string path = "", std::string other = "") {
    Step& step = add(std::move(what), std::move(path), std::move(other));
    step.writer = static_cast<int>(below(writers_));
    step.together = writers_ > 1 && chance(40);
    if (!step.path.empty()) last_by_code_ = step.path;
    return step;
  }
  // Often the one that code has just used: two that meet at one file are what goes wrong.
  std::string file_for_client() { return !last_by_code_.empty() && chance(30) ? last_by_code_ : file(); }

  void code_round() {
    size_t count = chance(10) ? 0 : 1 + below(6);
    for (size_t i = 0; i < count; ++i) code_step();
  }

  void code_step() {
    auto write = [&](std::string what, std::string path, std::string other = "") -> Step& {
      Step& step = code(std::move(what), std::move(path), std::move(other));
      step.number = number();
      step.size = size();
      return step;
    };
    switch (below(40)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
        write("write", file());
        break;
      case 6:
        write("append", file());
        break;
      case 7:
        write("replace", file());
        break;
      case 8:
      case 9:
        write("rewrite", file());
        break;
      case 10:
        code("same", file());
        break;
      case 11:
        write("forge", file());
        break;
      case 12:
      case 13:
        write("truncate", file()).size = below(20);
        break;
      case 14:
        write("ftruncate", file()).size = below(20);
        break;
      case 15:
      case 16:
        write("hold", file()).size = below(3);
        break;
      case 17:
      case 18:
        write(pick<std::string>({"hwrite", "hwrite", "htruncate"}), "").other = std::to_string(below(3));
        break;
      case 19:
        write("release", "").other = std::to_string(below(3));
        break;
      case 20:
        write("map", file()).other = std::to_string(below(3));
        break;
      case 21:
        write("mwrite", "").other = std::to_string(below(3));
        break;
      case 22:
      case 23:
        code("unlink", file());
        break;
      case 24:
      case 25:
        code("rename", file(), chance(50) ? new_file() : file());
        break;
      case 26:
        code("rename", folder(), new_folder());
        break;
      case 27:
        if (chance(60))
          code("exchange", file(), file());
        else
          code("exchange", folder(), chance(70) ? folder() : file());
        break;
      case 28:
        code("link", file(), new_file());
        break;
      case 29:
      case 30:
        write("recreate", file(), new_file());
        break;
      case 31:
        write("retree", folder(), chance(80) ? new_folder() : folder());
        break;
      case 32:
        code("rmtree", chance(20) ? "" : folder());
        break;
      case 33:
        code("mkdir", new_folder());
        break;
      case 34: {
        Step& step = code("chmod", chance(60) ? file() : folder());
        step.number = options_.root ? pick<uint64_t>({0600, 0755, 0444, 0000, 0111})
                                    : pick<uint64_t>({0600, 0700, 0755});
        break;
      }
      case 35:
        code("utimes", file()).number = below(2'000'000'000);
        break;
      case 36:
        write("sparse", file()).size = pick<uint64_t>({100'000, 1'000'000, 2'000'000});
        break;
      case 37:
        code(pick<std::string>({"symlink", "fifo", "symlink"}), file(),
             pick<std::string>({"a", "..", "nowhere"}));
        break;
      case 38:
        rare_step();
        break;
      case 39:
        if (chance(50))
          code("rename", "*", pick<std::string>({"g", "moved"}));  // everything into one folder
        else
          write("clear", "");  // everything is removed, and one file is written
        break;
    }
  }

  void rare_step() {
    switch (below(8)) {
      case 0: {
        Step& step = code("many", new_folder());
        step.number = number();
        step.size = chance(3) ? 1'500 : 20 + below(30);
        break;
      }
      case 1:
        code("deep", folder()).number = number();
        break;
      case 2:
      case 3:
        overflow();
        break;
      case 4:
        add("die").writer = static_cast<int>(below(writers_));  // a process of the code is killed
        break;
      default:
        code("write", new_file()).number = number();
    }
  }

  // The keeper is stopped while more happens than the kernel's queue holds.
  void overflow() {
    if (!chance(25)) return;
    add("stop");
    code("flood", folder()).size = 9'000;
    size_t count = 1 + below(4);
    for (size_t i = 0; i < count; ++i) {
      std::string made = new_folder();
      code("mkdir", made).together = false;
      Step& step = code("write", join(made, "a"));
      step.number = number();
      step.size = size();
      step.together = false;
    }
    add("continue");
  }

  void outside() {
    size_t count = 1 + below(3);
    for (size_t i = 0; i < count; ++i) {
      switch (below(16)) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4:
        case 5: {
          Step& step = add("put", file_for_client());
          step.number = number();
          step.size = size();
          break;
        }
        case 6:
        case 7:
        case 8:
          add("trash", chance(25) ? folder() : file_for_client());
          break;
        case 9:
          add("purge", file_for_client());
          break;
        case 10:
        case 11:
          add("move", chance(60) ? file_for_client() : folder(), chance(50) ? file_for_client() : new_file());
          break;
        case 12:
          add("restore").number = below(4);
          break;
        case 13:
          add("make", new_folder());
          break;
        case 14:
          add("mode", chance(70) ? file_for_client() : folder()).number = pick<uint64_t>({0600, 0755, 0700});
          break;
        case 15:
          if (chance(20))
            add("trash", "");
          else
            add("purge_version", file_for_client());
          break;
      }
    }
  }

  void trouble() {
    switch (below(9)) {
      case 0:
        add("lock", chance(60) ? file() : folder());
        break;
      case 1:
        add("unlock");
        break;
      case 2:
      case 3:
        add("quota").size = pick<uint64_t>({0, 10, 1'000, 1ull << 40});
        break;
      case 4:
        add("disk").number = below(2);
        break;
      case 5:
      case 6:
      case 7:
        add("batch").size = pick<uint64_t>({2, 3, 5, 10'000});
        break;
      case 8:
        add("fill").number = below(2);
        break;
    }
  }

  // The server puts a file of its own into the copy. Mostly it is kept at once, as at the end of a cell; else
  // code has got hold of it before.
  void figure() {
    Step& step = add("figure", chance(80) ? new_file() : file());
    step.number = number();
    step.size = size();
    if (chance(40)) code_step();
  }

  void order() {
    if (chance(8)) figure();
    switch (below(24)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
      case 5:
      case 6:
      case 7:
      case 8:
        add("capture");
        break;
      case 9:
      case 10:
        add("capture_all");
        break;
      case 11:
      case 12:
        add("race");
        break;
      case 13:
        add("bring");
        break;
      case 14:
      case 15:
      case 16:
        add("close");
        closed_interlude();
        add("open");
        break;
      case 17:
      case 18:
        add("kill");
        if (chance(30)) code_step();
        add(pick<std::string>({"open", "recover"}));
        break;
      case 19:
        add("kill_in", pick<std::string>({"capture", "capture", "capture_all", "close", "bring", "put"}),
            file())
            .number = pick<uint64_t>({50, 200, 500, 1'000, 2'000, 4'000});
        history_.steps.back().size = 8;
        if (chance(30)) code_step();
        add(pick<std::string>({"open", "recover"}));
        break;
      case 20:
        meet();
        break;
      default:
        add("capture");
        break;
    }
  }

  // A client puts a file while a capture goes on, often where code has just been.
  void meet() {
    std::string path = chance(50) ? file_for_client() : join(folder(), names_[below(names_.size())]);
    Step& step = add("meet", path, pick<std::string>({"0", "100", "300", "600", "1000", "2000"}));
    step.number = number();
    step.size = size();
  }

  void closed_interlude() {
    if (chance(outside_percent_ + 10)) outside();
    switch (below(6)) {
      case 0:
        add("evict");
        break;
      case 1:
        add("look");
        break;
      case 2:
        add("recover");
        break;
      case 3:
        add("kill");
        break;
      default:
        break;
    }
    if (chance(20)) outside();
  }

  void power_cut() {
    if (chance(60)) {
      add("capture");
      code_round();
    }
    if (chance(25)) add("close");
    if (chance(40))
      add("power_in", pick<std::string>({"capture", "capture_all", "close", "put"}), file()).number =
          pick<uint64_t>({50, 500, 2'000, 5'000});
    else
      add("power");
    history_.steps.back().size = 8;
    add(pick<std::string>({"open", "recover"}));
    code_round();
    add("capture");
  }

  std::mt19937_64 random_;
  const GeneratorOptions options_;
  History history_;
  std::vector<std::string> folders_, names_, files_;
  std::string last_by_code_;  // the path of its last step
  uint64_t writers_ = 1, next_number_ = 0;
  unsigned outside_percent_ = 0, trouble_percent_ = 0;
};

}  // namespace

History generate(uint64_t seed, const GeneratorOptions& options) { return Generator(seed, options).run(); }

}  // namespace sk::model
