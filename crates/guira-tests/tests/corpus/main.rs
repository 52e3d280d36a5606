//! What the fuzz targets of `fuzz/` are made of, run over their stored inputs and over a few random ones.

mod library;
mod program;
