/** A finding about a file that a person wrote: where, what, and what to do about it. */
export interface Diagnostic {
  readonly file: string;
  /** 1-based; 0 when the finding is about the whole file. */
  readonly line: number;
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  readonly fix?: string;
}

/** `file:line: severity: message (fix)`, the form editors and terminals make clickable. */
export function formatDiagnostic(d: Diagnostic): string {
  const at = d.line > 0 ? `${d.file}:${d.line}` : d.file;
  return `${at}: ${d.severity}: ${d.message}${d.fix === undefined ? '' : ` (${d.fix})`}`;
}
