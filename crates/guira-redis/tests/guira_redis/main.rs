//! The module without a server.

mod collisions;
mod commands;
mod dumps;
mod expiring;
mod measures;
mod redisbloom;
