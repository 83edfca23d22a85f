import type { CloudClient } from '../../adapters/mqtt/index.ts';
import { counted } from '../../protocol/counted.ts';
import type { MonitorList } from '../../protocol/schema/monitor.ts';
import { upTopic } from '../../protocol/topics.ts';
import { readMessage } from './received.ts';

/** Longest wait in ms for retained messages after a subscription, in a slow network. */
const PATIENCE = 5_000;

/** Returns the last list of monitors that the car reported; undefined if the broker has no such message. */
export async function keptMonitors(client: CloudClient, vin: string): Promise<MonitorList | undefined> {
  let found: (list: MonitorList | undefined) => void = () => undefined;
  const kept = new Promise<MonitorList | undefined>((resolve) => {
    found = resolve;
  });
  const timer = setTimeout(() => found(undefined), PATIENCE);
  await client.subscribe(upTopic(vin, 'monitor'), (_topic, payload) => {
    const message = readMessage(payload);
    if (message?.kind === 'monitor') found(message.body);
  });
  const list = await kept;
  clearTimeout(timer);
  return list;
}

/** Formats the list for people, beginning with its version. */
export function explainList({ version, monitors }: MonitorList): string[] {
  const head = `version ${version}, ${counted(monitors.length, 'monitor')}`;
  return [
    head,
    ...monitors.map(({ monitorId, status, updatedAt }) => {
      return `  ${monitorId.padEnd(24)} ${status.padEnd(8)} since ${new Date(updatedAt).toISOString()}`;
    }),
  ];
}
