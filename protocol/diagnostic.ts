/** A finding in a file that a person wrote: location, fault, and fix. */
export interface Diagnostic {
  readonly file: string;
  /** 1-based; 0 if the finding concerns the whole file. */
  readonly line: number;
  readonly severity: 'error' | 'warning' | 'info';
  readonly message: string;
  readonly fix?: string;
}

/** Formats as `file:line: severity: message (fix)`, which editors and terminals make clickable. */
export function formatDiagnostic(d: Diagnostic): string {
  const at = d.line > 0 ? `${d.file}:${d.line}` : d.file;
  return `${at}: ${d.severity}: ${d.message}${d.fix === undefined ? '' : ` (${d.fix})`}`;
}
