/** The list of log events in docs/operations.md. */
import { type LogEvent, logEvents } from '../protocol/log-events.ts';
import { withSection } from './generated-section.ts';
import { logAdvice } from './log-advice.ts';

export function operationsPage(): string {
  const rows = Object.entries(logEvents).map(([event, [level, sentence, ...members]]) => {
    const list = members.map((name) => `\`${name}\``).join(', ');
    return `| \`${event}\` | ${level} | ${sentence} | ${list} | ${logAdvice[event as LogEvent] ?? ''} |`;
  });
  const head = ['| event | level | what happened | members | what to do |', '| --- | --- | --- | --- | --- |'];
  return withSection('docs/operations.md', 'events', [...head, ...rows.sort()].join('\n'));
}
