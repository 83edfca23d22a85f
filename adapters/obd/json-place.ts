/** Positions in a JSON document, for faults. */
import { findNodeAtLocation, type Node, type ParseError, parseTree } from 'jsonc-parser';

/** A step into a JSON document: a member name or an index. */
export type Step = string | number;

/** Formats a path, e.g. `commands[3].signals[0].fmt`; the document itself is `the file`. */
export function pathText(path: readonly Step[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`;
  return text === '' ? 'the file' : text;
}

/** Returns the 1-based line of the value at `path`, or of its nearest parent if there is no such value. */
export function lineOf(text: string, path: readonly Step[]): number {
  const root = treeOf(text, []);
  let node: Node | undefined;
  for (let depth = path.length; node === undefined && root !== undefined && depth >= 0; depth--) {
    node = findNodeAtLocation(root, path.slice(0, depth));
  }
  return lineAt(text, node?.offset ?? 0);
}

/**
 * Returns the 1-based line of the first token that RFC 8259 does not allow there; the last line if the text ends
 * too early or exceeds the stack.
 */
export function lineOfSyntaxError(text: string): number {
  const errors: ParseError[] = [];
  treeOf(text, errors);
  return lineAt(text, errors[0]?.offset ?? text.length);
}

/** Parses the document. Returns undefined, without errors, if it is nested so deeply that it exceeds the stack. */
function treeOf(text: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(text, errors, { disallowComments: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    errors.length = 0;
    return undefined;
  }
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}
