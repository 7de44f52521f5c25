# The style of pictures that stand alone is compiled in.
caip_embed_text(report ${CMAKE_CURRENT_LIST_DIR}/picture.css caip::report::PictureStyle report/study_plot.h)
