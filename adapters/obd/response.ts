import { counted } from '../../protocol/counted.ts';
import { hexByte } from '../../protocol/hex.ts';
import { adapterLines, type ComplaintReason } from './adapter-line.ts';
import { IsotpAssembler, joined } from './isotp.ts';

/** One answer of one ECU. */
export interface ObdMessage {
  /** Header as printed, upper-case hex without spaces; empty if the adapter prints none. */
  readonly header: string;
  /** Extended address before the data, 0..255; undefined with normal addressing. */
  readonly address: number | undefined;
  /** Data that begins with the service identifier of the answer, or 7F. */
  readonly data: Uint8Array;
  /** True if its length was known, so that it is complete; a line without a header may be cut. */
  readonly complete: boolean;
}

/** Frames that did not form a message, and messages of the adapter. */
export interface ResponseFault {
  /** Sender, as in {@link ObdMessage.header}; empty if unknown. */
  readonly header: string;
  readonly message: string;
  /** True if the ECU began a new message instead; no loss if that message is the answer. */
  readonly replaced: boolean;
  /** Number of consecutive frames received before the message broke off; undefined for other faults. */
  readonly unfinished: number | undefined;
  /** True for a consecutive frame that continues no message: no loss if another message is the answer. */
  readonly stray: boolean;
}

export interface ObdResponse {
  readonly messages: readonly ObdMessage[];
  readonly faults: readonly ResponseFault[];
  /** Messages of the adapter in place of an answer, or after it. */
  readonly complaints: readonly string[];
  /** Causes of these messages. */
  readonly reasons: ReadonlySet<ComplaintReason>;
}

/**
 * Returns true if a frame after this header begins with an extended address. `first` and `second` are its first bytes;
 * `receiving` is true if a normally addressed message of this header waits for more frames.
 */
type ExtendedAddressing = (header: string, first: number, second: number, receiving: boolean) => boolean;

/**
 * Parses the text that an ELM327 class adapter printed for one request: frames with or without header and spaces,
 * messages in `0:` `1:` form, echoes, prompts and complaints. Never throws: faults are in the result. `echoed`: the
 * first line may be the request.
 */
export function readResponse(text: string, extended: ExtendedAddressing, echoed = true): ObdResponse {
  const messages: ObdMessage[] = [];
  const faults: ResponseFault[] = [];
  const complaints: string[] = [];
  const reasons = new Set<ComplaintReason>();
  const isotp = new IsotpAssembler();
  const segments = new Segments();
  for (const line of adapterLines(text, echoed)) {
    switch (line.kind) {
      case 'frame': {
        const [first = 0, second = 0] = line.data;
        if (extended(line.header, first, second, isotp.receives(line.header))) {
          isotp.frame(`${line.header} ${hexByte(first)}`, line.data.subarray(1));
        } else isotp.frame(line.header, line.data);
        break;
      }
      case 'message':
        messages.push({ header: line.header, address: undefined, data: line.data, complete: true });
        break;
      case 'bare':
        messages.push({ header: '', address: undefined, data: line.data, complete: false });
        break;
      case 'length':
        segments.length(line.bytes);
        break;
      case 'segment':
        segments.segment(line.index, line.data);
        break;
      case 'complaint':
        complaints.push(`${line.text}: ${line.meaning}`);
        reasons.add(line.reason);
        break;
      case 'other':
    }
  }
  isotp.end();
  segments.end();
  for (const { sender, data } of isotp.messages) messages.push({ ...senderOf(sender), data, complete: true });
  for (const { sender, message, ...kind } of isotp.faults) {
    faults.push({ header: senderOf(sender).header, message: `${sender}: ${message}`, ...kind });
  }
  const cut = { header: '', replaced: false, unfinished: undefined, stray: false };
  return {
    messages: [...messages, ...segments.messages],
    faults: [...faults, ...segments.faults.map((message) => ({ ...cut, message }))],
    complaints,
    reasons,
  };
}

function senderOf(sender: string): { readonly header: string; readonly address: number | undefined } {
  const [header = '', address] = sender.split(' ', 2);
  return { header, address: address === undefined ? undefined : Number.parseInt(address, 16) };
}

/** Reassembles answers printed as `014`, `0: …`, `1: …` (ELM327 data sheet, "Multiline Responses"). */
class Segments {
  readonly messages: ObdMessage[] = [];
  readonly faults: string[] = [];
  #announced: number | undefined;
  #parts: Uint8Array[] = [];
  #spoilt = false;

  length(bytes: number): void {
    this.end();
    this.#announced = bytes;
  }

  segment(index: number, data: Uint8Array): void {
    if (index === 0 && this.#parts.length > 0 && this.#parts.length % 16 !== 0) {
      this.#spoil('lines of several ECUs cannot be told apart, or a line is missing: line 0 came again (use ATH1)');
    }
    const expected = this.#parts.length % 16;
    if (!this.#spoilt && index !== expected) {
      this.#spoil(
        `line ${expected.toString(16).toUpperCase()}: is missing or out of order: ${index.toString(16)}: came`,
      );
    }
    if (!this.#spoilt) this.#parts.push(data);
  }

  /** Ends the current answer. */
  end(): void {
    const parts = this.#parts;
    const announced = this.#announced;
    const spoilt = this.#spoilt;
    this.#parts = [];
    this.#announced = undefined;
    this.#spoilt = false;
    if (spoilt) return;
    const data = joined(parts);
    if (announced !== undefined && data.length < announced) {
      this.faults.push(`lines are missing: ${data.length} of ${counted(announced, 'byte')} came`);
      return;
    }
    if (data.length === 0) return;
    const complete = announced !== undefined;
    this.messages.push({ header: '', address: undefined, data: data.subarray(0, announced), complete });
  }

  #spoil(message: string): void {
    this.#spoilt = true;
    this.faults.push(message);
  }
}
