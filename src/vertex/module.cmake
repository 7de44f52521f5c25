# catalog/catalog.json is compiled in.
caip_embed_text(vertex ${CMAKE_CURRENT_LIST_DIR}/catalog/catalog.json caip::vertex::CatalogText
                vertex/catalog/catalog.h)
