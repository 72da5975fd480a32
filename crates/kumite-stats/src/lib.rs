//! Pure, seeded statistics: intervals and paired ratios.
