#include "cli/commands/doctor_packages.h"

#include <array>
#include <filesystem>
#include <string_view>

namespace sk::cli {

namespace {

struct Package {
  std::string_view debian, module;
};

constexpr auto kPackages = std::to_array<Package>({
    {"ipython", "IPython"},
    {"numpy", "numpy"},
    {"pandas", "pandas"},
    {"matplotlib", "matplotlib"},
    {"scipy", "scipy"},
    {"sklearn", "sklearn"},
    {"seaborn", "seaborn"},
    {"statsmodels", "statsmodels"},
    {"sympy", "sympy"},
    {"networkx", "networkx"},
    {"plotly", "plotly"},
    {"openpyxl", "openpyxl"},
    {"xlsxwriter", "xlsxwriter"},
    {"xlrd", "xlrd"},
    {"docx", "docx"},
    {"reportlab", "reportlab"},
    {"pypdf", "pypdf"},
    {"pil", "PIL"},
    {"lxml", "lxml"},
    {"bs4", "bs4"},
    {"yaml", "yaml"},
    {"h5py", "h5py"},
    {"tabulate", "tabulate"},
});

}  // namespace

std::vector<std::string> missing_python_packages(const std::string& usr) {
  std::vector<std::string> missing;
  for (const auto& package : kPackages) {
    std::string at = usr + "/lib/python3/dist-packages/";
    at += package.module;
    if (!std::filesystem::exists(at) && !std::filesystem::exists(at + ".py"))
      missing.emplace_back(package.debian);
  }
  return missing;
}

}  // namespace sk::cli
