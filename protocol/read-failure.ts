/** Error codes that describe the file system: no file, or a folder in place of a file, or the reverse. */
const FINDINGS: readonly unknown[] = ['ENOENT', 'EISDIR', 'ENOTDIR'];

/**
 * Returns true if the operating system could not read a file whose contents may be intact (EIO, EMFILE, ENFILE,
 * ENOMEM, EACCES, …). Such an error does not indicate damage: only bytes that were read can be damaged. An error whose
 * cause is another error counts as that one.
 */
export function isReadFailure(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code, errno } = one as NodeJS.ErrnoException;
    if (typeof errno === 'number' || /^E[A-Z0-9]+$/.test(code ?? '')) return !FINDINGS.includes(code);
  }
  return false;
}
