# The shapes of marks and the legend of a timeline's page are compiled in.
caip_embed_text(harness ${CMAKE_CURRENT_LIST_DIR}/timeline/marks.svg
                caip::harness::TimelineMarkShapes harness/timeline/timeline_drawing.h)
caip_embed_text(harness ${CMAKE_CURRENT_LIST_DIR}/timeline/legend.html
                caip::harness::TimelineLegend harness/timeline/timeline_drawing.h)
# The modules that `caip check` expects in each runtime version are compiled in.
caip_embed_text(harness ${CMAKE_CURRENT_LIST_DIR}/check/runtime_modules.txt
                caip::harness::RuntimeModulesText harness/check/missing_module.h)
