import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';

/** A JSON Pointer (RFC 6901) from member names and list positions. */
export function pointer(...steps: readonly (string | number)[]): string {
  return steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** A member as errors name it, `triggerParam.triggers[2].name`, as a JSON Pointer. */
export function placeOf(where: string): string {
  return pointer(...where.split(/[.[\]]+/).filter((step) => step !== ''));
}

/** Collects what is wrong with one file; places are JSON Pointers into its contents. */
export class Findings {
  readonly diagnostics: Diagnostic[] = [];
  readonly #file: string;
  readonly #lines: ReadonlyMap<string, number>;
  /** Contents that came from elsewhere, e.g. an environment variable, by pointer. */
  readonly #origins: ReadonlyMap<string, string>;
  readonly #broken = new Set<string>();
  readonly #files: 'needed' | 'awaited';

  /** @param files whether {@link missing} files must be there now, or the running agent waits for them */
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

  /** A file that may still come, or be mended, such as a certificate. */
  missing(at: string, message: string, fix?: string): void {
    this.#add(at, this.#files === 'needed' ? 'error' : 'warning', message, fix);
  }

  /** Takes over what was found about another file. */
  take(diagnostics: readonly Diagnostic[]): void {
    this.diagnostics.push(...diagnostics);
  }

  /** The line of the member or of the nearest one around it; 0 for the whole file. */
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

  /** True if everything below `at` matches the schema. */
  sound(at: string): boolean {
    return !this.#broken.has(at);
  }

  get failed(): boolean {
    return this.diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  }

  /** In the order of the file; other files follow in the order in which they came up. */
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
