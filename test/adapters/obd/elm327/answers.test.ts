import { describe, expect, it } from 'vitest';
import { ObdDecoder } from '../../../../adapters/obd/index.ts';
import { raw, setOf, standard } from '../sets.ts';

const decoder = new ObdDecoder([standard]);
const answer = (id: number, ...payload: number[]) => ({ id, payload: Uint8Array.from(payload) });

describe('answers of a requester', () => {
  it('are decoded by the command of the request', () => {
    expect(decoder.decodeAnswers('010D', [answer(0x7e8, 0x41, 0x0d, 0x32)])).toEqual({
      command: '010D',
      values: { VSS: 50 },
    });
    expect(decoder.decodeAnswers('010D', [answer(0x18daf110, 0x41, 0x0d, 0x32)]).values).toEqual({ VSS: 50 });
    // The header of ISO 9141-2 instead of an identifier.
    expect(decoder.decodeAnswers('010D', [answer(0x486b10, 0x41, 0x0d, 0x32)]).values).toEqual({ VSS: 50 });
  });

  it('of the addressed control unit take precedence over those of others', () => {
    const answers = [answer(0x7e9, 0x41, 0x0d, 0x01), answer(0x7e8, 0x41, 0x0d, 0x32)];
    expect(decoder.decodeAnswers('010D', answers).values).toEqual({ VSS: 50 });
  });

  it('with 29 bits are recognised by target and tester', () => {
    const set = setOf({ hdr: 'DA10', rax: 'F110', cmd: { '22': 'F190' }, signals: [raw('A')] });
    const decoded = new ObdDecoder([set]).decodeAnswers('22F190', [answer(0x18daf110, 0x62, 0xf1, 0x90, 7)]);
    expect(decoded.values).toEqual({ A: 7 });
    expect(() => new ObdDecoder([set]).decodeAnswers('22F190', [answer(0x18daf111, 0x62, 0xf1, 0x90, 7)])).toThrow(
      'is not answered by',
    );
  });

  it('that are missing, negative or unrelated are reported as such', () => {
    expect(() => decoder.decodeAnswers('010D', [])).toThrow('there is no answer');
    expect(() => decoder.decodeAnswers('010D', [answer(0x7e8, 0x7f, 0x01, 0x12)])).toThrow(
      'sub-function not supported',
    );
    expect(() => decoder.decodeAnswers('010D', [answer(0x7e8, 0x41, 0x0c, 1, 2)])).toThrow('is not answered by 410C');
    expect(() => decoder.decodeAnswers('0199', [answer(0x7e8, 0x41, 0x99)])).toThrow('no signal set has');
  });
});
