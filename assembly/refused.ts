import { defined } from '../protocol/defined.ts';
import type { Diagnostic } from '../protocol/diagnostic.ts';
import { VigieError } from '../protocol/errors.ts';

/** Reports that the user's files are unusable: code `configuration.wrong`, with all faults of the files. */
export class FilesRefused extends VigieError {
  /** Findings, each with file, line and fix; at least one is an error. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(message: string, diagnostics: readonly Diagnostic[], where?: string) {
    super('configuration.wrong', message, defined({ where }));
    this.diagnostics = diagnostics;
  }
}
