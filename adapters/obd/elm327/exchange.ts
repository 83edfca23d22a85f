import type { Clock } from '../../../agent/ports.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { hexByte } from '../../../protocol/hex.ts';
import { hexOf } from '../hex.ts';
import type { DiagnosticAnswer, DiagnosticRequest } from '../requester.ts';
import type { Adapter } from './adapter.ts';
import { type AdapterOutput, readOutput } from './adapter-output.ts';
import type { AdapterQuirks } from './adapter-quirks.ts';
import { answerId, setAddress, type Way } from './addressing.ts';
import type { AnswerPatience } from './conversation.ts';
import { isCan, type Protocol } from './protocol.ts';
import { COUNT, SoftwareIsoTp } from './software-isotp.ts';

/** Resolution in ms of the adapter's time-out. Its value is one byte (ELM327 data sheet, "ST hh"). */
const TIME_STEP = 4;
const LONGEST_TIME = 255 * TIME_STEP;

/** Initial timer of the adapter in ms (data sheet). With `ATAT1` the adapter shortens its waits automatically. */
const DEFAULT_TIMEOUT = 200;

/** Long-message transmission of STN chips (STN1100 family reference, "STPX"), as a form that may be unsupported. */
const STN_TRANSMIT = 'STPX';

/** Time in ms until an answer announced by "response pending" (P2*, ISO 14229-2 §7.2), and limit for announcements. */
const PENDING_TIME = 5000;
const LONGEST_PENDING = 60_000;

/** Command that monitors the frames that pass the filter. */
const MONITOR = 'ATMA';

/** Maximum number of monitoring restarts for one answer. */
const MOST_LISTENING = 20;

/** Maximum number of multi-frame answers per request that software continues. */
const MOST_FLOWS = 8;

/** Failure of an exchange. */
interface Failure {
  readonly error: VigieError;
  /** True if an immediate retry may succeed with the quirks just learned. */
  readonly again: boolean;
}

type Outcome = { readonly answers: readonly DiagnosticAnswer[]; readonly strays: number } | Failure;

interface ExchangeOptions {
  readonly adapter: Adapter;
  readonly clock: Clock;
  readonly protocol: Protocol;
  readonly quirks: AdapterQuirks;
}

/**
 * Sends one request through an adapter with a known protocol.
 * @throws VigieError `input.unreadable`, `input.malformed`, and the errors of the request's `allowed`
 */
export async function exchange(options: ExchangeOptions, request: DiagnosticRequest): Promise<Outcome> {
  const { adapter, quirks, protocol } = options;
  const { address, payload } = request;
  const way = await prepare(options, request);
  const wait = await setWait(adapter, request.timeout ?? DEFAULT_TIMEOUT);
  const patience: AnswerPatience = { quiet: wait + (isCan(protocol) ? 5000 : 15_000), total: 60_000 };
  const software = new SoftwareIsoTp(adapter, options.clock, patience);
  const counts = adapter.knows(COUNT) && onlyReads(payload);
  const count = counts && !way.inSoftware && !way.byStn ? quirks.frames(request) : undefined;
  let text: string;
  // Check again: a reset or a new address may have taken the adapter some time.
  request.allowed?.();
  if (way.inSoftware) text = await software.send(request, counts && quirks.waits(address));
  else if (way.byStn) text = await adapter.ask(`STPX D:${hexOf(payload)}`, patience);
  else text = await adapter.ask(hexOf(payload) + (count?.toString(16).toUpperCase() ?? ''), patience);

  let output = readOutput(text, request);
  const listening = new Listening(options, request, patience);
  for (let flows = 0; isCan(protocol) && adapter.headers; ) {
    if (output.reasons.has('overflow') || output.reasons.has('bus')) break;
    if (output.waiting !== undefined && count === undefined && flows < MOST_FLOWS) {
      flows++;
      text += `\r${await software.goOn(address, output.waiting, way.separation)}`;
      output = readOutput(text, request);
      quirks.answeredInSoftware(address, output.waiting === undefined);
    } else if (output.waiting === undefined && output.pending.length > 0) {
      const more = await listening.further(text);
      if (more === undefined) break;
      text += `\r${more}`;
      output = readOutput(text, request);
    } else break;
  }
  if (output.strays > 0) adapter.suspect();
  return outcome({ request, output, adapter, quirks, count, way });
}

/** Applies all settings required before the request is sent. */
async function prepare(
  { adapter, protocol, quirks }: ExchangeOptions,
  request: DiagnosticRequest,
): Promise<Way & { readonly byStn: boolean }> {
  const { address, payload } = request;
  await adapter.revert('responses', 'ATR', '1');
  if (!isCan(protocol)) {
    if (answerId(address) !== undefined || payload.length > 7) {
      throw new VigieError(
        'input.unreadable',
        `the car has no CAN (protocol ${protocol}): only requests to all go there`,
      );
    }
    return { inSoftware: false, byStn: false, separation: 0 };
  }
  const long = payload.length > 7 - (address.target === undefined ? 0 : 1);
  let byStn = false;
  if (long && address.target === undefined && adapter.facts.stn !== undefined && adapter.knows(STN_TRANSMIT)) {
    byStn = await adapter.set('segmentation', 'STCSEGT', '1');
  }
  const inSoftware = (long && !byStn) || quirks.waits(address);
  const way = await setAddress(adapter, address, { inSoftware, separation: quirks.separation(address) });
  if (way.inSoftware && !adapter.headers) {
    throw new VigieError('input.unreadable', 'the adapter prints no headers: this address or length needs them');
  }
  return { ...way, byStn: byStn && !way.inSoftware };
}

/** Sets the time that the adapter waits for an answer. Returns the effective time in ms. */
async function setWait(adapter: Adapter, timeout: number): Promise<number> {
  // Adaptive timing would shorten long waits again, as learned from other control units.
  if (timeout > DEFAULT_TIMEOUT) await adapter.set('adaptive timing', 'ATAT', '0');
  else await adapter.restore('adaptive timing', 'ATAT', '1');
  if (timeout > LONGEST_TIME && adapter.facts.stn !== undefined) {
    if (await adapter.set('time-out', 'STPTO', String(Math.min(Math.ceil(timeout), 65_535)))) return timeout;
  }
  const steps = Math.min(255, Math.max(1, Math.ceil(timeout / TIME_STEP)));
  await adapter.set('time-out', 'ATST', hexByte(steps));
  return steps * TIME_STEP;
}

/** Continues receiving after "response pending": adapters stop waiting before the control unit answers. */
class Listening {
  readonly #options: ExchangeOptions;
  readonly #request: DiagnosticRequest;
  readonly #patience: AnswerPatience;
  readonly #begun: number;

  constructor(options: ExchangeOptions, request: DiagnosticRequest, patience: AnswerPatience) {
    this.#options = options;
    this.#request = request;
    this.#patience = patience;
    this.#begun = options.clock.monotonic();
  }

  /** Returns the next received text, or undefined if nothing arrived or the adapter cannot monitor. */
  async further(before: string): Promise<string | undefined> {
    const { adapter, clock } = this.#options;
    if (clock.monotonic() - this.#begun > LONGEST_PENDING) return undefined;
    const known = readOutput(before, this.#request).answers.length;
    const end = clock.monotonic() + PENDING_TIME;
    // An adapter without a filter stops monitoring when its buffer is full.
    for (let attempt = 0; attempt < MOST_LISTENING; attempt++) {
      const left = end - clock.monotonic();
      if (left <= 0 || !adapter.knows(MONITOR)) return undefined;
      const patience = { quiet: left + this.#patience.quiet, total: left };
      const heard = await adapter.watch(MONITOR, patience, (text) => {
        const { answers, waiting } = readOutput(`${before}\r${text}`, this.#request);
        return answers.length > known || waiting !== undefined;
      });
      const { answers, waiting, pending, reasons } = readOutput(heard, this.#request);
      if (reasons.has('unknown')) adapter.lacks(MONITOR);
      // The adapter reports that it was stopped, and has lost other frames. Announcements prolong the wait.
      else if (answers.length + pending.length > 0 || waiting !== undefined) {
        return heard.replaceAll(/STOPPED|BUFFER FULL/g, '');
      }
    }
    return undefined;
  }
}

interface Result {
  readonly request: DiagnosticRequest;
  readonly output: AdapterOutput;
  readonly adapter: Adapter;
  readonly quirks: AdapterQuirks;
  readonly count: number | undefined;
  readonly way: Way & { readonly byStn: boolean };
}

function outcome({ request, output, adapter, quirks, count, way }: Result): Outcome {
  const { answers, pending, faults, complaints, reasons, strays } = output;
  const service = `service ${hexByte(request.payload[0] ?? 0)}`;
  if (answers.length > 0) {
    const whole = faults.length === 0 && pending.length === 0 && !reasons.has('overflow') && !reasons.has('damage');
    if (whole && !way.inSoftware) quirks.answered(request, answers);
    return { answers, strays };
  }
  quirks.forget(request);
  const complaint = complaints[0] ?? '';
  if (reasons.has('overflow')) {
    return failure('input.malformed', complaint, quirks.slower(request.address));
  }
  if (reasons.has('unconnected') || reasons.has('bus')) return failure('input.unreadable', complaint, false);
  if (pending.length > 0) {
    const message = `${service} was announced with "response pending", and the answer did not follow`;
    return failure('input.malformed', message, false);
  }
  if (faults[0] !== undefined) return failure('input.malformed', `the answer is incomplete: ${faults[0]}`, true);
  if (reasons.has('unknown')) {
    if (way.byStn) adapter.lacks(STN_TRANSMIT);
    else if (count !== undefined) adapter.lacks(COUNT);
    return failure('input.malformed', `the adapter does not know how to send ${service}`, true);
  }
  if (reasons.has('silence') || strays > 0) return { answers, strays };
  adapter.suspect();
  const message = complaint === '' ? `the adapter printed nothing for ${service}` : complaint;
  return failure('input.malformed', message, true);
}

function failure(code: 'input.malformed' | 'input.unreadable', message: string, again: boolean): Failure {
  return { error: new VigieError(code, message), again };
}

/** Returns true for services that only read, which are safe to repeat (SAE J1979 §6, ISO 14229-1 §10 to §11). */
export function onlyReads(payload: Uint8Array): boolean {
  return READING.has(payload[0] ?? 0);
}

const READING: ReadonlySet<number> = new Set([
  0x01, 0x02, 0x03, 0x05, 0x06, 0x07, 0x09, 0x0a, 0x12, 0x13, 0x17, 0x18, 0x19, 0x1a, 0x21, 0x22, 0x23, 0x24, 0x3e,
]);
