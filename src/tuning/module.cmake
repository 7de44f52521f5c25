# Private, so that the compile commands of other modules do not change for a header that one file uses.
target_link_libraries(caip_tuning PRIVATE Eigen3::Eigen)
