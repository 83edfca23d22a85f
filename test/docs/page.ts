/**
 * Commands on the pages. A block fenced as `sh` is typed unchanged and must work. A block fenced as `text` after it is
 * its output, with `…` for varying parts. A block that begins with `#!` is a file and is not typed. Commands that need
 * a machine of the reader's (root, hardware, a network) are indented and not fenced.
 */

/** A fenced block of a page. */
export interface Block {
  /** Word after the fence. */
  readonly language: string;
  /** Line of the page on which its text begins, from 1. */
  readonly line: number;
  readonly text: string;
}

/** Commands of one `sh` block, and their output according to the page. */
export interface Session {
  readonly line: number;
  readonly commands: readonly Typed[];
  /** The following `text` block, if only blank lines come between. */
  readonly printed: string | undefined;
}

/** One command, with all of its lines. */
export interface Typed {
  readonly line: number;
  readonly text: string;
  /** Comment at the end of its last line, or ''. */
  readonly comment: string;
}

/** The fenced blocks of a page in their order. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of page.split('\n').entries()) {
    const fence = /^```(\S*)\s*$/.exec(line);
    if (fence === null) open?.lines.push(line);
    else if (open === undefined) open = { language: fence[1] as string, line: index + 2, lines: [] };
    else {
      blocks.push({ language: open.language, line: open.line, text: open.lines.join('\n') });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`line ${open.line - 1}: the block is not closed`);
  return blocks;
}

/** Sessions that readers of a page type, in order. */
export function sessionsOf(page: string): Session[] {
  const blocks = blocksOf(page);
  const lines = page.split('\n');
  return blocks.flatMap((block, index) => {
    if (block.language !== 'sh' || block.text.startsWith('#!')) return [];
    const next = blocks[index + 1];
    const end = block.line + block.text.split('\n').length;
    const between = next === undefined ? [] : lines.slice(end, next.line - 2);
    const printed = next?.language === 'text' && between.every((line) => line.trim() === '') ? next.text : undefined;
    return [{ line: block.line, commands: commandsOf(block), printed }];
  });
}

/** Splits a block like the shell: here-documents and lines that end with a backslash continue. */
function commandsOf({ line: first, text }: Block): Typed[] {
  const commands: Typed[] = [];
  let lines: string[] = [];
  let awaited: string | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    if (lines.length === 0 && (line.trim() === '' || line.startsWith('#'))) continue;
    lines.push(line);
    if (awaited !== undefined) {
      if (line !== awaited) continue;
      awaited = undefined;
    } else {
      awaited = /<<-?\s*'?(\w+)'?/.exec(line)?.[1];
      if (awaited !== undefined || line.endsWith('\\')) continue;
    }
    const comment = / # (.*)$/.exec(lines.at(-1) as string)?.[1] ?? '';
    commands.push({ line: first + index - lines.length + 1, text: lines.join('\n'), comment });
    lines = [];
  }
  if (lines.length > 0) throw new Error(`line ${first}: a here-document does not end`);
  return commands;
}

/** Whether the output matches the page. */
export function printedAs(said: string, printed: string): boolean {
  const pattern = said
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^]*?');
  return new RegExp(`^${pattern}$`).test(printed.trim());
}
