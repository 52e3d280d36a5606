//! The module without a server.

mod collisions;
mod commands;
mod dumps;
mod measures;
mod redisbloom;
