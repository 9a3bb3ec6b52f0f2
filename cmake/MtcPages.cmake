# HTML pages that mtc and its programs write. Each page becomes a string literal in a generated file, with the shared style sheet and script
# of support/pages/ in place of @STYLE@ and @FIGURES@.

function(mtc_embed_page output page)
  set(style ${PROJECT_SOURCE_DIR}/support/pages/style.css)
  set(figures ${PROJECT_SOURCE_DIR}/support/pages/figures.js)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page} ${style} ${figures})
  file(READ ${page} text)
  file(READ ${style} style_text)
  file(READ ${figures} figures_text)
  string(REPLACE "@STYLE@" "${style_text}" text "${text}")
  string(REPLACE "@FIGURES@" "${figures_text}" text "${text}")
  file(GENERATE OUTPUT ${output} CONTENT "R\"html(${text})html\"\n")
endfunction()
