# The style sheet and the script of all pages are compiled in.
caip_embed_text(page ${CMAKE_CURRENT_LIST_DIR}/style.css caip::page::StyleText page/page.h)
caip_embed_text(page ${CMAKE_CURRENT_LIST_DIR}/tips.js caip::page::TipsText page/page.h)
