import type { Diagnostic } from '../../../protocol/diagnostic.ts';
import type { Database } from './database.ts';
import { noDeclarations } from './declarations.ts';
import { DbcFindings } from './findings.ts';
import { resolve } from './resolve.ts';
import { Scanner, SyntaxFault } from './scanner.ts';
import { statements } from './statements.ts';
import { decodeText } from './text.ts';

/**
 * Loads a CAN network description (Vector DBC file format). Never throws: reports deviations as diagnostics. A file
 * that is not a network description yields an empty database and a diagnostic of severity `error`.
 * @param file name for the diagnostics.
 */
export function parseDbc(bytes: Uint8Array, file: string): { database: Database; diagnostics: Diagnostic[] } {
  const findings = new DbcFindings(file);
  const declarations = noDeclarations();
  const scanner = new Scanner(decodeText(bytes));
  let understood = 0;
  while (!scanner.ended) {
    const start = scanner.at;
    const line = scanner.line();
    const keyword = scanner.peekWord();
    const statement = Object.hasOwn(statements, keyword) ? statements[keyword] : undefined;
    try {
      if (statement === undefined)
        throw new SyntaxFault(start, `'${scanner.until('').slice(0, 20)}' is not a statement`);
      scanner.word();
      statement(scanner, declarations, findings);
      understood++;
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error;
      const at = scanner.line(error.at);
      const where = at === line ? '' : ` (the statement begins in line ${line})`;
      findings.add('warning', at, `${error.message}${where}; left out up to the next statement`);
      scanner.recover();
    }
    // Each statement consumes at least its keyword, and recovery ends after the fault. This line guarantees progress.
    if (scanner.at <= start) scanner.at = start + 1;
  }
  const database = resolve(declarations, file, findings);
  if (understood === 0) {
    const message = 'this is not a CAN network description: it has no statement of one';
    findings.add('error', 0, message, 'give a .dbc file');
  } else if (database.messages.length === 0) {
    findings.add('warning', 0, 'the network description has no messages');
  }
  return { database, diagnostics: findings.list() };
}
