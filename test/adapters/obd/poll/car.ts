import { bytesOf, hexOf } from '../../../../adapters/obd/hex.ts';
import type { DiagnosticAnswer, DiagnosticRequest, DiagnosticRequester } from '../../../../adapters/obd/requester.ts';
import type { ReadingSink, WantedSignal } from '../../../../agent/ports.ts';
import type { VigieError } from '../../../../protocol/errors.ts';
import type { VirtualClock } from '../../../rig/clock.ts';

export const hex = (text: string): Uint8Array => bytesOf(text.replaceAll(' ', '')) as Uint8Array;

/** A car's reaction to a request: answers by identifier, none, or an error. */
export type Says = Readonly<Record<number, string>> | undefined | VigieError;

/** A requester that answers from a table after a delay. */
export class Car implements DiagnosticRequester {
  readonly asked: { readonly at: number; readonly to: string; readonly payload: string }[] = [];
  /** Maximum number of simultaneous requests. */
  together = 0;
  says: (payload: string, request: DiagnosticRequest) => Says;
  readonly #clock: VirtualClock;
  readonly #takes: number;
  #underWay = 0;

  constructor(clock: VirtualClock, says: (payload: string, request: DiagnosticRequest) => Says, takes = 10) {
    this.#clock = clock;
    this.says = says;
    this.#takes = takes;
  }

  async request(request: DiagnosticRequest): Promise<readonly DiagnosticAnswer[]> {
    const payload = hexOf(request.payload);
    this.asked.push({ at: this.#clock.monotonic(), to: request.address.request.toString(16).toUpperCase(), payload });
    this.#underWay++;
    this.together = Math.max(this.together, this.#underWay);
    const answer = this.says(payload, request);
    await new Promise<void>((resolve) => this.#clock.after(this.#takes, resolve));
    this.#underWay--;
    if (answer instanceof Error) throw answer;
    return Object.entries(answer ?? {})
      .filter(([id]) => request.address.response === undefined || Number(id) === request.address.response)
      .map(([id, payload]) => ({ id: Number(id), payload: hex(payload) }));
  }

  /** Times of the requests with this payload. */
  times(payload: string): number[] {
    return this.asked.filter((one) => one.payload === payload).map(({ at }) => at);
  }
}

export interface Delivered {
  readonly signal: string;
  readonly value: number;
  readonly raw: number;
  readonly at: number;
}

/** Records readings by signal name. */
export class Sink implements ReadingSink {
  readonly delivered: Delivered[] = [];
  settledAt: number[] = [];
  readonly #wanted: readonly WantedSignal[];

  constructor(wanted: readonly WantedSignal[]) {
    this.#wanted = wanted;
  }

  reading(signal: number, value: number, raw: number, at: number): void {
    this.delivered.push({ signal: this.#wanted[signal]?.signal ?? '?', value, raw, at });
  }

  settled(at: number): void {
    this.settledAt.push(at);
  }

  alive(): void {
    throw new Error('answers are never said to be unchanged');
  }

  values(signal: string): number[] {
    return this.delivered.filter((one) => one.signal === signal).map(({ value }) => value);
  }
}
