# `cmake --install BUILD --prefix DIR` writes a relocatable tree: mtc finds the runtime's archives in ../lib, relative to itself. `cpack -G
# DEB` in the build folder packages the same tree.

include(GNUInstallDirs)

install(TARGETS mtc mtc-opt mtc-lsp-server RUNTIME DESTINATION bin)
get_target_property(archives mtc_program_archives MTC_ARCHIVES)
install(TARGETS ${archives} ARCHIVE DESTINATION lib)
foreach(architecture ${MTC_CROSS_ARCHITECTURES})
  get_property(archives GLOBAL PROPERTY MTC_ARCHIVES_${architecture})
  install(TARGETS ${archives} ARCHIVE DESTINATION lib/${architecture})
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

set(CPACK_PACKAGE_NAME mtc)
set(CPACK_PACKAGE_VENDOR "the mtc developers")
set(CPACK_PACKAGE_CONTACT "the mtc developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "ahead-of-time compiler of ONNX models into native training programs")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Archives that programs link.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++ | clang-22, libc6-dev, libstdc++-12-dev, libdnnl-dev")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "lld-22")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "clang-22, libstdc++-12-dev-arm64-cross") # programs for Arm
include(CPack)
