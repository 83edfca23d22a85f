/** List of the command checks in docs/commands.md, generated from the list in the code. */
import { checks } from '../agent/remotes/checks.ts';
import { factOf } from '../protocol/errors.ts';
import { withSection } from './generated-section.ts';

const unanswered = new Set<string>(['message', 'arrival', 'repetition', 'signature', 'replay']);

export function commandsPage(): string {
  // The text below the table on the page says which checks are repeated.
  const rows = checks
    .filter(({ demand }) => demand !== 'still so')
    .map(({ stage, name, demand, codes }, index) => {
      const causes = codes.map((code) => factOf(code).cause).join(', ') || 'as the interlock says';
      return `| ${index + 1} | ${name} | ${demand} | ${unanswered.has(stage) ? 'no answer' : causes} |`;
    });
  const head = ['|   | check | what must be so | failure cause |', '| - | ----- | --------------- | ------------- |'];
  return withSection('docs/commands.md', 'checks', [...head, ...rows].join('\n'));
}
