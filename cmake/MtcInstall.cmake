# `cmake --install BUILD --prefix DIR` writes a relocatable tree: mtc finds the files that it links in ../lib, relative to itself.
# tools/scripts/build_packages.py makes packages of the component `mtc`; the component `developer` has the tools for developers of mtc.

include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME mtc)

set_target_properties(mtc PROPERTIES INSTALL_RPATH "$ORIGIN/../lib") # packages contain the libraries that mtc loads
install(TARGETS mtc RUNTIME DESTINATION bin)
install(TARGETS mtc-opt mtc-lsp-server RUNTIME DESTINATION bin COMPONENT developer)
get_target_property(archives mtc_program_archives MTC_ARCHIVES)
install(TARGETS ${archives} ARCHIVE DESTINATION lib)
install(DIRECTORY ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/system DESTINATION lib)
foreach(architecture ${MTC_CROSS_ARCHITECTURES})
  get_property(archives GLOBAL PROPERTY MTC_ARCHIVES_${architecture})
  install(TARGETS ${archives} ARCHIVE DESTINATION lib/${architecture})
  install(DIRECTORY ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/${architecture}/system DESTINATION lib/${architecture})
endforeach()
# The header with the layout of a program's tables, for other software that loads a program's object file.
install(DIRECTORY runtime/abi DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/mtc/runtime FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")

# The manual page and the completion scripts, which mtc prints from its table of flags.
set(printed)
function(mtc_install_printed destination file)
  set(output ${PROJECT_BINARY_DIR}/share/${file})
  add_custom_command(OUTPUT ${output} COMMAND mtc ${ARGN} > ${output} DEPENDS mtc VERBATIM)
  install(FILES ${output} DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/${destination})
  set(printed ${printed} ${output} PARENT_SCOPE)
endfunction()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share)
mtc_install_printed(man/man1 mtc.1 man)
mtc_install_printed(bash-completion/completions mtc completion bash)
mtc_install_printed(zsh/site-functions _mtc completion zsh)
mtc_install_printed(fish/vendor_completions.d mtc.fish completion fish)
add_custom_target(mtc-printed ALL DEPENDS ${printed})
