//! The module as the server sees it. Everything `extern "C"` and all unsafe code is here.

mod allocator;
mod background;
mod configuration;
mod context;
mod counters;
mod data_type;
mod functions;
mod information;
mod key;
mod load;
mod names;
mod registration;
mod run;
mod steps;
mod words;
