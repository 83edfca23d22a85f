/** Which CAN identifiers of a recording carry diagnostics, with normal addressing (ISO 15765-4 §6.3.2, §6.3.3). */
import { EXTENDED } from '../../../agent/ports.ts';
import { FUNCTIONAL, FUNCTIONAL_29, usualAnswer, usualRequest } from '../isotp/route.ts';
import type { SignalSet } from '../signal-set.ts';

/** Role of an identifier in diagnostics. Identifiers here have the EXTENDED bit. */
export type DiagnosticRole =
  /** To one control unit, whose answers have the identifier `answer`; to all if that is undefined. */
  | { readonly kind: 'request'; readonly answer: number | undefined }
  /** From a control unit that receives requests with the identifier `request`. */
  | { readonly kind: 'answer'; readonly request: number };

const FIRST_ANSWER = 0x7e8;
const LAST_ANSWER = 0x7ef;

/** Address of the external test equipment. */
const TESTER = 0xf1;

/** Finds the role of each identifier. Signal sets add the 11-bit pairs of their commands, e.g. 7A0 and 7A8. */
export class Roles {
  readonly #byId = new Map<number, DiagnosticRole>();

  constructor(sets: readonly SignalSet[]) {
    const all: DiagnosticRole = { kind: 'request', answer: undefined };
    this.#byId.set(FUNCTIONAL, all);
    this.#byId.set((FUNCTIONAL_29 | EXTENDED) >>> 0, all);
    for (let answer = FIRST_ANSWER; answer <= LAST_ANSWER; answer++) this.#pair(usualRequest(answer, false), answer);
    for (const { header, receiveAddress, extendedAddress } of sets.flatMap(({ commands }) => commands)) {
      const request = Number.parseInt(header, 16);
      if (header.length !== 3 || request === FUNCTIONAL || extendedAddress !== undefined) continue;
      this.#pair(request, receiveAddress === undefined ? request + 8 : Number.parseInt(receiveAddress.slice(-3), 16));
    }
  }

  /** Returns the role of an identifier with EXTENDED bit; undefined if it carries no diagnostics. */
  of(id: number): DiagnosticRole | undefined {
    const known = this.#byId.get(id);
    if (known !== undefined || id < EXTENDED || (id & 0x1fff_0000) >>> 0 !== 0x18da_0000) return known;
    const fromTester = (id & 0xff) === TESTER;
    const toTester = ((id >>> 8) & 0xff) === TESTER;
    if (fromTester === toTester) return undefined;
    const plain = (id & ~EXTENDED) >>> 0;
    const other = ((fromTester ? usualAnswer(plain, true) : usualRequest(plain, true)) | EXTENDED) >>> 0;
    const role: DiagnosticRole = fromTester ? { kind: 'request', answer: other } : { kind: 'answer', request: other };
    this.#byId.set(id, role);
    return role;
  }

  #pair(request: number, answer: number): void {
    // The standard's meaning of an identifier takes precedence.
    if (this.#byId.has(request) || this.#byId.has(answer)) return;
    this.#byId.set(request, { kind: 'request', answer });
    this.#byId.set(answer, { kind: 'answer', request });
  }
}
