use std::ffi::CStr;

use smallvec::SmallVec;

use super::context::{Context, OwnedString};
use super::functions::RawString;
use super::names;
use crate::command::CommandName;

/// How many items are told of in one command.
const ITEMS_AT_ONCE: usize = 256;

/// The most words before the items.
const OTHERS: usize = 24;

/// A command that is replicated, without its name. Replicas are told of what has changed in any case, so this takes no memory but the
/// stack's and the server's.
pub(super) struct Words {
    context: Context,
    key: *mut RawString,
    behind_key: SmallVec<[OwnedString; OTHERS + ITEMS_AT_ONCE]>,
}

impl Words {
    pub(super) fn new(context: Context, key: *mut RawString) -> Self {
        Self { context, key, behind_key: SmallVec::new() }
    }

    pub(super) fn push(&mut self, word: &[u8]) {
        self.behind_key.push(self.context.string(word));
    }

    pub(super) fn replicate(&self, command: &CStr) {
        let mut all = SmallVec::<[*mut RawString; 1 + OTHERS + ITEMS_AT_ONCE]>::new();
        all.push(self.key);
        all.extend(self.behind_key.iter().map(|word| word.raw));
        self.context.replicate(command, &all);
    }

    /// Replicates an insertion of these items, whose other words are there, in as many commands as it takes, and at least one.
    pub(super) fn replicate_insertion<'item>(&mut self, items: impl Iterator<Item = &'item [u8]>) {
        let others = self.behind_key.len();
        let mut items = items.peekable();
        loop {
            items.by_ref().take(ITEMS_AT_ONCE).for_each(|item| self.push(item));
            self.replicate(names::of(CommandName::Insert));
            self.behind_key.truncate(others);
            if items.peek().is_none() {
                break;
            }
        }
    }
}
