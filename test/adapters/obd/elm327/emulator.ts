/**
 * An emulated adapter by the ELM327 data sheet, with options for the deviations of clones. It exchanges text with the
 * driver and frames with the emulated control units.
 */
import { type CanFrame, type Ecu, hex, unhex } from './car.ts';
import { defaults, type Settings, split } from './settings.ts';

export interface EmulatorOptions {
  readonly ecus?: readonly Ecu[];
  /** Answer to ATZ and ATI. */
  readonly name?: string;
  /** Commands (without spaces) that are answered with `?`. */
  readonly lacking?: RegExp;
  /** Commands that are confirmed with OK but have no effect. */
  readonly ignored?: RegExp;
  readonly stn?: string;
  /** ISO 15765-4 protocol of the car: 6 to 9, or 3 for one without CAN. */
  readonly protocol?: string;
  /** Number of frames that fit into its buffer without a pause between frames. */
  readonly buffer?: number;
  /** If true, prints superfluous NULs, line feeds and empty lines. */
  readonly chatty?: boolean;
  /** If true, does not accept a digit after a request. */
  readonly countless?: boolean;
  /** If true, answers `?` to a command with a leading space, as widely used emulators do. */
  readonly strict?: boolean;
  /** If true, prints hexadecimal digits in lower case. */
  readonly lower?: boolean;
  /** Line end, regardless of ATL. */
  readonly lineEnd?: string;
  /** Replaces the line end and `>` after an answer. */
  readonly prompt?: string;
  /** Number of times that each line of an answer is printed. */
  readonly copies?: number;
  /** Returns the verbatim answer to a request to the bus. */
  readonly script?: (request: string) => string | undefined;
}

const NAMES: Readonly<Record<string, string>> = { 6: '11/500', 7: '29/500', 8: '11/250', 9: '29/250' };

const HEX = /^[0-9A-F]+$/;

export class Emulator {
  readonly options: EmulatorOptions;
  /** Every received command line, without spaces. */
  readonly commands: string[] = [];
  /** Number of bare line ends, which repeat the last command. */
  repeated = 0;
  /** Number of commands with a leading space. */
  strays = 0;
  /** Receives the printed text. */
  print: (text: string) => void = () => {};
  /** Replacements for the answers to the next commands: `undefined` hangs without a prompt, `pass` answers normally. */
  readonly interventions: ((command: string) => string | undefined | 'pass')[] = [];
  /** If true, the car's bus sleeps. */
  asleep = false;
  #input = '';
  #busy: 'idle' | 'monitoring' | 'hung' = 'idle';
  #settings = defaults();
  #awake = false;

  constructor(options: EmulatorOptions = {}) {
    this.options = options;
  }

  get settings(): Readonly<Settings> {
    return this.#settings;
  }

  get hung(): boolean {
    return this.#busy === 'hung';
  }

  receive(text: string): void {
    for (const character of text) {
      if (this.#busy !== 'idle') {
        // Any character interrupts the current command, and is itself lost.
        this.#busy = 'idle';
        this.#say(['STOPPED']);
      } else if (character === '\r') {
        if (/^\s/.test(this.#input)) this.strays++;
        const refused = this.options.strict === true && /^\s/.test(this.#input);
        const line = refused ? '?' : this.#input.replaceAll(/\s/g, '').toUpperCase();
        const echo = this.#settings.echo || this.#ignores('ATE0') ? `${this.#input}\r` : '';
        this.#input = '';
        if (echo !== '') this.print(echo);
        if (line === '') this.repeated++;
        else this.#command(line);
      } else this.#input += character;
    }
  }

  /** Restarts, as when the voltage drops while an engine is cranked. */
  restart(reason = 'LV RESET'): void {
    this.#settings = defaults();
    this.#busy = 'idle';
    this.#input = '';
    this.#awake = false;
    this.print(`\r\r${reason}\r\r${this.#name}\r\r>`);
  }

  get #name(): string {
    return this.options.name ?? 'ELM327 v1.5';
  }

  #ignores(command: string): boolean {
    return this.options.ignored?.test(command) ?? false;
  }

  #command(line: string): void {
    this.commands.push(line);
    const intervention = this.interventions.shift();
    const said = intervention === undefined ? 'pass' : intervention(line);
    if (said === undefined) {
      this.#busy = 'hung';
      return;
    }
    if (said !== 'pass') {
      this.print(said);
      return;
    }
    if (this.options.lacking?.test(line) === true) this.#say(['?']);
    else if (line.startsWith('STPX')) this.#transmit(line);
    else if (/^(AT|ST)/.test(line)) this.#say(this.#configure(line));
    else if (HEX.test(line)) this.#request(line);
    else this.#say(['?']);
  }

  #configure(line: string): string[] {
    const s = this.#settings;
    if (this.#ignores(line)) return ['OK'];
    if (line === 'ATZ') {
      this.#settings = defaults();
      this.#awake = false;
      return ['', this.#name];
    }
    if (line === 'ATI') return [this.#name];
    if (line === 'STI') return [this.options.stn ?? '?'];
    if (line === 'ATRV') return ['12.6V'];
    if (line === 'ATDPN') return [s.protocol === '0' ? `A${this.#awake ? this.#carProtocol : '0'}` : s.protocol];
    if (line === 'ATDP') return [`AUTO, ISO 15765-4 (CAN ${NAMES[this.#carProtocol] ?? '11/500'})`];
    if (line === 'ATMA') {
      this.#busy = 'monitoring';
      queueMicrotask(() => this.#monitor());
      return [];
    }
    const [verb, argument] = split(line);
    switch (verb) {
      case 'ATE':
        s.echo = argument === '1';
        break;
      case 'ATL':
        s.lineFeeds = argument === '1';
        break;
      case 'ATS':
        s.spaces = argument === '1';
        break;
      case 'ATH':
        s.headers = argument === '1';
        break;
      case 'ATCAF':
        s.formatting = argument === '1';
        break;
      case 'ATCFC':
        s.flowControl = argument === '1';
        break;
      case 'ATR':
        s.responses = argument === '1';
        break;
      case 'ATSP':
      case 'ATTP':
        s.protocol = argument;
        s.header = undefined;
        break;
      case 'ATSH':
        s.header = argument;
        break;
      case 'ATCP':
        s.priority = argument;
        break;
      case 'ATCRA':
        s.filter = argument === '' ? undefined : [Number.parseInt(argument, 16), 0x1fffffff];
        break;
      case 'ATCF':
        s.filter = [Number.parseInt(argument, 16), s.filter?.[1] ?? 0x1fffffff];
        break;
      case 'ATCM':
        s.filter = [s.filter?.[0] ?? 0, Number.parseInt(argument, 16)];
        break;
      case 'ATFCSH':
        s.flowHeader = Number.parseInt(argument, 16);
        break;
      case 'ATFCSD':
        s.flowData = unhex(argument);
        break;
      case 'ATFCSM':
        if (argument === '1' && (s.flowHeader === undefined || s.flowData === undefined)) return ['?'];
        s.flowMode = argument;
        break;
      case 'ATCEA':
        s.target = argument === '' ? undefined : Number.parseInt(argument, 16);
        break;
      case 'ATTA':
        s.tester = Number.parseInt(argument, 16);
        break;
      case 'ATST':
      case 'ATAT':
      case 'ATM':
      case 'ATAL':
        break;
      case 'STCSEGT':
      case 'STPTO':
        if (this.options.stn === undefined) return ['?'];
        break;
      default:
        return ['?'];
    }
    return ['OK'];
  }

  get #carProtocol(): string {
    return this.options.protocol ?? '6';
  }

  get #extended(): boolean {
    const protocol = this.#settings.protocol === '0' ? this.#carProtocol : this.#settings.protocol;
    return protocol === '7' || protocol === '9';
  }

  #request(line: string): void {
    const counted = line.length % 2 === 1;
    if (counted && this.options.countless === true) {
      this.#say(['?']);
      return;
    }
    const most = counted ? Number.parseInt(line.slice(-1), 16) : Number.POSITIVE_INFINITY;
    const bytes = unhex(counted ? line.slice(0, -1) : line);
    const s = this.#settings;
    const target = s.target === undefined ? [] : [s.target];
    const room = s.formatting ? 7 - target.length : 8;
    if (bytes.length > room) {
      this.#say(['?']);
      return;
    }
    this.#exchange([[...target, ...(s.formatting ? [bytes.length] : []), ...bytes]], most, line);
  }

  /** `STPX D:…` of an STN with segmentation. */
  #transmit(line: string): void {
    const data = /^STPXD:([0-9A-F]+)$/.exec(line)?.[1];
    if (this.options.stn === undefined || data === undefined) {
      this.#say(['?']);
      return;
    }
    const bytes = unhex(data);
    const frames = [[0x10 | (bytes.length >> 8), bytes.length & 0xff, ...bytes.slice(0, 6)]];
    for (let at = 6, index = 1; at < bytes.length; at += 7, index++) {
      frames.push([0x20 | (index & 15), ...bytes.slice(at, at + 7)]);
    }
    this.#exchange(frames, Number.POSITIVE_INFINITY, line);
  }

  #exchange(out: readonly number[][], most: number, line: string): void {
    const s = this.#settings;
    const search = s.protocol === '0' && !this.#awake ? ['SEARCHING...'] : [];
    const scripted = this.options.script?.(line);
    if (scripted !== undefined) {
      this.#awake = true;
      this.#say([...search, ...scripted.split(/\r?\n/)]);
      return;
    }
    if (this.asleep) {
      this.#say([...search, s.protocol === '0' ? 'UNABLE TO CONNECT' : 'CAN ERROR']);
      return;
    }
    if (this.#carProtocol === '3') {
      this.#awake = true;
      this.#say([...(search.length > 0 ? ['BUS INIT: ...OK'] : []), '48 6B 10 41 00 BE 3E B8 11 C9']);
      return;
    }
    if (s.protocol !== '0' && /[67]/.test(s.protocol) !== /[67]/.test(this.#carProtocol)) {
      this.#say(['CAN ERROR']);
      return;
    }
    this.#awake = true;
    const queue = out.flatMap((data) => this.#send(this.#headerId(), data));
    const lines: string[] = [];
    let lost = false;
    // The third byte of a flow control frame from the driver requests a pause.
    let paused = out.some(([control = 0, , pause = 0]) => control >> 4 === 3 && pause > 0);
    for (let frame = queue.shift(); frame !== undefined && s.responses; frame = queue.shift()) {
      if (!this.#passes(frame)) continue;
      const address = s.target === undefined ? 0 : 1;
      const first = (frame.data[address] ?? 0) >> 4 === 1;
      // A segmenting adapter handles flow control itself.
      if (out.length > 1 && (frame.data[0] ?? 0) >> 4 === 3) continue;
      lines.push(this.#line(frame));
      if (lines.length >= most) break;
      if (first && s.flowControl) {
        const flow = this.#flow(frame);
        if (flow !== undefined) {
          paused = (flow.data[flow.data.length - 1] ?? 0) > 0;
          queue.push(...this.#send(flow.id, flow.data));
        }
      }
      if (!paused && lines.length >= (this.options.buffer ?? Number.POSITIVE_INFINITY)) {
        lost = true;
        break;
      }
    }
    if (lost) lines.push('BUFFER FULL');
    const { copies = 1 } = this.options;
    const printed = lines.flatMap((line) => Array<string>(copies).fill(line));
    this.#say([...search, ...(lines.length === 0 && s.responses ? ['NO DATA'] : printed)]);
  }

  #headerId(): number {
    const { header, priority } = this.#settings;
    if (!this.#extended) return Number.parseInt(header?.slice(-3) ?? '7DF', 16);
    return header?.length === 8 ? Number.parseInt(header, 16) : Number.parseInt(priority + (header ?? 'DB33F1'), 16);
  }

  #send(id: number, data: readonly number[]): CanFrame[] {
    const frame = { id, extended: this.#extended, data: [...data, ...Array<number>(8 - data.length).fill(0)] };
    return (this.options.ecus ?? []).flatMap((ecu) => ecu.frame(frame));
  }

  #flow(frame: CanFrame): { id: number; data: readonly number[] } | undefined {
    const { flowMode, flowHeader, flowData } = this.#settings;
    if (flowMode === '1') return { id: flowHeader ?? 0, data: flowData ?? [] };
    const usual = frame.extended ? (frame.id & 0xffffff00) >>> 0 === 0x18daf100 : frame.id >= 0x7e8 && frame.id < 0x7f0;
    if (!usual) return undefined;
    const id = frame.extended ? 0x18da00f1 + (frame.id & 0xff) * 0x100 : frame.id - 8;
    return { id, data: [0x30, 0, 0] };
  }

  #passes({ id, extended, data }: CanFrame): boolean {
    const { filter, target, tester } = this.#settings;
    if (target !== undefined && data[0] !== tester) return false;
    if (filter === undefined) return extended ? (id & 0x1fff_ff00) === 0x18da_f100 : (id & 0x7f8) === 0x7e8;
    const mask = filter[1] & (extended ? 0x1fffffff : 0x7ff);
    return (id & mask) === (filter[0] & mask);
  }

  #monitor(): void {
    for (let quiet = false; !quiet && this.#busy === 'monitoring'; ) {
      const frames = (this.options.ecus ?? []).flatMap((ecu) => ecu.later());
      quiet = frames.length === 0;
      for (const frame of frames) if (this.#passes(frame)) this.print(`${this.#line(frame)}${this.#lineEnd}`);
    }
  }

  #line({ id, extended, data }: CanFrame): string {
    const s = this.#settings;
    const space = s.spaces || this.#ignores('ATS0') ? ' ' : '';
    const header = extended
      ? hex([id >>> 24, (id >> 16) & 0xff, (id >> 8) & 0xff, id & 0xff])
      : id.toString(16).toUpperCase().padStart(3, '0');
    const spaced = extended ? (header.match(/../g) ?? []).join(space) : header;
    const bytes = data.map((byte) => hex([byte]) + space).join('');
    if (s.headers) return this.#inCase(spaced + space + bytes);
    // Without headers a single frame is printed as data alone; several frames as the length, then numbered lines.
    const [control = 0, low = 0] = data;
    const kind = control >> 4;
    const text = (from: number, to = data.length) =>
      data
        .slice(from, to)
        .map((byte) => hex([byte]) + space)
        .join('');
    if (kind === 1)
      return this.#inCase(
        `${(((control & 15) << 8) | low).toString(16).padStart(3, '0')}${this.#lineEnd}0: ${text(2)}`,
      );
    return this.#inCase(kind === 2 ? `${(control & 15).toString(16)}: ${text(1)}` : text(1, 1 + (control & 15)));
  }

  #inCase(line: string): string {
    return this.options.lower === true ? line.toLowerCase() : line;
  }

  get #lineEnd(): string {
    if (this.options.lineEnd !== undefined) return this.options.lineEnd;
    return this.#settings.lineFeeds || this.options.chatty === true ? '\r\n' : '\r';
  }

  #say(lines: readonly string[]): void {
    if (this.#busy === 'monitoring') return;
    const end = this.#lineEnd;
    const text = lines.map((line) => line + end).join('');
    this.print(
      this.options.chatty === true
        ? `\0\r\n${text.replaceAll(/(.)/g, '$1\0')}\r\n\r\n>\0`
        : `${text}${this.options.prompt ?? `${end}>`}`,
    );
  }
}
