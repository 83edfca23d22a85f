import type { Deflate } from '../../protocol/columns/deflate.ts';
import type { ClockQuality, Message } from '../../protocol/schema/message.ts';
import type { OutboxSettings } from '../../protocol/settings.ts';

export interface OutboxOptions extends Pick<OutboxSettings, 'limit'> {
  readonly vin: string;
  readonly boot: number;
  /** Quality of the wall clock now. */
  readonly quality: () => ClockQuality;
  /** Maximum number of messages in flight. */
  readonly window: () => number;
  /** Compresses messages. If omitted, the portable implementation of the protocol does. */
  readonly deflate?: Deflate | undefined;
  /** Called with each message that was numbered. Must not throw. */
  readonly numbered?: (message: Message) => void;
}
