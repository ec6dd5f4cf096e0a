#include "http/router.h"
#include "base/text.h"

namespace sk::http {

// Node of the pattern tree, for one segment: routes that end here, by method, and child nodes.
struct Router::Node {
  std::map<std::string, std::shared_ptr<Node>, std::less<>> literals;
  std::shared_ptr<Node> parameter;
  std::map<std::string, const Route*, std::less<>> here;
  std::map<std::string, const Route*, std::less<>> rest;  // patterns ending in {name...}
};

namespace {

bool is_parameter(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}
bool is_rest(std::string_view segment) { return is_parameter(segment) && segment.ends_with("...}"); }

std::vector<std::string_view> segments_of(std::string_view path) {
  SK_CHECK(!path.empty() && path.front() == '/', path);
  return split(path.substr(1), '/');
}

std::string decode_segment(std::string_view segment) {
  auto decoded = percent_decode(segment);
  if (!decoded) throw Error(Code::bad_request, "The path has a malformed percent escape.");
  if (decoded->find('\0') != std::string::npos)
    throw Error(Code::bad_request, "The path contains a NUL byte (%00).");
  return std::move(*decoded);
}

// Finds the route of a method. HEAD falls back to GET.
template <class Methods>
auto find_method(const Methods& methods, std::string_view method) {
  auto found = methods.find(method);
  if (found == methods.end() && method == "HEAD") found = methods.find("GET");
  return found == methods.end() ? nullptr : found->second;
}

}  // namespace

// Searches the tree for one path, in the order literal, parameter, rest. Backtracks from a branch without the
// method, so "POST /a/b" does not hide "GET /a/{x}".
struct Router::Search {
  std::string_view method;
  const std::vector<std::string>& segments;
  std::map<std::string, const Route*, std::less<>> allowed = {};

  const Route* visit(const Node& node, size_t at) {
    if (at == segments.size()) {
      if (auto route = take(node.here)) return route;
      return take(node.rest);
    }
    auto literal = node.literals.find(segments[at]);
    if (literal != node.literals.end())
      if (auto route = visit(*literal->second, at + 1)) return route;
    if (node.parameter && !segments[at].empty())
      if (auto route = visit(*node.parameter, at + 1)) return route;
    return take(node.rest);
  }

  const Route* take(const std::map<std::string, const Route*, std::less<>>& methods) {
    allowed.insert(methods.begin(), methods.end());
    return find_method(methods, method);
  }
};

namespace {

std::map<std::string, std::string, std::less<>> bind_parameters(std::string_view pattern,
                                                                const std::vector<std::string>& segments) {
  std::map<std::string, std::string, std::less<>> params;
  auto names = segments_of(pattern);
  for (size_t i = 0; i < names.size(); ++i) {
    auto name = names[i];
    if (is_rest(name)) {
      std::string rest;
      for (size_t k = i; k < segments.size(); ++k) rest += (k > i ? "/" : "") + segments[k];
      params.emplace(name.substr(1, name.size() - 5), std::move(rest));
    } else if (is_parameter(name)) {
      params.emplace(name.substr(1, name.size() - 2), segments[i]);
    }
  }
  return params;
}

}  // namespace

void Router::add(std::string method, std::string pattern, Handler handler, RouteOptions options) {
  insert({std::move(method), std::move(pattern), std::move(handler), {}, options});
}

void Router::add_streaming(std::string method, std::string pattern, SinkHandler handler,
                           RouteOptions options) {
  insert({std::move(method), std::move(pattern), {}, std::move(handler), std::move(options)});
}

void Router::insert(Route route) {
  if (!root_) root_ = std::make_shared<Node>();
  const auto& stored = *routes_.emplace_back(std::make_unique<Route>(std::move(route)));
  Node* node = root_.get();
  bool rest = false;
  for (auto segment : segments_of(stored.pattern)) {
    SK_CHECK(!rest, "a {name...} must be last in " + stored.pattern);
    if (is_rest(segment)) {
      rest = true;
      continue;
    }
    auto& next = is_parameter(segment) ? node->parameter : node->literals[std::string(segment)];
    if (!next) next = std::make_shared<Node>();
    node = next.get();
  }
  auto& methods = rest ? node->rest : node->here;
  SK_CHECK(methods.emplace(stored.method, &stored).second,
           "two routes for " + stored.method + " " + stored.pattern);
}

Router::Match Router::match(std::string_view method, std::string_view path) const {
  if (path.empty() || path.front() != '/')
    throw Error(Code::bad_request, "The request target is not a path.");
  std::vector<std::string> segments;
  for (auto segment : segments_of(path)) segments.push_back(decode_segment(segment));
  Match match;
  if (!root_) return match;
  Search search{method, segments};
  match.route = search.visit(*root_, 0);
  for (const auto& [name, route] : search.allowed) match.allowed.push_back(name);
  if (search.allowed.contains("GET") && !search.allowed.contains("HEAD")) match.allowed.emplace_back("HEAD");
  if (match.route) match.params = bind_parameters(match.route->pattern, segments);
  return match;
}

}  // namespace sk::http
