//! The module as the server sees it. All that is `extern "C"` is here, and all that is unsafe.

mod allocator;
mod configuration;
mod context;
mod data_type;
mod functions;
mod information;
mod key;
mod load;
mod names;
mod registration;
mod run;
