/** Retries of notifications, and events per notification. Interface 3.19.2 CallbackSubscribe. */
import { enumeration, optional, quantity, record, required, type Static } from '../fields.ts';
import type { Member } from '../monitor/input.ts';

export const retryPolicies = ['None', 'Bounded', 'Always'] as const;
type RetryPolicyName = (typeof retryPolicies)[number];

/** Published defaults of 3.19.2 for omitted fields. */
const retryDefaults = { policy: 'Bounded', retryNumber: 3, retryDelay: 10 } as const;
const WINDOW = 60;

const seconds = (minimum: number, maximum: number, description: string) =>
  quantity('s', 1, [minimum, maximum], description);
const whole = (minimum: number, maximum: number, description: string) =>
  quantity('1', 1, [minimum, maximum], description);

const bounds = { number: 100_000, delay: 259_200, size: 500, window: 86_400 } as const;

export const retryPolicySchema = record(
  'RetryPolicy',
  'Further attempts when the receiver does not accept a notification.',
  {
    policy: required(1, enumeration('Interface 3.19.2 retryPolicy.policy.', retryPolicies)),
    retryNumber: optional(
      2,
      whole(1, bounds.number, 'Tries after the first. Interface 3.19.2 retryPolicy.retryNumber.'),
    ),
    retryDelay: optional(3, seconds(1, bounds.delay, 'Between two tries. Interface 3.19.2 retryPolicy.retryDelay.')),
  },
);
export type RetryPolicy = Static<typeof retryPolicySchema>;

export const batchNotifySchema = record('BatchNotify', 'Events that travel together.', {
  size: required(1, whole(1, bounds.size, 'Events in a notification at most. Interface 3.19.2 batchNotify.size.')),
  timeWindow: optional(
    2,
    seconds(
      5,
      bounds.window,
      'Time for which the first event waits for others. Interface 3.19.2 batchNotify.timeWindow.',
    ),
  ),
});
export type BatchNotify = Static<typeof batchNotifySchema>;

/** Reads a retry policy. @throws VigieError `input.malformed` */
export function readRetryPolicy(member: Member, policies: readonly RetryPolicyName[]): Required<RetryPolicy> {
  if (member.absent) return { ...retryDefaults };
  const number = member.member('retryNumber');
  const delay = member.member('retryDelay');
  return {
    policy: member.member('policy').oneOf(policies),
    retryNumber: number.absent ? retryDefaults.retryNumber : number.integer(1, bounds.number),
    retryDelay: delay.absent ? retryDefaults.retryDelay : delay.integer(1, bounds.delay),
  };
}

/** Reads the batch settings. @throws VigieError `input.malformed` */
export function readBatchNotify(member: Member): Required<BatchNotify> | undefined {
  if (member.absent) return undefined;
  const window = member.member('timeWindow');
  return {
    size: member.member('size').integer(1, bounds.size),
    timeWindow: window.absent ? WINDOW : window.integer(5, bounds.window),
  };
}
