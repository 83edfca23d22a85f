/** Topics of commands: kinds that are not remotes have separate topics, so that a broker can grant rights to each. */
import type { CommandKind } from './schema/remote.ts';
import { type DownKind, downTopic } from './topics.ts';

const topics: Readonly<Partial<Record<CommandKind, DownKind>>> = {
  Monitor: 'monitor',
  Callback: 'callback',
  Configuration: 'config',
  Trust: 'config',
  Resend: 'config',
  Collect: 'config',
  ReadFaults: 'config',
  Capture: 'config',
};

/** Returns the topic of a command of this kind to the car. @throws VigieError `input.malformed` for an invalid VIN */
export function commandTopic(vin: string, kind: CommandKind): string {
  return downTopic(vin, topics[kind] ?? 'remote');
}
