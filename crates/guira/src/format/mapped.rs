//! Files mapped to memory. No code here can keep others from changing them, so the caller must promise that nobody does:
//! hence the one `unsafe` outside the room `probe`.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::path::Path;

use memmap2::MmapOptions;

use super::behind::Behind;
use super::header::HEADER_SIZE;
use super::load::{no_memory, read_header};
use super::{FileHeader, LoadOptions};
use crate::cast::wide;
use crate::error::LoadError;
use crate::filter::CuckooFilterView;
use crate::table::{Borrowed, try_arc};

impl CuckooFilterView<'static> {
    /// Makes a view of a file that is mapped to memory. It opens at once, whatever its size: the system reads only the
    /// pages that lookups need. The file stays mapped until the view and all its clones are gone.
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new), and [`LoadError::Io`] where the file can't be opened or mapped.
    ///
    /// # Safety
    ///
    /// While it is mapped, nobody may change the file's bytes or cut it off, neither in this process nor in another.
    /// Reading bytes that change is undefined behaviour in Rust, and reading a page that was cut off ends the process.
    /// Appending to it, as the program `guira` does, and putting another file in its place, as renaming does, are no changes: the
    /// view has what was there when it was made.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, CuckooFilterView};
    ///
    /// let path = std::env::temp_dir().join(format!("mapped-{}.guira", std::process::id()));
    /// let mut filter = CuckooFilter::with_capacity(1000, 0.001)?;
    /// filter.insert("ani")?;
    /// std::fs::write(&path, filter.to_bytes())?;
    ///
    /// // SAFETY: the file is this example's own, which writes to it no more.
    /// let view = unsafe { CuckooFilterView::map(&path)? };
    /// assert!(view.contains("ani"));
    /// # drop(view);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(unsafe_code, reason = "the caller alone can know that the file does not change")]
    pub unsafe fn map<P: AsRef<Path>>(path: P) -> Result<Self, LoadError> {
        // SAFETY: the caller promises what `map` asks for.
        unsafe { LoadOptions::new().map(path) }
    }
}

impl LoadOptions {
    /// Makes a view of a file that is mapped to memory. See [`CuckooFilterView::map`].
    ///
    /// # Errors
    ///
    /// Those of [`CuckooFilterView::map`]; [`LoadError::SecretKeyNotUsed`] or [`LoadError::SecretKeyDiffers`] where the key is not the
    /// file's.
    ///
    /// # Safety
    ///
    /// As with [`CuckooFilterView::map`], nobody may change the file or cut it off while it is mapped.
    ///
    /// # Examples
    ///
    /// ```
    /// use guira::{CuckooFilter, KeyHasher, LoadOptions};
    ///
    /// let key = *b"16 random bytes!";
    /// let builder = CuckooFilter::builder().capacity(100).false_positive_rate(0.01).hasher(KeyHasher::sip_hash_13(key));
    /// let file = builder.build()?.to_bytes();
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("seen.guira");
    /// std::fs::write(&path, &file)?;
    ///
    /// // SAFETY: the file is this example's own, which writes to it no more.
    /// let view = unsafe { LoadOptions::new().secret_key(key).map(&path)? };
    /// assert!(view.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[expect(unsafe_code, reason = "the caller alone can know that the file does not change")]
    pub unsafe fn map<P: AsRef<Path>>(self, path: P) -> Result<CuckooFilterView<'static>, LoadError> {
        let file = File::open(path)?;
        let header = FileHeader::from_bytes(&read_header(&file)?)?;
        let description = header.describe(self.key)?;
        let (expected, found) = (header.file_size(), file.metadata()?.len());
        if found < expected {
            return Err(LoadError::Truncated { expected, found });
        }
        (&file).seek(SeekFrom::Start(header.chunks_at()))?;
        let behind = Behind::read(&header, &file, self.normalization)?;
        let size = usize::try_from(header.table_size()).map_err(|_| header.out_of_memory())?;
        // SAFETY: the file is as long as is mapped of it, and the caller promises that it stays so and does not change.
        let table = unsafe { MmapOptions::new().offset(wide(HEADER_SIZE)).len(size).map(&file)? };
        let table = Borrowed::Mapping(try_arc(table).map_err(no_memory)?);
        Ok(CuckooFilterView::from_parts(description, table, &behind.changes))
    }
}
