//! A set of IP addresses, of both kinds: which of some clients have been here before?
//!
//!     cargo run --release -p guira --example addresses -- 192.0.2.1 2001:db8::1 192.0.2.1

use std::env;
use std::error::Error;
use std::net::{AddrParseError, IpAddr};

use guira::CuckooSet;

fn main() -> Result<(), Box<dyn Error>> {
    let clients = env::args().skip(1).map(|text| text.parse()).collect::<Result<Vec<IpAddr>, AddrParseError>>()?;
    for client in returning(&clients)? {
        println!("{client} has been here before");
    }
    Ok(())
}

/// The clients that came again, each time that they did.
fn returning(clients: &[IpAddr]) -> Result<Vec<IpAddr>, Box<dyn Error>> {
    let mut seen = CuckooSet::with_capacity(1_000_000, 0.001)?;
    let mut returning = Vec::new();
    for client in clients {
        if !seen.insert(client)? {
            returning.push(*client);
        }
    }
    Ok(returning)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    /// 20,000 addresses, of which 20 look like earlier ones: beyond 50 lie more than 6 standard deviations.
    #[test]
    fn whoever_returns_is_noticed_and_few_others_are() {
        let four = (0..10_000).map(|number| IpAddr::from(Ipv4Addr::from_bits(number * 77_777)));
        let six = (0..10_000).map(|number| IpAddr::from(Ipv6Addr::from_bits(number << 64 | 1)));
        let clients: Vec<IpAddr> = four.chain(six).collect();
        let mistaken = returning(&clients).expect("room").len();
        assert!(mistaken <= 50, "{mistaken}");
        let twice = [&clients[..], &clients[..]].concat();
        assert_eq!(returning(&twice).expect("room").len(), clients.len() + mistaken);
    }
}
