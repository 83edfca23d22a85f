/** Completes command lines in real shells, using the completion files of the package. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { bashCompletion, fishCompletion, zshCompletion } from './completion.ts';

export interface CompletingShell {
  readonly shell: 'bash' | 'fish' | 'zsh';
  /** Returns the possible completions of the last word in a line, sorted. */
  readonly complete: (line: string) => readonly string[];
}

/**
 * zsh completes only in its line editor, so the input is typed into a second zsh, which runs in a terminal and prints
 * its completions.
 */
const inTerminal = `zmodload zsh/zpty
zpty typed zsh -f -i
send() { zpty -w typed "$1"; }
send 'PS1= PS2= PROMPT_EOL_MARK=; fpath=("$VIGIE_FOLDER" $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=0'
send 'compadd() { local -a found; builtin compadd -A found "$@"; print -rl -- "<<"$^found">>"; }'
send 'finish() { print "<<end>>"; exit }; zle -N finish; complete-all() { zle complete-word; finish }; zle -N complete-all'
send 'bindkey "^I" complete-all; stty -echo'
send 'print "<<rea""dy>>"'
while zpty -r typed line; do [[ $line == *'<<ready>>'* ]] && break; done
zpty -n -w typed "$VIGIE_LINE"$'\\t'
while zpty -r typed line; do print -r -- "$line"; [[ $line == *'<<end>>'* ]] && break; done
`;

/** Returns the three shells, whose files are in a folder. */
export function shells(folder: string, program: Command): readonly CompletingShell[] {
  const place = join(folder, 'completion');
  mkdirSync(place);
  writeFileSync(join(place, 'vigie.bash'), bashCompletion(program));
  writeFileSync(join(place, 'vigie.fish'), fishCompletion(program));
  writeFileSync(join(place, '_vigie'), zshCompletion(program));
  const run = (shell: string, args: readonly string[], line: string): string =>
    execFileSync(shell, args, {
      encoding: 'utf8',
      // An empty folder, so that no other files appear as completions of a value.
      cwd: place,
      env: { PATH: '/usr/bin:/bin', HOME: place, LC_ALL: 'C.UTF-8', VIGIE_LINE: line, VIGIE_FOLDER: place },
    });
  const sorted = (words: readonly string[]): readonly string[] =>
    [...new Set(words.filter((word) => word !== ''))].sort();
  return [
    {
      shell: 'bash',
      complete: (line) => {
        const code = `source ./vigie.bash
read -ra COMP_WORDS <<<"$VIGIE_LINE"
[[ $VIGIE_LINE == *' ' ]] && COMP_WORDS+=('')
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_vigie
printf '%s\\n' "\${COMPREPLY[@]}"`;
        return sorted(run('bash', ['-c', code], line).split('\n'));
      },
    },
    {
      shell: 'fish',
      complete: (line) => {
        const output = run('fish', ['--no-config', '-c', 'source ./vigie.fish; complete -C "$VIGIE_LINE"'], line);
        return sorted(output.split('\n').map((row) => row.split('\t')[0] as string));
      },
    },
    {
      shell: 'zsh',
      complete: (line) => {
        const output = run('zsh', ['-f', '-c', inTerminal], line);
        const found = [...output.matchAll(/<<([^>]*)>>/g)].map(([, word]) => word as string);
        return sorted(found.filter((word) => word !== 'end'));
      },
    },
  ];
}
