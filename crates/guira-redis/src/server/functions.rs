//! The module API of Redis and Valkey: the functions that the module calls, looked up by name when it is loaded. Functions
//! that an older server lacks are `None`.

use std::ffi::{CStr, c_char, c_int, c_long, c_longlong, c_uint, c_void};
use std::sync::OnceLock;

use super::allocator::find_alignment;

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub(super) struct $name {
            opaque: [u8; 0],
        }
    )*};
}

opaque! {
    /// `RedisModuleCtx`
    RawContext
    /// `RedisModuleString`
    RawString
    /// `RedisModuleKey`
    RawKey
    /// `RedisModuleType`
    RawType
    /// `RedisModuleIO`
    RawStream
    /// `RedisModuleDigest`
    RawDigest
    /// `RedisModuleDefragCtx`
    RawDefrag
    /// `RedisModuleInfoCtx`
    RawInformation
    /// `RedisModuleCommand`
    RawCommand
    /// `RedisModuleBlockedClient`
    RawBlocked
}

/// `RedisModuleCmdFunc`
pub(super) type CommandFunction = unsafe extern "C" fn(*mut RawContext, *mut *mut RawString, c_int) -> c_int;
/// What frees the private data of a client that was blocked.
pub(super) type FreeFunction = unsafe extern "C" fn(*mut RawContext, *mut c_void);
/// `RedisModuleTimerProc`
pub(super) type TimerFunction = unsafe extern "C" fn(*mut RawContext, *mut c_void);
/// `RedisModuleInfoFunc`
pub(super) type InformationFunction = unsafe extern "C" fn(*mut RawInformation, c_int);
/// `RedisModuleConfigApplyFunc`
pub(super) type ApplyFunction = unsafe extern "C" fn(*mut RawContext, *mut c_void, *mut *mut RawString) -> c_int;
/// `RedisModuleConfigGetNumericFunc`
pub(super) type GetNumber = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_longlong;
/// `RedisModuleConfigSetNumericFunc`
pub(super) type SetNumber = unsafe extern "C" fn(*const c_char, c_longlong, *mut c_void, *mut *mut RawString) -> c_int;
/// `RedisModuleConfigGetEnumFunc`
pub(super) type GetChoice = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_int;
/// `RedisModuleConfigSetEnumFunc`
pub(super) type SetChoice = unsafe extern "C" fn(*const c_char, c_int, *mut c_void, *mut *mut RawString) -> c_int;
/// `RedisModuleConfigGetStringFunc`
pub(super) type GetText = unsafe extern "C" fn(*const c_char, *mut c_void) -> *mut RawString;
/// `RedisModuleConfigSetStringFunc`
pub(super) type SetText =
    unsafe extern "C" fn(*const c_char, *mut RawString, *mut c_void, *mut *mut RawString) -> c_int;

/// `REDISMODULE_OK`
pub(super) const OK: c_int = 0;
/// `REDISMODULE_ERR`
pub(super) const ERR: c_int = 1;

/// `RedisModule_GetApi`
type GetFunction = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;

macro_rules! functions {
    (
        every server has { $($needed:ident $needed_name:literal: $needed_type:ty;)* }
        later ones have { $($later:ident $later_name:literal: $later_type:ty;)* }
    ) => {
        /// The functions of the server that loaded the module.
        pub(super) struct Functions {
            $(pub(super) $needed: $needed_type,)*
            $(pub(super) $later: Option<$later_type>,)*
        }

        impl Functions {
            fn find(find: impl Fn(&'static CStr) -> *mut c_void) -> Result<Self, &'static CStr> {
                Ok(Self {
                    $($needed: {
                        let function = find($needed_name);
                        // SAFETY: a pointer to a function of this name and type, or null, which is `None`.
                        let function = unsafe { std::mem::transmute::<*mut c_void, Option<$needed_type>>(function) };
                        function.ok_or($needed_name)?
                    },)*
                    $($later: {
                        let function = find($later_name);
                        // SAFETY: a pointer to a function of this name and type, or null, which is `None`.
                        unsafe { std::mem::transmute::<*mut c_void, Option<$later_type>>(function) }
                    },)*
                })
            }
        }
    };
}

type Alloc = unsafe extern "C" fn(usize) -> *mut c_void;
type AllocZeroed = unsafe extern "C" fn(usize, usize) -> *mut c_void;
type Reallocate = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
type SaveBuffer = unsafe extern "C" fn(*mut RawStream, *const c_char, usize);
type AddBuffer = unsafe extern "C" fn(*mut RawDigest, *const c_char, usize);
type ReplyText = unsafe extern "C" fn(*mut RawContext, *const c_char) -> c_int;
type ReplyLength = unsafe extern "C" fn(*mut RawContext, c_long) -> c_int;
type ReplyBuffer = unsafe extern "C" fn(*mut RawContext, *const c_char, usize) -> c_int;
type InformationNumber = unsafe extern "C" fn(*mut RawInformation, *const c_char, u64) -> c_int;
type InformationText = unsafe extern "C" fn(*mut RawInformation, *const c_char, *const c_char) -> c_int;
type CreateCommand =
    unsafe extern "C" fn(*mut RawContext, *const c_char, CommandFunction, *const c_char, c_int, c_int, c_int) -> c_int;
type BlockClient = unsafe extern "C" fn(
    *mut RawContext,
    CommandFunction,
    Option<CommandFunction>,
    FreeFunction,
    c_longlong,
) -> *mut RawBlocked;
type RegisterNumber = unsafe extern "C" fn(
    *mut RawContext,
    *const c_char,
    c_longlong,
    c_uint,
    c_longlong,
    c_longlong,
    GetNumber,
    SetNumber,
    Option<ApplyFunction>,
    *mut c_void,
) -> c_int;
type RegisterChoice = unsafe extern "C" fn(
    *mut RawContext,
    *const c_char,
    c_int,
    c_uint,
    *const *const c_char,
    *const c_int,
    c_int,
    GetChoice,
    SetChoice,
    Option<ApplyFunction>,
    *mut c_void,
) -> c_int;
type RegisterText = unsafe extern "C" fn(
    *mut RawContext,
    *const c_char,
    *const c_char,
    c_uint,
    GetText,
    SetText,
    Option<ApplyFunction>,
    *mut c_void,
) -> c_int;

functions! {
    every server has {
        alloc c"RedisModule_Alloc": Alloc;
        calloc c"RedisModule_Calloc": AllocZeroed;
        realloc c"RedisModule_Realloc": Reallocate;
        free c"RedisModule_Free": unsafe extern "C" fn(*mut c_void);
        is_module_name_busy c"RedisModule_IsModuleNameBusy": unsafe extern "C" fn(*const c_char) -> c_int;
        set_module_attributes c"RedisModule_SetModuleAttribs": unsafe extern "C" fn(*mut RawContext, *const c_char, c_int, c_int);
        set_module_options c"RedisModule_SetModuleOptions": unsafe extern "C" fn(*mut RawContext, c_int);
        create_command c"RedisModule_CreateCommand": CreateCommand;
        get_command c"RedisModule_GetCommand": unsafe extern "C" fn(*mut RawContext, *const c_char) -> *mut RawCommand;
        set_command_info c"RedisModule_SetCommandInfo": unsafe extern "C" fn(*mut RawCommand, *const c_void) -> c_int;
        create_data_type c"RedisModule_CreateDataType": unsafe extern "C" fn(*mut RawContext, *const c_char, c_int, *const c_void) -> *mut RawType;
        register_number c"RedisModule_RegisterNumericConfig": RegisterNumber;
        register_text c"RedisModule_RegisterStringConfig": RegisterText;
        load_configuration c"RedisModule_LoadConfigs": unsafe extern "C" fn(*mut RawContext) -> c_int;
        register_information c"RedisModule_RegisterInfoFunc": unsafe extern "C" fn(*mut RawContext, InformationFunction) -> c_int;
        information_section c"RedisModule_InfoAddSection": unsafe extern "C" fn(*mut RawInformation, *const c_char) -> c_int;
        information_number c"RedisModule_InfoAddFieldULongLong": InformationNumber;
        information_text c"RedisModule_InfoAddFieldCString": InformationText;
        milliseconds c"RedisModule_Milliseconds": unsafe extern "C" fn() -> c_longlong;
        log c"RedisModule_Log": unsafe extern "C" fn(*mut RawContext, *const c_char, *const c_char, ...);
        log_stream c"RedisModule_LogIOError": unsafe extern "C" fn(*mut RawStream, *const c_char, *const c_char, ...);
        context_flags c"RedisModule_GetContextFlags": unsafe extern "C" fn(*mut RawContext) -> c_int;
        string_bytes c"RedisModule_StringPtrLen": unsafe extern "C" fn(*const RawString, *mut usize) -> *const c_char;
        create_string c"RedisModule_CreateString": unsafe extern "C" fn(*mut RawContext, *const c_char, usize) -> *mut RawString;
        free_string c"RedisModule_FreeString": unsafe extern "C" fn(*mut RawContext, *mut RawString);
        open_key c"RedisModule_OpenKey": unsafe extern "C" fn(*mut RawContext, *mut RawString, c_int) -> *mut RawKey;
        close_key c"RedisModule_CloseKey": unsafe extern "C" fn(*mut RawKey);
        key_type c"RedisModule_KeyType": unsafe extern "C" fn(*mut RawKey) -> c_int;
        type_of_value c"RedisModule_ModuleTypeGetType": unsafe extern "C" fn(*mut RawKey) -> *mut RawType;
        value c"RedisModule_ModuleTypeGetValue": unsafe extern "C" fn(*mut RawKey) -> *mut c_void;
        set_value c"RedisModule_ModuleTypeSetValue": unsafe extern "C" fn(*mut RawKey, *mut RawType, *mut c_void) -> c_int;
        signal_modified c"RedisModule_SignalModifiedKey": unsafe extern "C" fn(*mut RawContext, *mut RawString) -> c_int;
        notify c"RedisModule_NotifyKeyspaceEvent": unsafe extern "C" fn(*mut RawContext, c_int, *const c_char, *mut RawString) -> c_int;
        replicate c"RedisModule_Replicate": unsafe extern "C" fn(*mut RawContext, *const c_char, *const c_char, ...) -> c_int;
        replicate_verbatim c"RedisModule_ReplicateVerbatim": unsafe extern "C" fn(*mut RawContext) -> c_int;
        reply_integer c"RedisModule_ReplyWithLongLong": unsafe extern "C" fn(*mut RawContext, c_longlong) -> c_int;
        reply_boolean c"RedisModule_ReplyWithBool": unsafe extern "C" fn(*mut RawContext, c_int) -> c_int;
        reply_error c"RedisModule_ReplyWithError": ReplyText;
        reply_status c"RedisModule_ReplyWithSimpleString": ReplyText;
        reply_array c"RedisModule_ReplyWithArray": ReplyLength;
        reply_map c"RedisModule_ReplyWithMap": ReplyLength;
        reply_bytes c"RedisModule_ReplyWithStringBuffer": ReplyBuffer;
        reply_null c"RedisModule_ReplyWithNull": unsafe extern "C" fn(*mut RawContext) -> c_int;
        save_number c"RedisModule_SaveUnsigned": unsafe extern "C" fn(*mut RawStream, u64);
        save_bytes c"RedisModule_SaveStringBuffer": SaveBuffer;
        load_number c"RedisModule_LoadUnsigned": unsafe extern "C" fn(*mut RawStream) -> u64;
        load_bytes c"RedisModule_LoadStringBuffer": unsafe extern "C" fn(*mut RawStream, *mut usize) -> *mut c_char;
        is_stream_broken c"RedisModule_IsIOError": unsafe extern "C" fn(*mut RawStream) -> c_int;
        emit_command c"RedisModule_EmitAOF": unsafe extern "C" fn(*mut RawStream, *const c_char, *const c_char, ...);
        digest_bytes c"RedisModule_DigestAddStringBuffer": AddBuffer;
        digest_end c"RedisModule_DigestEndSequence": unsafe extern "C" fn(*mut RawDigest);
        random_bytes c"RedisModule_GetRandomBytes": unsafe extern "C" fn(*mut u8, usize);
        register_choice c"RedisModule_RegisterEnumConfig": RegisterChoice;
        block_client c"RedisModule_BlockClient": BlockClient;
        unblock_client c"RedisModule_UnblockClient": unsafe extern "C" fn(*mut RawBlocked, *mut c_void) -> c_int;
        private_data c"RedisModule_GetBlockedClientPrivateData": unsafe extern "C" fn(*mut RawContext) -> *mut c_void;
        create_timer c"RedisModule_CreateTimer": unsafe extern "C" fn(*mut RawContext, c_longlong, TimerFunction, *mut c_void) -> u64;
        selected_database c"RedisModule_GetSelectedDb": unsafe extern "C" fn(*mut RawContext) -> c_int;
        select_database c"RedisModule_SelectDb": unsafe extern "C" fn(*mut RawContext, c_int) -> c_int;
        // Whether clients are paused.
        avoid_replica_traffic c"RedisModule_AvoidReplicaTraffic": unsafe extern "C" fn() -> c_int;
        move_memory c"RedisModule_DefragAlloc": unsafe extern "C" fn(*mut RawDefrag, *mut c_void) -> *mut c_void;
    }
    later ones have {
        // The size of an allocation, with the allocator's own overhead.
        malloc_size c"RedisModule_MallocSize": unsafe extern "C" fn(*mut c_void) -> usize;
        // From 7.0.something to 7.4: allocations that may fail instead of ending the server.
        try_alloc c"RedisModule_TryAlloc": Alloc;
        try_calloc c"RedisModule_TryCalloc": AllocZeroed;
        try_realloc c"RedisModule_TryRealloc": Reallocate;
        // From Redis 7.4 and Valkey 8 on.
        add_acl_category c"RedisModule_AddACLCategory": unsafe extern "C" fn(*mut RawContext, *const c_char) -> c_int;
        set_acl_categories c"RedisModule_SetCommandACLCategories": unsafe extern "C" fn(*mut RawCommand, *const c_char) -> c_int;
        // Hides an argument of the present command from the slow log and MONITOR.
        redact_argument c"RedisModule_RedactClientCommandArgument": unsafe extern "C" fn(*mut RawContext, c_int) -> c_int;
        // An event of LATENCY, with its milliseconds.
        add_latency c"RedisModule_LatencyAddSample": unsafe extern "C" fn(*const c_char, c_longlong);
        // A name that only Valkey has.
        valkey_context_flags c"ValkeyModule_GetContextFlags": unsafe extern "C" fn(*mut RawContext) -> c_int;
    }
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

/// The functions, if a server has loaded this module.
pub(super) fn if_loaded() -> Option<&'static Functions> {
    FUNCTIONS.get()
}

/// The functions.
///
/// # Panics
///
/// If no server has loaded the module; then nobody calls its callbacks either.
pub(super) fn functions() -> &'static Functions {
    FUNCTIONS.get().expect("only a server calls, and it has loaded the module")
}

/// Returns `true` if the server is Valkey, whose later flags mean other things than those of Redis.
pub(super) fn is_valkey() -> bool {
    functions().valkey_context_flags.is_some()
}

/// Finds all functions. Nothing may be allocated before that.
///
/// # Errors
///
/// The name of a required function that the server lacks.
///
/// # Safety
///
/// `context` is the one that the server passes to `RedisModule_OnLoad`.
pub(super) unsafe fn find(context: *mut RawContext) -> Result<&'static Functions, &'static CStr> {
    // SAFETY: a context begins with the pointer to the function that finds all others.
    let get = unsafe { context.cast::<Option<GetFunction>>().read() };
    let get = get.ok_or(c"RedisModule_GetApi")?;
    let found = Functions::find(|name| {
        let mut function = std::ptr::null_mut();
        // SAFETY: the function takes a name, and a pointer to a pointer.
        let status = unsafe { get(name.as_ptr(), &raw mut function) };
        if status == OK { function } else { std::ptr::null_mut() }
    })?;
    find_alignment(&found);
    Ok(FUNCTIONS.get_or_init(|| found))
}
