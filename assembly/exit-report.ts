/** State of the running exits, for the interface and `vigie status`. */
import type { ForwarderReport } from '../adapters/exits/forwarder.ts';
import type { ServedExit } from '../adapters/http/exits.ts';
import { defined } from '../protocol/defined.ts';
import type { ExitReport } from '../protocol/interface/own/exits.ts';
import type { Message } from '../protocol/schema/message.ts';

export interface OpenExit {
  readonly served: readonly ServedExit[];
  /** Call with each message when it gets its number. */
  numbered?(message: Message): void;
  close(): Promise<void>;
}

/** Combines the reports of the parts of an exit. An exit without parts has nothing to send. */
export function exitReport(
  name: string,
  kind: ExitReport['kind'],
  parts: readonly Omit<ForwarderReport, 'name'>[],
): ExitReport {
  const error = parts.find((part) => part.error !== undefined)?.error;
  const last = Math.max(...parts.map(({ succeededAt = 0 }) => succeededAt), 0);
  const sum = (member: 'waiting' | 'lost' | 'refused'): number => parts.reduce((total, one) => total + one[member], 0);
  return {
    ...{ name, kind, state: parts.length === 0 ? 'off' : error === undefined ? 'running' : 'waiting' },
    ...{ waiting: sum('waiting'), lost: sum('lost'), refused: sum('refused') },
    ...defined({ error, succeededAt: last === 0 ? undefined : last }),
  };
}
