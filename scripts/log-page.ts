/** Generates docs/log-events.md: the list of log events. */
import { type LogEvent, logEvents } from '../protocol/log-events.ts';
import { logAdvice } from './log-advice.ts';

const HEAD = `# Log events

Generated from the table of log events (\`protocol/log-events.ts\`). [Operations](operations.md#logs) describes the log.

An \`error\` needs a person; a \`warn\` reports a fault that the agent handles; an \`info\` reports progress. A line omits members
that have no value.

| event | level | event as a sentence | members | advice |
| --- | --- | --- | --- | --- |`;

export function logEventsPage(): string {
  const rows = Object.entries(logEvents).map(([event, [level, sentence, ...members]]) => {
    const list = members.map((name) => `\`${name}\``).join(', ');
    return `| \`${event}\` | ${level} | ${sentence} | ${list} | ${logAdvice[event as LogEvent] ?? ''} |`;
  });
  return `${[HEAD, ...rows.sort()].join('\n')}\n`;
}
