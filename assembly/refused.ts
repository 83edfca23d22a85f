import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { VigieError } from '../protocol/errors.ts';

/** Files of people that cannot be used: code `configuration.wrong`, with everything that is wrong with them. */
export class FilesRefused extends VigieError {
  /** Findings with file, line and fix, of which one at least is an error. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(message: string, diagnostics: readonly Diagnostic[], where?: string) {
    super('configuration.wrong', message, defined({ where }));
    this.diagnostics = diagnostics;
  }
}
