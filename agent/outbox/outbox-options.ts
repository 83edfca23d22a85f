import type { Deflate } from '../../protocol/columns/deflate.ts';
import type { ClockQuality, Message } from '../../protocol/schema/message.ts';
import type { OutboxSettings } from '../../protocol/settings.ts';

export interface OutboxOptions extends Pick<OutboxSettings, 'limit'> {
  readonly vin: string;
  readonly boot: number;
  /** Returns the present quality of the wall clock. */
  readonly quality: () => ClockQuality;
  /** Returns the maximum number of messages in flight. */
  readonly window: () => number;
  /** Compresses messages. If omitted, the protocol's portable implementation is used. */
  readonly deflate?: Deflate | undefined;
  /** Called for each message that gets a number. Must not throw. */
  readonly numbered?: (message: Message) => void;
}
