/** A control unit with diagnostic commands (ISO 14229-1) over real ISO-TP, which can misbehave. */
import { hexOf } from '../../../../adapters/obd/hex.ts';
import { IsoTp } from '../../../../adapters/obd/isotp/index.ts';
import { type KeyHooks, simpleKeys, UdsActuator, type UdsCommands } from '../../../../adapters/obd/uds/index.ts';
import { VirtualClock } from '../../../rig/clock.ts';
import { MemoryLog } from '../../../rig/log.ts';
import { Bus, batchOf, ControlUnit } from '../isotp/wire.ts';

/**
 * Reaction to a request. `deaf`: ignored; `mute`: done without an answer; `late`: answered after so many ms; `pending`:
 * announced so often, `every` ms, then answered if `kept`; `refuse`: refused with a code; `reset`: the unit restarts
 * without an answer; `raw`: answered with these bytes.
 */
export type Manner =
  | 'proper'
  | 'deaf'
  | 'mute'
  | 'reset'
  | { readonly late: number }
  | { readonly pending: number; readonly every: number; readonly kept: boolean }
  | { readonly refuse: number }
  | { readonly raw: Uint8Array };

export const S3 = 5_000;
/** Data identifier of the output, and identifier of the routine. */
export const OUTPUT = 0xd010;
export const ROUTINE = 0x0201;
const MASK = 0x5a;

export interface UnitSetting {
  readonly request?: number;
  readonly answers?: number;
  /** If true (default), it must be unlocked for control. */
  readonly locked?: boolean;
  readonly seed?: Uint8Array;
  /** P2 and P2* in its session answer; default: none. */
  readonly times?: readonly number[];
  readonly results?: Uint8Array;
  /** Called when the output is taken or released. */
  readonly shows?: (on: boolean) => void;
}

export class DiagnosedUnit {
  /** Received requests, hexadecimal. */
  readonly requests: string[] = [];
  /** Protocol violations by the requester. */
  readonly violations: string[] = [];
  session = 1;
  unlocked = false;
  running = false;
  /** Number of times that control was taken or the routine started. */
  taken = 0;
  /** Reactions to the next requests; afterwards all are `proper`. */
  manners: Manner[] = [];
  readonly #clock: VirtualClock;
  readonly #unit: ControlUnit;
  readonly #setting: UnitSetting;
  #cancel: () => void = () => undefined;
  #asked = false;
  #controlled = false;

  constructor(clock: VirtualClock, bus: Bus, setting: UnitSetting = {}) {
    const { request = 0x7a6, answers = 0x7ae } = setting;
    this.#clock = clock;
    this.#setting = setting;
    this.#unit = new ControlUnit({ clock, bus, listens: [request], answers, serve: (asked) => this.#serve(asked) });
  }

  get controlled(): boolean {
    return this.#controlled;
  }

  /** True if there is no session and no control. */
  get idle(): boolean {
    return this.session === 1 && !this.controlled && !this.running && !this.unlocked;
  }

  /** Resets the state like a power cut. */
  reset(): void {
    this.#cancel();
    this.session = 1;
    this.unlocked = false;
    this.#show(false);
    this.running = false;
    this.#asked = false;
  }

  #serve(request: Uint8Array): Uint8Array[] {
    this.requests.push(hexOf(request));
    const manner = this.manners.shift() ?? 'proper';
    if (manner === 'deaf') return [];
    if (manner === 'reset') {
      this.reset();
      return [];
    }
    if (typeof manner === 'object' && 'refuse' in manner) return [this.#refusal(request, manner.refuse)];
    if (typeof manner === 'object' && 'raw' in manner) return [manner.raw];
    const answer = this.#answer(request);
    if (manner === 'mute') return [];
    if (manner === 'proper') return [answer];
    if ('late' in manner) {
      this.#clock.after(manner.late, () => this.#unit.say(answer));
      return [];
    }
    for (let told = 1; told <= manner.pending; told++) {
      this.#clock.after((told - 1) * manner.every, () => this.#unit.say(this.#refusal(request, 0x78)));
    }
    if (manner.kept) this.#clock.after(manner.pending * manner.every, () => this.#unit.say(answer));
    return [];
  }

  #refusal(request: Uint8Array, code: number): Uint8Array {
    return Uint8Array.of(0x7f, request[0] ?? 0, code);
  }

  /** Any request keeps the session alive (ISO 14229-2 §7.4). After S3 it ends with all control. */
  #keep(): void {
    this.#cancel();
    if (this.session !== 1) this.#cancel = this.#clock.after(S3, () => this.reset());
  }

  #answer(request: Uint8Array): Uint8Array {
    const [service = 0, first = 0] = request;
    const done = (...bytes: number[]): Uint8Array => {
      this.#keep();
      return Uint8Array.of(service + 0x40, ...bytes);
    };
    const no = (code: number): Uint8Array => {
      this.#keep();
      return this.#refusal(request, code);
    };
    switch (service) {
      case 0x10:
        if (first !== 1 && first !== 3) return no(0x12);
        this.reset();
        this.session = first;
        return done(first, ...(this.#setting.times ?? []));
      case 0x3e:
        return done(first);
      case 0x27:
        return this.#unlock(request, done, no);
      case 0x2f:
      case 0x31:
        if (this.session !== 3) return no(0x7f);
        if (!this.unlocked && this.#setting.locked !== false) return no(0x33);
        return service === 0x2f ? this.#control(request, done, no) : this.#routine(request, done, no);
      default:
        return no(0x11);
    }
  }

  #unlock(request: Uint8Array, done: (...bytes: number[]) => Uint8Array, no: (code: number) => Uint8Array): Uint8Array {
    const { seed = Uint8Array.of(0x12, 0x34, 0x56, 0x78) } = this.#setting;
    if (this.session !== 3) return no(0x7f);
    if (request[1] === 3) {
      this.#asked = true;
      return done(3, ...(this.unlocked ? seed.map(() => 0) : seed));
    }
    if (request[1] !== 4) return no(0x12);
    if (!this.#asked) return no(0x24);
    this.#asked = false;
    if (hexOf(request.subarray(2)) !== hexOf(seed.map((byte) => byte ^ MASK))) return no(0x35);
    this.unlocked = true;
    return done(4);
  }

  #control(
    request: Uint8Array,
    done: (...bytes: number[]) => Uint8Array,
    no: (code: number) => Uint8Array,
  ): Uint8Array {
    if ((((request[1] ?? 0) << 8) | (request[2] ?? 0)) !== OUTPUT) return no(0x31);
    if (request[3] !== 0) {
      if (this.controlled) this.violations.push('an output that is held was taken again');
      this.taken++;
    }
    this.#show(request[3] !== 0);
    return done(...request.subarray(1, 4));
  }

  #show(on: boolean): void {
    if (on !== this.#controlled) this.#setting.shows?.(on);
    this.#controlled = on;
  }

  #routine(
    request: Uint8Array,
    done: (...bytes: number[]) => Uint8Array,
    no: (code: number) => Uint8Array,
  ): Uint8Array {
    if ((((request[2] ?? 0) << 8) | (request[3] ?? 0)) !== ROUTINE) return no(0x31);
    const { results = Uint8Array.of(0) } = this.#setting;
    if (request[1] === 1) {
      if (this.running) this.violations.push('a routine that runs was started again');
      this.taken++;
      this.running = true;
    } else if (request[1] === 2) {
      if (!this.running) return no(0x24);
      this.running = false;
    }
    return done(...request.subarray(1, 4), ...(request[1] === 3 ? results : []));
  }
}

const address = { request: 0x7a6, extended: false };
const security = { level: 3, key: 'xor', constant: '5A' };
const body = { bus: 'body', address, session: 3, security } as const;

export const commands = {
  'lights.on': {
    uds: {
      ...body,
      service: { kind: 'io', identifier: OUTPUT, control: 'shortTermAdjustment', state: '03' },
      hold: 6_000,
      release: true,
    },
    within: 8_000,
  },
  'doors.lock': {
    uds: {
      ...body,
      service: { kind: 'routine', identifier: ROUTINE, option: '01', results: '00' },
      hold: 0,
      release: false,
    },
    within: 5_000,
  },
  'horn.on': {
    uds: { ...body, service: { kind: 'routine', identifier: ROUTINE, option: '' }, hold: 1_000, release: true },
    within: 5_000,
  },
} as const satisfies UdsCommands;

/** A bus with traffic that can be stopped, its control unit, and the agent's transport. */
export function networkOf(clock: VirtualClock, setting: UnitSetting = {}) {
  const bus = new Bus(clock);
  const isotp = new IsoTp({ clock, sender: bus, bus: 'body', index: 0 });
  bus.join((frame) => isotp.receive(batchOf(frame)));
  const unit = new DiagnosedUnit(clock, bus, setting);
  const others = bus.join(() => undefined);
  let talks = true;
  const chatter = (): void => {
    if (talks) others({ id: 0x123, flags: 0, data: Uint8Array.of(0) });
    clock.after(500, chatter);
  };
  chatter();
  const talk = (on: boolean): void => {
    talks = on;
  };
  return { bus, isotp, unit, talk, requesters: new Map([['body', isotp]]) };
}

/** The same with an actuator. */
export function benchOf(setting: UnitSetting & { hooks?: KeyHooks } = {}) {
  const clock = new VirtualClock();
  const log = new MemoryLog();
  const network = networkOf(clock, setting);
  const { requesters } = network;
  const actuator = new UdsActuator({ commands, requesters, clock, log, hooks: setting.hooks ?? simpleKeys });
  return { clock, log, actuator, ...network };
}
