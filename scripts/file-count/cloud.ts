/**
 * Broker and cloud of the measured car, in a separate process, so that their calls are not counted. Arguments: the car,
 * and the directory of the keys. Prints the URL of the broker. Then, for each input line, sends a command and prints
 * its final state. A line contains the car's time in UTC ms, or is empty to use the machine's time.
 */
import { createInterface } from 'node:readline';
import { CommandSigner } from '../../adapters/keys/index.ts';
import { CloudClient, EmbeddedBroker } from '../../adapters/mqtt/index.ts';
import { final } from '../../agent/remotes/ledger.ts';
import { decodeMessage } from '../../protocol/cbor/message.ts';
import { encodeBody, encodeCommand } from '../../protocol/command.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';
import { downTopic, upTopic } from '../../protocol/topics.ts';

const [vin = '', keys = ''] = process.argv.slice(2);
const broker = new EmbeddedBroker();
await broker.start();
const cloud = await CloudClient.connect(broker.url);
const signer = await CommandSigner.open(keys, 'owner');
await cloud.subscribe(upTopic(vin, 'remote'), (_topic, payload) => {
  const { status, detail = '' } = decodeMessage(payload).body as RemoteReport;
  if (final(status)) console.log(`${status} ${detail}`.trim());
});
console.log(broker.url);
let on = false;
for await (const line of createInterface({ input: process.stdin })) {
  on = !on;
  const issued = line === '' ? Date.now() : Number(line);
  const body = encodeBody('Lights', { on });
  const command = { id: crypto.randomUUID(), vin, kind: 'Lights', body, issued, expires: issued + 60_000 } as const;
  await cloud.publish(downTopic(vin, 'remote'), await signer.sign((counter) => encodeCommand({ ...command, counter })));
}
await cloud.close();
await broker.stop();
