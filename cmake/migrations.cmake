# Turns src/catalog/migrations/*.sql into one C++ table, so that the program carries its schema.
file(GLOB migrations CONFIGURE_DEPENDS src/catalog/migrations/*.sql)
list(SORT migrations)
set(rows "")
foreach(file ${migrations})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} text)
  string(APPEND rows "    {\"${name}\", R\"sql(${text})sql\"},\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/migrations.cpp CONTENT "#include \"catalog/migrations.h\"

namespace sk::catalog {

std::vector<Migration> migrations() {
  return {
@rows@  };
}

}  // namespace sk::catalog
" @ONLY)
target_sources(sk_catalog PRIVATE ${CMAKE_BINARY_DIR}/migrations.cpp)
