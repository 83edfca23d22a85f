/** Completion of the command line in three shells, generated from the commands and their options. */
import type { Command, Option } from 'commander';
import { subcommands, summaryOf } from './manual.ts';

/** A command, and the names that lead to it, without the program's name. */
interface Place {
  readonly command: Command;
  readonly names: readonly string[];
}

function places(command: Command, names: readonly string[] = []): readonly Place[] {
  return [{ command, names }, ...subcommands(command).flatMap((one) => places(one, [...names, one.name()]))];
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command) as Option[];
}

function namesOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((name) => name !== undefined);
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

/** Returns the text as one line, without characters that a shell could interpret. */
function brief(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll("'", '’');
}

/** Returns the completion for /usr/share/bash-completion. Where an argument may be a file, bash completes files. */
export function bashCompletion(program: Command): string {
  const all = places(program);
  const paths = all.filter(({ names }) => names.length > 0).map(({ names }) => `/${names.join('/')}`);
  const cases = all.map(({ command, names }) => {
    const path = names.map((name) => `/${name}`).join('');
    const words = (list: readonly string[]): string => `'${list.join(' ')}'`;
    const own = optionsOf(command);
    const options = words(own.flatMap(namesOf));
    const values = own.filter(takesValue).map((option) => {
      const choices = option.argChoices;
      return `      ${namesOf(option).join('|')}) ${choices ? `words=${words(choices)}` : 'return'} ;;\n`;
    });
    return `  ${path === '' ? "''" : path})
    commands=${words(subcommands(command).map((one) => one.name()))} options=${options}
    case $previous in
${values.join('')}      *) case $current in -*) words=$options ;; *) words=$commands ;; esac ;;
    esac ;;
`;
  });
  return `# bash completion for vigie
_vigie() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local path= word= words= commands= options=
  COMPREPLY=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $path/$word in
    ${paths.join('|')}) path=$path/$word ;;
    esac
  done
  case $path in
${cases.join('')}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _vigie vigie
`;
}

/** Returns the completion for /usr/share/fish. */
export function fishCompletion(program: Command): string {
  const lines = places(program).flatMap(({ command, names }) => {
    const below = subcommands(command);
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const none =
      below.length === 0 ? [] : [`not __fish_seen_subcommand_from ${below.map((one) => one.name()).join(' ')}`];
    const when = `-n '${[...seen, ...none].join('; and ')}'`;
    return [
      ...below.map((one) => `complete -c vigie ${when} -f -a ${one.name()} -d '${brief(summaryOf(one))}'`),
      ...optionsOf(command).map((option) => {
        const named = [option.short && `-s ${option.short.slice(1)}`, option.long && `-l ${option.long.slice(2)}`];
        const choices = option.argChoices ? `-f -a '${option.argChoices.join(' ')}'` : '';
        const value = takesValue(option) ? ['-r', choices] : [];
        const parts = ['complete -c vigie', when, ...named, ...value, `-d '${brief(option.description)}'`];
        return parts.filter(Boolean).join(' ');
      }),
    ];
  });
  return `# fish completion for vigie\n${lines.join('\n')}\n`;
}

/** Returns the completion for /usr/share/zsh, which has a function for each command. */
export function zshCompletion(program: Command): string {
  const functions = places(program).map(({ command, names }) => {
    const below = subcommands(command);
    const name = ['_vigie', ...names].join('_');
    const options = optionsOf(command).map((option) => `    ${zshOption(option)} \\\n`);
    if (below.length === 0) return `${name}() {\n  _arguments -S \\\n${options.join('')}    '*:file:_files'\n}\n`;
    const described = below.map((one) => `      '${one.name()}:${zshText(summaryOf(one))}'\n`);
    const cases = below.map((one) => `      ${one.name()}) ${name}_${one.name()} ;;\n`);
    return `${name}() {
  local state line
  _arguments -C -S \\
${options.join('')}    '1: :->command' '*:: :->rest'
  case $state in
  command)
    local -a commands=(
${described.join('')}    )
    _describe command commands ;;
  rest)
    case $words[1] in
${cases.join('')}    esac ;;
  esac
}
`;
  });
  return `#compdef vigie\n${functions.join('\n')}\n_vigie "$@"\n`;
}

function zshOption(option: Option): string {
  const names = namesOf(option);
  const value = option.argChoices ? `:value:(${option.argChoices.join(' ')})` : ':value:_files';
  const text = `'[${zshText(option.description)}]${takesValue(option) ? value : ''}'`;
  if (option.variadic) return names.length > 1 ? `'*'{${names.join(',')}}${text}` : `'*'${names[0]}${text}`;
  return names.length > 1 ? `'(${names.join(' ')})'{${names.join(',')}}${text}` : `${names[0]}${text}`;
}

function zshText(text: string): string {
  return brief(text).replace(/[[\]:\\]/g, '\\$&');
}
