# tables.json is compiled in.
caip_embed_text(migration ${CMAKE_CURRENT_LIST_DIR}/tables.json caip::migration::TablesText
                migration/tables.h)
