/** Codes of errors that say what is there: no file, or a folder in place of a file, or the reverse. */
const FINDINGS: readonly unknown[] = ['ENOENT', 'EISDIR', 'ENOTDIR'];

/**
 * Whether the operating system refused to return the contents of a file that may be intact (EIO, EMFILE, ENFILE, ENOMEM,
 * EACCES, …). Such an error says nothing of the contents: only bytes that were read can be damaged. An error that carries
 * another one as its cause counts as that one.
 */
export function isReadFailure(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code, errno } = one as NodeJS.ErrnoException;
    if (typeof errno === 'number' || /^E[A-Z0-9]+$/.test(code ?? '')) return !FINDINGS.includes(code);
  }
  return false;
}
