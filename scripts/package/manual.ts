/** Manual pages (man-pages(7)), made from the help of the command line. */
import type { Command } from 'commander';

/** Returns a page for each command, by file name (`vigie-check.1`). */
export function manualPages(program: Command, version: string, date: Date): ReadonlyMap<string, string> {
  const day = date.toISOString().slice(0, 10);
  return new Map(
    withSubcommands([program]).map((path) => [
      `${path.map((command) => command.name()).join('-')}.1`,
      page(path, `"${day}" "vigie ${version}" "Vigie"`),
    ]),
  );
}

/** Returns a command and its subcommands. Each is the path that leads to it from the program. */
function withSubcommands(path: readonly Command[]): readonly (readonly Command[])[] {
  const own = path.at(-1) as Command;
  return [path, ...subcommands(own).flatMap((command) => withSubcommands([...path, command]))];
}

/** Returns the subcommands that have a page: all except `help`, which Commander adds. */
export function subcommands(command: Command): readonly Command[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');
}

function page(path: readonly Command[], origin: string): string {
  const command = path.at(-1) as Command;
  const help = command.createHelp();
  const name = path.map((one) => one.name()).join('-');
  const after = textAfterHelp(command);
  const others = [...path.slice(0, -1), ...subcommands(command)];
  return [
    `.TH "${name.toUpperCase()}" "1" ${origin}`,
    // Long words, such as paths, do not fit into justified lines.
    '.ad l',
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(summaryOf(command))}`,
    '.SH SYNOPSIS',
    `.B ${escaped(help.commandUsage(command))}`,
    '.SH DESCRIPTION',
    escaped(command.description()).replace(/\n\n+/g, '\n.PP\n'),
    ...section('ARGUMENTS', help.visibleArguments(command), (one) => [help.argumentTerm(one), one.description]),
    ...section('OPTIONS', help.visibleOptions(command), (one) => [help.optionTerm(one), help.optionDescription(one)]),
    ...section('COMMANDS', subcommands(command), (one) => [help.subcommandTerm(one), summaryOf(one)]),
    ...(after === '' ? [] : ['.SH EXAMPLES', '.nf', escaped(after), '.fi']),
    '.SH SEE ALSO',
    [...others.map((one) => `.BR ${escaped(pathOf(one, path))} (1),`), '/usr/share/doc/vigie/README.md'].join('\n'),
    '',
  ].join('\n');
}

function pathOf(command: Command, path: readonly Command[]): string {
  const at = path.indexOf(command);
  const whole = at < 0 ? [...path, command] : path.slice(0, at + 1);
  return whole.map((one) => one.name()).join('-');
}

function section<T>(title: string, items: readonly T[], texts: (item: T) => readonly [string, string]): string[] {
  if (items.length === 0) return [];
  const entries = items.map((item) => {
    const [term, description] = texts(item).map(escaped);
    return `.TP\n.B ${term}\n${description}`;
  });
  return [`.SH ${title}`, ...entries];
}

/** Returns the summary in one line; the program itself has no summary. */
export function summaryOf(command: Command): string {
  const [first = ''] = command.description().split('\n');
  return command.summary() || first.replace(/\.$/, '');
}

/** Returns the examples that follow the help of a command. */
function textAfterHelp(command: Command): string {
  let whole = '';
  const before = command.configureOutput();
  command.configureOutput({ ...before, writeOut: (text) => (whole += text) });
  command.outputHelp();
  const own = command.helpInformation();
  command.configureOutput(before);
  if (!whole.startsWith(own)) throw new Error(`the help of ${command.name()} does not begin with its options`);
  return whole
    .slice(own.length)
    .replace(/^\s*Examples:\n/, '')
    .trimEnd();
}

/** Escapes text for roff(7): no escapes, no requests, and every hyphen as a minus that can be copied. */
function escaped(text: string): string {
  return text
    .replaceAll('npx vigie', 'vigie')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/gm, '\\&');
}
