/** The cloud's end: receives all messages of the unit, and sends it commands. */
import { randomUUID } from 'node:crypto';
import { CommandSigner, generateKey } from '../../adapters/keys/index.ts';
import { CloudClient } from '../../adapters/mqtt/index.ts';
import { MessageReader, type ReceivedMessage } from '../../commands/received.ts';
import { requestOf } from '../../commands/send/vocabulary.ts';
import { encodeBody, encodeCommand } from '../../protocol/command.ts';
import { downTopic, upFilter, upTopic } from '../../protocol/topics.ts';
import { Sequences } from '../../test/rig/sequences.ts';

/** VIN of the unit's car, see car/vigie.yaml. */
export const VIN = 'VF3VGETCV00000001';
const KEY = 'tcu';
/** Validity of a command in ms: longer than a reboot takes. */
const VALID = 600_000;

export interface SentOrder {
  readonly id: string;
  readonly bytes: Uint8Array;
}

interface Report {
  readonly remoteActionId: string;
  readonly status: string;
}

const last = ['Success', 'AlreadyDone', 'Failed'];

export class Cloud {
  readonly sequences = new Sequences();
  /** Messages in the order of arrival. A message that was delivered several times is included several times. */
  readonly received: ReceivedMessage[] = [];
  /** Called after each message. */
  heard: () => void = () => undefined;
  readonly #client: CloudClient;
  readonly #signer: CommandSigner;

  readonly #reader = new MessageReader();

  private constructor(client: CloudClient, signer: CommandSigner) {
    this.#client = client;
    this.#signer = signer;
  }

  /** Creates the key that signs commands, and the trust file for it. */
  static async makeKey(folder: string): Promise<void> {
    await generateKey(folder, KEY, { algorithm: 'ES256', kinds: ['Doors'] });
  }

  static async connect(url: string, keys: string, vin: string = VIN): Promise<Cloud> {
    const cloud = new Cloud(await CloudClient.connect(url), await CommandSigner.open(keys, KEY));
    await cloud.#client.subscribe(upFilter(vin), (topic, payload, { retained }) => {
      if (retained) return;
      cloud.sequences.take(payload);
      cloud.received.push(cloud.#reader.line(topic, payload));
      cloud.heard();
    });
    return cloud;
  }

  /** Signs and sends the same command that `vigie send` would send for these words. */
  async command(what: string, ...words: string[]): Promise<SentOrder> {
    const wish = requestOf(what, words, {});
    const id = randomUUID();
    const issued = Date.now();
    const command = { id, vin: VIN, kind: wish.kind, body: encodeBody(wish.kind, wish.body), issued };
    const bytes = await this.#signer.sign((counter) => encodeCommand({ ...command, expires: issued + VALID, counter }));
    const order = { id, bytes };
    await this.send(order);
    return order;
  }

  /** Sends a signed command unchanged, even several times. */
  async send({ id, bytes }: SentOrder): Promise<void> {
    await this.#client.publish(downTopic(VIN, 'remote'), bytes, {
      expiry: VALID / 1000,
      responseTopic: upTopic(VIN, 'remote'),
      correlation: new TextEncoder().encode(id),
    });
  }

  /** Returns the states of a command that were reported, starting at message number `from`. */
  states({ id }: SentOrder, from = 0): readonly string[] {
    return this.received
      .slice(from)
      .filter(({ topic }) => topic === upTopic(VIN, 'remote'))
      .map(({ body }) => body as Report)
      .filter(({ remoteActionId }) => remoteActionId === id)
      .map(({ status }) => status);
  }

  /** Returns the final state of the command if it has arrived. */
  outcome(order: SentOrder, from = 0): string | undefined {
    return this.states(order, from).find((state) => last.includes(state));
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
