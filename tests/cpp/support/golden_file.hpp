// Reads the golden format of tests/golden/README.md. A malformed file fails the running test.
#pragma once

#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

namespace heed::golden {

/// Row-major values; no dims means a single number.
struct Array {
  std::vector<std::size_t> dims;
  std::vector<float> data;

  std::span<const float> span() const { return data; }
  std::size_t dim(std::size_t axis) const {
    REQUIRE(axis < dims.size());
    return dims[axis];
  }
  float scalar() const {
    REQUIRE(dims.empty());
    return data.front();
  }
};

struct Case {
  std::string name;
  std::map<std::string, Array> arrays;

  bool has(const std::string& array) const { return arrays.contains(array); }
  const Array& operator[](const std::string& array) const {
    INFO("case " << name << ", tensor " << array);
    REQUIRE(has(array));
    return arrays.at(array);
  }
};

/// Reads the values that follow a `tensor` line; strtof knows "-inf", which streams do not.
inline std::vector<float> read_values(std::istream& in, std::size_t count) {
  std::vector<float> values;
  values.reserve(count);
  std::string word;
  while (values.size() < count && in >> word) {
    char* end = nullptr;
    const float value = std::strtof(word.c_str(), &end);
    if (end != word.c_str() + word.size()) break;
    values.push_back(value);
  }
  INFO("last word read: " << word);
  REQUIRE(values.size() == count);
  return values;
}

inline std::vector<Case> read_file(const std::string& path) {
  INFO("golden file " << path);
  std::ifstream in(path);
  REQUIRE(in.is_open());
  std::vector<Case> cases;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    INFO("line " << line);
    std::istringstream words(line);
    std::string keyword, name;
    words >> keyword >> name;
    if (keyword == "case") {
      cases.push_back({name, {}});
      continue;
    }
    REQUIRE(keyword == "tensor");
    REQUIRE(!cases.empty());
    Array array;
    std::size_t count = 1;
    for (std::size_t dim; words >> dim; count *= dim) array.dims.push_back(dim);
    REQUIRE(words.eof());
    array.data = read_values(in, count);
    REQUIRE(cases.back().arrays.emplace(name, std::move(array)).second);
  }
  REQUIRE(!cases.empty());
  return cases;
}

/// A file of tests/golden.
inline std::vector<Case> read(const std::string& name) {
  return read_file(std::string(HEED_TESTS_DIR) + "/golden/" + name);
}

}  // namespace heed::golden
