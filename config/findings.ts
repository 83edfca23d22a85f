import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';

/** Returns the JSON Pointer (RFC 6901) for field names and list positions. */
export function pointer(...steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Converts a field's name in an error, e.g. `triggerParam.triggers[2].name`, to a JSON Pointer. */
export function placeOf(where: string): string {
  return pointer(...where.split(/[.[\]]+/).filter((step) => step !== ''));
}

/** Collects the faults of one file. Places are JSON Pointers into its contents. */
export class Findings {
  readonly diagnostics: Diagnostic[] = [];
  readonly #file: string;
  readonly #lines: ReadonlyMap<string, number>;
  /** Origins, by JSON Pointer, of contents that come from outside the file, e.g. from an environment variable. */
  readonly #origins: ReadonlyMap<string, string>;
  readonly #broken = new Set<string>();
  readonly #files: 'needed' | 'awaited';

  /** @param files `needed` if {@link missing} files must exist now, `awaited` if the running agent waits for them */
  constructor(
    file: string,
    lines: ReadonlyMap<string, number>,
    origins: ReadonlyMap<string, string> = new Map(),
    files: 'needed' | 'awaited' = 'needed',
  ) {
    this.#file = file;
    this.#lines = lines;
    this.#origins = origins;
    this.#files = files;
  }

  error(at: string, message: string, fix?: string): void {
    this.#add(at, 'error', message, fix);
  }

  warning(at: string, message: string, fix?: string): void {
    this.#add(at, 'warning', message, fix);
  }

  /** Reports a file that may still appear or be repaired, such as a certificate. */
  missing(at: string, message: string, fix?: string): void {
    this.#add(at, this.#files === 'needed' ? 'error' : 'warning', message, fix);
  }

  /** Adds the diagnostics of another file. */
  take(diagnostics: readonly Diagnostic[]): void {
    this.diagnostics.push(...diagnostics);
  }

  /** Returns the line of the field, or of its nearest ancestor that has a line; 0 for the whole file. */
  line(at: string): number {
    for (let place = at; place !== ''; place = parent(place)) {
      const line = this.#lines.get(place);
      if (line !== undefined) return line;
    }
    return 0;
  }

  /** Marks contents that do not match the schema, so that no further check relies on their type. */
  distrust(at: string): void {
    for (let place = at; ; place = parent(place)) {
      this.#broken.add(place);
      if (place === '') return;
    }
  }

  /** Returns true if everything below `at` matches the schema. */
  sound(at: string): boolean {
    return !this.#broken.has(at);
  }

  get failed(): boolean {
    return this.diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  }

  /** Returns the diagnostics in the order of the file; those of other files follow in the order they were found. */
  sorted(): Diagnostic[] {
    const files = new Map([[this.#file, 0]]);
    for (const { file } of this.diagnostics) if (!files.has(file)) files.set(file, files.size);
    const rank = (diagnostic: Diagnostic) => files.get(diagnostic.file) ?? 0;
    return [...this.diagnostics].sort((a, b) => rank(a) - rank(b) || a.line - b.line);
  }

  #add(at: string, severity: Diagnostic['severity'], message: string, fix: string | undefined): void {
    const origin = this.#origins.get(at);
    const where = origin === undefined ? { file: this.#file, line: this.line(at) } : { file: origin, line: 0 };
    this.diagnostics.push({ ...where, severity, message, ...defined({ fix }) });
  }
}

function parent(at: string): string {
  return at.slice(0, Math.max(0, at.lastIndexOf('/')));
}
