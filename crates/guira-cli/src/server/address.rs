use redis::{ConnectionInfo, IntoConnectionInfo};

use crate::failure::Failure;

/// The variable that redis-cli reads the password from.
const PASSWORD_VARIABLE: &str = "REDISCLI_AUTH";

/// The address of a filter: a server, a database and the name of a key.
///
/// The name and the database are parsed here, and the rest by the `redis` crate, which would take the whole path for the
/// number of a database. A URL parser would resolve `..` in the path, which may be part of a name.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// How the server is reached.
    pub(crate) connection: ConnectionInfo,
    /// The name of the key.
    pub(crate) name: Vec<u8>,
    /// The URL as it was typed, without the password.
    pub(crate) shown: String,
}

impl Address {
    /// Parses a URL. Errors quote no part of it, since any part may be a password.
    pub(crate) fn parse(url: &str) -> Result<Self, Failure> {
        let address = Parts::of(url).and_then(|parts| {
            let is_secured = ["rediss:", "valkeys:"].iter().any(|scheme| parts.connection.starts_with(scheme));
            if is_secured && cfg!(not(feature = "redis-tls")) {
                return Err("this program was built without TLS, which the feature redis-tls adds".to_owned());
            }
            let connection = parts.connection.as_str().into_connection_info();
            let connection =
                connection.map_err(|_| format!("its host, port, password or database number can't be read; {FORM}"))?;
            Ok(Self { connection, name: parts.name, shown: parts.shown })
        });
        let address = address.map_err(|problem| Failure::new(format_args!("not an address of a filter: {problem}")))?;
        Ok(address.with_password(std::env::var(PASSWORD_VARIABLE).ok()))
    }

    /// The address with this password if it has none.
    fn with_password(mut self, password: Option<String>) -> Self {
        let settings = self.connection.redis_settings();
        if let (None, Some(password)) = (settings.password(), password) {
            let settings = settings.clone().set_password(password);
            self.connection = self.connection.set_redis_settings(settings);
        }
        self
    }
}

/// The parts of a URL.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    /// The URL as the `redis` crate reads it: without the name of the key.
    connection: String,
    name: Vec<u8>,
    shown: String,
}

const FORM: &str = "it is like redis://HOST:PORT/KEY or redis://HOST:PORT/DATABASE/KEY";

impl Parts {
    fn of(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or_else(|| format!("not a URL; {FORM}"))?;
        let (rest, fragment) = split_before(rest, '#');
        let (place, query) = split_before(rest, '?');
        let options = Options::of(query.get(1..).unwrap_or_default())?;
        match scheme.to_ascii_lowercase().as_str() {
            scheme @ ("redis" | "rediss" | "valkey" | "valkeys") => of_host(scheme, place, &options, fragment),
            scheme @ ("unix" | "redis+unix" | "valkey+unix") => of_socket(scheme, place, &options),
            _ => Err(format!("of another kind of server; {FORM}")),
        }
    }
}

fn of_host(scheme: &str, place: &str, options: &Options<'_>, fragment: &str) -> Result<Parts, String> {
    options.refuse_all_but(&["protocol"])?;
    let (server, path) = place.split_once('/').unwrap_or((place, ""));
    let (database, name) = match *path.split('/').collect::<Vec<_>>().as_slice() {
        [number] if !number.is_empty() && is_number(number) => {
            return Err(format!("it names a database and no key: {FORM}, so that of a key 7 is /0/7"));
        }
        [name] => ("0", name),
        [database, name] if is_number(database) => (database, name),
        _ => return Err(format!("{FORM}; a / in a password or a key is written as %2F")),
    };
    let (user, host) = match server.rsplit_once('@') {
        Some((user_and_password, host)) => (split_before(user_and_password, ':').0, host),
        None => ("", server),
    };
    if host.is_empty() {
        return Err(format!("it names no server; {FORM}"));
    }
    let at = if user.is_empty() { "" } else { "@" };
    Ok(Parts {
        connection: format!("{scheme}://{server}/{database}{}{fragment}", options.query()),
        name: decoded(name)?,
        shown: format!("{scheme}://{user}{at}{host}/{path}"),
    })
}

fn of_socket(scheme: &str, place: &str, options: &Options<'_>) -> Result<Parts, String> {
    const FORM: &str = "for a socket it is like redis+unix:///PATH?db=DATABASE&key=KEY";

    options.refuse_all_but(&["db", "key", "user", "pass", "protocol"])?;
    let name = options.value("key").ok_or_else(|| format!("it names no key; {FORM}"))?;
    if !place.starts_with('/') {
        return Err(format!("it names no socket; {FORM}"));
    }
    Ok(Parts {
        connection: format!("{scheme}://{place}{}", options.without(&["key"]).query()),
        name: decoded(name)?,
        shown: format!("{scheme}://{place}{}", options.without(&["user", "pass", "protocol"]).query()),
    })
}

/// The query: names with values.
struct Options<'url>(Vec<(&'url str, &'url str)>);

impl<'url> Options<'url> {
    fn of(query: &'url str) -> Result<Self, String> {
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').ok_or_else(|| "an option behind ? has no value".to_owned()));
        pairs.collect::<Result<_, _>>().map(Self)
    }

    fn refuse_all_but(&self, known: &[&str]) -> Result<(), String> {
        match self.0.iter().any(|(name, _)| !known.contains(name)) {
            true => {
                Err(format!("behind ? there may be {}; a ? in a password or a key is written as %3F", known.join(", ")))
            }
            false => Ok(()),
        }
    }

    fn value(&self, name: &str) -> Option<&'url str> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }

    fn without(&self, names: &[&str]) -> Self {
        Self(self.0.iter().filter(|(name, _)| !names.contains(name)).copied().collect())
    }

    fn query(&self) -> String {
        let pairs: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }
}

/// Splits a text before the first `mark`, or at its end.
fn split_before(text: &str, mark: char) -> (&str, &str) {
    text.split_at(text.find(mark).unwrap_or(text.len()))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Decodes a name, in which any byte may be written as `%` and two hexadecimal digits.
fn decoded(text: &str) -> Result<Vec<u8>, String> {
    // The decoder would keep a `%` without two hexadecimal digits as it is.
    let is_escape = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    if !text.split('%').skip(1).all(is_escape) {
        return Err("behind % in a key stand two hexadecimal digits; % itself is written as %25".to_owned());
    }
    let name: Vec<u8> = percent_encoding::percent_decode_str(text).collect();
    if name.is_empty() { Err(format!("it names no key; {FORM}")) } else { Ok(name) }
}

#[cfg(test)]
mod tests {
    use redis::ConnectionAddr;

    use super::*;

    fn parts(url: &str) -> Parts {
        Parts::of(url).expect(url)
    }

    fn address(url: &str) -> Address {
        Address::parse(url).unwrap_or_else(|failure| panic!("{url}: {failure}"))
    }

    #[test]
    fn the_path_is_a_key_or_a_database_and_a_key() {
        for (url, connection, name) in [
            ("redis://h/birds", "redis://h/0", &b"birds"[..]),
            ("redis://h:1/0/birds", "redis://h:1/0", b"birds"),
            ("REDIS://h:1/15/0", "redis://h:1/15", b"0"),
            ("rediss://h/birds#insecure", "rediss://h/0#insecure", b"birds"),
            ("valkey://h/birds?protocol=resp3", "valkey://h/0?protocol=resp3", b"birds"),
            ("redis://user:pass@h/birds", "redis://user:pass@h/0", b"birds"),
            ("redis://[::1]:6379/birds", "redis://[::1]:6379/0", b"birds"),
            ("redis://h/..", "redis://h/0", b".."),
            ("redis://h/a:{b}", "redis://h/0", b"a:{b}"),
            ("redis://h/a+b", "redis://h/0", b"a+b"),
            ("redis://h/%00%fF%2f%3F%23%25", "redis://h/0", b"\0\xff/?#%"),
            ("redis://h/gr\u{fc}n", "redis://h/0", "gr\u{fc}n".as_bytes()),
            ("redis+unix:///run/redis.sock?key=a%20b&db=3&pass=x", "redis+unix:///run/redis.sock?db=3&pass=x", b"a b"),
        ] {
            let parts = parts(url);
            assert_eq!((parts.connection.as_str(), parts.name.as_slice()), (connection, name), "{url}");
        }
    }

    #[test]
    fn tls_is_refused_where_it_is_not_built_in() {
        for url in ["rediss://h/birds", "valkeys://h/birds"] {
            match Address::parse(url) {
                Ok(address) => assert!(matches!(address.connection.addr(), ConnectionAddr::TcpTls { .. })),
                Err(failure) => assert!(cfg!(not(feature = "redis-tls")) && failure.to_string().contains("redis-tls")),
            }
        }
    }

    #[test]
    fn the_rest_is_as_the_client_reads_it() {
        let address = address("redis://reader:a%2Fb@example.org:7000/3/birds?protocol=resp3");
        assert_eq!(address.connection.addr(), &ConnectionAddr::Tcp("example.org".to_owned(), 7000));
        let settings = address.connection.redis_settings();
        assert_eq!((settings.db(), settings.username(), settings.password()), (3, Some("reader"), Some("a/b")));
    }

    #[test]
    fn what_is_shown_has_no_password() {
        for (url, shown) in [
            ("redis://:secret@h:1/birds", "redis://h:1/birds"),
            ("redis://user:secret@h/0/birds?protocol=2", "redis://user@h/0/birds"),
            ("redis://h/birds", "redis://h/birds"),
            ("unix:///s?user=u&pass=secret&db=1&key=birds", "unix:///s?db=1&key=birds"),
        ] {
            assert_eq!(parts(url).shown, shown, "{url}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_and_nothing_of_it_shown() {
        for (url, expected) in [
            ("secret", "not a URL"),
            ("http://secret/birds", "another kind of server"),
            ("redis://secret", "no key"),
            ("redis://secret/", "no key"),
            ("redis://secret/0", "a database and no key"),
            ("redis://secret/0/", "no key"),
            ("redis://secret//birds", "%2F"),
            ("redis://secret/a/b", "%2F"),
            ("redis://secret/0/a/b", "%2F"),
            ("redis://:sec/ret@h/birds", "%2F"),
            ("redis:///secret", "no server"),
            ("redis://:secret@/birds", "no server"),
            ("redis://h/secret%", "%25"),
            ("redis://h/secret%4", "%25"),
            ("redis://h/secret%zz", "%25"),
            ("redis://h/secret?db=1", "protocol"),
            ("redis://h/secret?", ""),
            ("redis://h/secret?a", "no value"),
            ("redis://h:secret/birds", "its host, port, password"),
            ("redis://h/99999999999999999999/secret", "database number"),
            ("unix:///secret", "no key"),
            ("unix://secret?key=a", "no socket"),
            ("unix:///secret?key=", "no key"),
        ] {
            match Address::parse(url) {
                Ok(_) => assert_eq!(expected, "", "{url}"),
                Err(failure) => {
                    let text = failure.to_string();
                    assert!(!expected.is_empty() && text.contains(expected), "{url}: {text}");
                    assert!(!text.contains("sec"), "{text}");
                }
            }
        }
    }

    #[test]
    fn a_password_of_the_environment_is_for_addresses_without_one() {
        let password = |url: &str, given: Option<&str>| {
            let address = address(url).with_password(given.map(str::to_owned));
            address.connection.redis_settings().password().map(str::to_owned)
        };
        assert_eq!(password("redis://h/a", Some("x")).as_deref(), Some("x"));
        assert_eq!(password("redis://:y@h/a", Some("x")).as_deref(), Some("y"));
    }
}
