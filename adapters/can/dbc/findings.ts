import { defined } from '../../../protocol/defined.ts';
import type { Diagnostic } from '../../../protocol/diagnostic.ts';

/** Maximum number of findings: a file that is not a network description would yield one per line. */
const most = 500;

/** Collects the findings in one file. */
export class DbcFindings {
  readonly file: string;
  readonly #list: Diagnostic[] = [];
  #left = 0;

  constructor(file: string) {
    this.file = file;
  }

  add(severity: Diagnostic['severity'], line: number, message: string, fix?: string): void {
    if (this.#list.length >= most) this.#left++;
    else this.#list.push({ file: this.file, line, severity, message, ...defined({ fix }) });
  }

  /** Returns the findings in the order of their lines. */
  list(): Diagnostic[] {
    const sorted = this.#list.toSorted((a, b) => a.line - b.line);
    if (this.#left > 0) {
      const message = `${this.#left} more findings are not listed`;
      sorted.push({ file: this.file, line: 0, severity: 'warning', message });
    }
    return sorted;
  }
}
