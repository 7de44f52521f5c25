# Private, so that nobody else's compile commands change for a header that is used in one file.
target_link_libraries(caip_tuning PRIVATE Eigen3::Eigen)
