/** Explains why the car did not carry out an action, from the values that it shows meanwhile. */
import { channelByPath } from '../../protocol/channels.ts';
import type { FailureSign } from '../../protocol/remote/kind.ts';
import { remoteActions } from '../../protocol/remote/table.ts';
import { type Slot, type SlotValue, slotAt, slotByPath } from '../../protocol/slots.ts';
import type { Channels } from '../model/channels.ts';
import type { StatusReader } from '../model/status.ts';
import type { Refusal } from './plan.ts';

/** A change of Status that ends an action early. */
export interface CommandEnd extends Refusal {
  readonly slot: Slot;
  readonly value: SlotValue;
}

const endsByAction: ReadonlyMap<string, readonly CommandEnd[]> = new Map(
  [...remoteActions].map(([action, { ends = [] }]) => [action, ends.map(commandEnd)]),
);

function commandEnd({ path, value, code, detail }: FailureSign): CommandEnd {
  return { slot: slotAt(path), value: value as SlotValue, code, detail };
}

/** Returns the changes of Status that end an action. */
export function endsOf(action: string): readonly CommandEnd[] {
  return endsByAction.get(action) ?? [];
}

interface Evidence {
  readonly status: StatusReader;
  readonly channels: Pick<Channels, 'value' | 'fresh'> | undefined;
  /** Paths that the profile feeds, including channels. */
  readonly fed: ReadonlySet<string>;
  /** UTC ms. */
  readonly now: number;
}

/** Returns an explanation from Status for an action that was not confirmed in time, or undefined. */
export function diagnose(action: string, evidence: Evidence): Refusal | undefined {
  const rules = remoteActions.get(action);
  const causes = rules?.causes ?? rules?.ends?.filter(({ code }) => code !== 'command.canceled');
  const found = causes?.find((sign) => shows(sign, evidence));
  return found === undefined ? undefined : { code: found.code, detail: found.detail };
}

function shows({ path, value }: FailureSign, { status, channels, fed, now }: Evidence): boolean {
  const slot = slotByPath.get(path);
  if (slot !== undefined) return status.current(slot, now) && status.value(slot) === value;
  const channel = channelByPath.get(path);
  if (channel === undefined || channels === undefined || !fed.has(path)) return false;
  return (channels.fresh(channel, now) ? channels.value(channel) : undefined) === value;
}
