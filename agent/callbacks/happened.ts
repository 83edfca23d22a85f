/** What waits to be told: an event of a monitor or a state of a command, as it is kept until every receiver has it. */
import type { Attribute } from '../../protocol/schema/callback/attributes.ts';
import type { ChannelAttributes } from '../../protocol/schema/callback/delivery.ts';
import type { MonitorEvent } from '../../protocol/schema/event.ts';
import type { RemoteReport } from '../../protocol/schema/remote.ts';

/** Collection of the record store. Its records are kept for readers as well, as long as others are. */
export const HAPPENED = 'notification';

interface Accompanied {
  /** Label of the monitor or of the command. */
  readonly label?: string;
  /** What goes along on the user side; later ones replace earlier ones of the same name. */
  readonly attributes?: readonly Attribute[];
  readonly callbackAttributes?: ChannelAttributes;
}

/** Without the context (`telemetry`), for which the interface has no place. */
export interface MonitorHappened extends Accompanied {
  readonly type: 'Monitor';
  readonly event: Omit<MonitorEvent, 'telemetry'>;
}

export interface RemoteHappened extends Accompanied {
  readonly type: 'Remote';
  readonly report: RemoteReport;
  /** UTC ms. */
  readonly at: number;
}

export type Happened = MonitorHappened | RemoteHappened;

export function momentOf(happened: Happened): number {
  return happened.type === 'Monitor' ? happened.event.at : happened.at;
}

/** The same, `by` ms later. */
export function moved<H extends Happened>(happened: H, by: number): Happened {
  if (happened.type === 'Remote') return { ...happened, at: happened.at + by };
  return { ...happened, event: { ...happened.event, at: happened.event.at + by } };
}
