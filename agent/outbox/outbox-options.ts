import type { Deflate } from '../../protocol/columns/deflate.ts';
import type { ClockQuality, Message } from '../../protocol/schema/message.ts';
import type { OutboxSettings } from '../../protocol/settings.ts';

export interface OutboxOptions extends Pick<OutboxSettings, 'limit'> {
  readonly vin: string;
  readonly boot: number;
  /** How the wall clock is known at this moment. */
  readonly quality: () => ClockQuality;
  /** Messages on their way at the same time. */
  readonly window: () => number;
  /** Compresses messages; absent: the portable one of the protocol. */
  readonly deflate?: Deflate | undefined;
  /** Called with each message that was numbered. Must not throw. */
  readonly numbered?: (message: Message) => void;
}
