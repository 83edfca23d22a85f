/** A message store for the library that stores nothing: the outbox resends unacknowledged messages. */
import './packet-numbers.ts';
import { Store } from 'mqtt';

type Packet = Parameters<Store['put']>[0];

export class EmptyStore extends Store {
  override put(_packet: Packet, done: () => void): this {
    done();
    return this;
  }

  /** Succeeds for every packet. The library calls this for each acknowledgement and treats an error as a refusal. */
  override del(packet: Pick<Packet, 'messageId'>, done: Parameters<Store['del']>[1]): this {
    done(undefined, packet as Packet);
    return this;
  }
}
