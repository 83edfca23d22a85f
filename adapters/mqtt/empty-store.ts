/** A message store for the library that stores nothing: what is not acknowledged is the outbox's to send again. */
import './packet-numbers.ts';
import { Store } from 'mqtt';

type Packet = Parameters<Store['put']>[0];

export class EmptyStore extends Store {
  override put(_packet: Packet, done: () => void): this {
    done();
    return this;
  }

  /** Succeeds for every packet: the library asks for it on each acknowledgement and takes an error for a refusal. */
  override del(packet: Pick<Packet, 'messageId'>, done: Parameters<Store['del']>[1]): this {
    done(undefined, packet as Packet);
    return this;
  }
}
