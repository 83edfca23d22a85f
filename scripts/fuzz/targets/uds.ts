/** Tests answers of a control unit during a command (ISO 14229-1). */

import { VirtualClock } from '../../../adapters/clock/virtual.ts';
import type { DiagnosticRequest } from '../../../adapters/obd/requester.ts';
import { UdsActuator, type UdsCommands } from '../../../adapters/obd/uds/index.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { Contradiction, type FuzzTarget } from '../target.ts';

const action = 'lights.on';
const commands: UdsCommands = {
  [action]: {
    uds: {
      bus: 'body',
      address: { request: 0x7a6, extended: false },
      session: 3,
      security: { level: 3, key: 'complement' },
      service: { kind: 'routine', identifier: 0x0201, option: '', results: '00' },
      hold: 3_000,
      release: true,
    },
    within: 5_000,
  },
};
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Carries out a command with the given answers, each preceded by its length; an empty one means silence. Returns true
 * if the command ended.
 */
async function carryOut(input: Uint8Array): Promise<boolean> {
  const clock = new VirtualClock();
  let at = 0;
  let started = 0;
  let last = 0;
  const request = async ({ payload }: DiagnosticRequest) => {
    if (payload[0] === 0x31 && payload[1] === 1) started++;
    last = (payload[0] as number) * 256 + (payload[1] as number);
    if (at >= input.length) return [];
    const length = (input[at] as number) & 63;
    const answer = input.subarray(at + 1, at + 1 + length);
    at += 1 + length;
    return answer.length === 0 ? [] : [{ id: 0x7ae, payload: answer }];
  };
  const actuator = new UdsActuator({ commands, requesters: new Map([['body', { request }]]), clock, log: silent });
  let ended: boolean | undefined;
  let failure: unknown;
  actuator.actuate(action).then(
    () => {
      ended = true;
    },
    (error: unknown) => {
      ended = false;
      failure = error;
    },
  );
  while (ended === undefined) await clock.settle(500, 500);
  if (clock.pending > 0) throw new Contradiction(`${clock.pending} timers are left`);
  // A busy unit has not started the routine, so the request is repeated. After any other answer it is not.
  if (started > 6) throw new Contradiction(`the routine was started ${started} times`);
  if (started > 0 && last !== 0x1001) throw new Contradiction(`the last request was ${last.toString(16)}`);
  if (failure !== undefined && !(failure instanceof VigieError)) throw failure;
  return ended;
}

const told = (...answers: readonly string[]): Uint8Array =>
  Buffer.concat(answers.flatMap((answer) => [Buffer.of(answer.length / 2), Buffer.from(answer, 'hex')]));

export const uds: FuzzTarget = {
  name: 'uds-answers',
  seeds: () => [
    told('5003003201f4', '67031234', '6704', '71010201', '7e00', '7103020100', '71020201', '5001'),
    told('5003', '67030000', '7f3121', '71010201', '', '7103020100ff', '7f3124', '5001'),
    told('7f1021', '', '5003ffffffff', '670301', '6704', '', '7f3e12', '710302010000', '', '71020201', '5001'),
  ],
  run: carryOut,
};
