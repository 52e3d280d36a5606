//! The errors of a server, with advice.

use redis::{ErrorKind, RedisError, ServerErrorKind};

/// The message for an error, with what to do. The names of the module's commands begin with `prefix`.
pub(super) fn explain(error: &RedisError, prefix: &str) -> String {
    use ServerErrorKind as Kind;

    let text = text(error);
    match error.kind() {
        ErrorKind::Io => connection_problem(error),
        ErrorKind::AuthenticationFailed => "the server refuses the password, or the user, of the address".to_owned(),
        ErrorKind::Server(Kind::BusyLoading) => "the server is loading its data: try again when it has".to_owned(),
        ErrorKind::Server(Kind::ReadOnly) => "a replica, which takes no changes: give its primary".to_owned(),
        ErrorKind::Server(Kind::Moved | Kind::Ask) => match error.redirect_node() {
            Some((node, _)) => format!("this key is on another node of the cluster: give {node} as the server"),
            None => text,
        },
        ErrorKind::Server(Kind::NoPerm) => format!("{text}: the user needs the commands that \"guira help push\" names"),
        _ => match error.code() {
            Some("NOAUTH") => {
                "the server asks for a password: redis://:PASSWORD@HOST/KEY has one, and so may the environment variable \
                 REDISCLI_AUTH"
                    .to_owned()
            }
            Some("OOM") => format!("{text} It needs more memory (maxmemory), or fewer keys"),
            Some("WRONGTYPE") => "holds something else, and no filter".to_owned(),
            _ if text.starts_with("unknown command") => format!(
                "the server has no commands {}*: load the module guira-redis there, or give the --prefix that it was loaded \
                 with",
                prefix.to_uppercase()
            ),
            _ if text.starts_with("wrong number of arguments") || text.starts_with("Couldn't create") => format!(
                "{text}: the commands {}* are those of RedisBloom perhaps: beside it the module guira-redis has a --prefix",
                prefix.to_uppercase()
            ),
            _ if text.contains("guira.memory-limit") => {
                format!("{text}: raise it by CONFIG SET guira.memory-limit, or in the server's configuration")
            }
            _ => text,
        },
    }
}

/// The server's own text of an error.
pub(super) fn text(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some("ERR"), Some(detail)) => detail.to_owned(),
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        (Some(code), None) => code.to_owned(),
        (None, _) => error.to_string(),
    }
}

fn connection_problem(error: &RedisError) -> String {
    if error.is_connection_refusal() {
        "no server listens there".to_owned()
    } else if error.is_timeout() {
        "the server does not answer".to_owned()
    } else if error.is_connection_dropped() {
        "the server has closed the connection".to_owned()
    } else {
        let text = error.to_string();
        text.split(" (os error ").next().unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use redis::make_extension_error;

    use super::*;

    #[test]
    fn what_servers_say_is_told_as_they_say_it() {
        let error = |code: &str, detail: &str| make_extension_error(code.to_owned(), Some(detail.to_owned()));
        assert_eq!(text(&error("Invalid", "header")), "Invalid header");
        assert_eq!(text(&error("ERR", "item exists")), "item exists");
        assert_eq!(explain(&error("Invalid", "header"), "cf."), "Invalid header");
        assert!(explain(&error("ERR", "unknown command 'GF.X', with args"), "gf.").contains("GF.*"));
        assert!(explain(&error("OOM", "command not allowed."), "cf.").contains("maxmemory"));
        assert!(explain(&error("NOAUTH", "Authentication required."), "cf.").contains("REDISCLI_AUTH"));
    }
}
