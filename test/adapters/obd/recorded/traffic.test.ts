/** Requests and answers in recorded frames. */
import { describe, expect, test } from 'vitest';
import { DiagnosticTraffic, Roles } from '../../../../adapters/obd/recorded/index.ts';
import { EXTENDED } from '../../../../agent/ports.ts';
import { setOf } from '../sets.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex').toUpperCase();

interface Result {
  readonly lines: string[];
  readonly lost: Record<string, number>;
  readonly strays: number;
  readonly repeated: number;
}

/** Frames as `7E8 03 41 0D 3C`, 10 ms apart, or at the time before an `@` in ms. */
function heard(frames: readonly string[], sets: Parameters<typeof setOf> = [], close = true): Result {
  const lines: string[] = [];
  const name = (id: number): string => (id >= EXTENDED ? id - EXTENDED : id).toString(16).toUpperCase();
  const traffic = new DiagnosticTraffic(new Roles(sets.length === 0 ? [] : [setOf(...sets)]), (event) => {
    const request = event.request === undefined ? '-' : `${name(event.request.id)} ${hex(event.request.payload)}`;
    if (event.kind === 'answer') lines.push(`${request} > ${name(event.answer.id)} ${hex(event.answer.payload)}`);
    else lines.push(`${request} > nothing${event.pending.map((id) => ` (pending ${name(id)})`).join('')}`);
  });
  for (const [i, frame] of frames.entries()) {
    const [, at, id = '', data = ''] = /^(?:(\d+)@)?([0-9A-F]+)((?: [0-9A-F]{2})*)$/.exec(frame) as RegExpExecArray;
    const number = Number.parseInt(id, 16);
    const flagged = id.length === 8 ? (number | EXTENDED) >>> 0 : number;
    traffic.frame(flagged, 0, at === undefined ? i * 10 : Number(at), Buffer.from(data.replaceAll(' ', ''), 'hex'));
  }
  if (close) traffic.end();
  return { lines, lost: Object.fromEntries(traffic.lost), strays: traffic.strays, repeated: traffic.repeated };
}

describe('requests and answers of a log', () => {
  test('pairs two control units with one request to all', () => {
    const { lines } = heard(['7DF 02 01 0C', '7E9 04 41 0C 00 01', '7E8 04 41 0C 0F A0 55 55 55']);
    expect(lines).toEqual(['7DF 010C > 7E9 410C0001', '7DF 010C > 7E8 410C0FA0']);
  });

  test('puts an answer of several frames together between those of other units', () => {
    const { lines, lost } = heard([
      '7E0 03 22 F1 90',
      '7E8 10 0A 62 F1 90 01 02 03',
      '7E0 30 00 00',
      '7E1 03 22 F1 8C',
      '7E9 04 62 F1 8C 07',
      '7E8 21 04 05 06 07 AA AA AA',
    ]);
    expect(lines).toEqual(['7E1 22F18C > 7E9 62F18C07', '7E0 22F190 > 7E8 62F19001020304050607']);
    expect(lost).toEqual({});
  });

  test('reads 29-bit identifiers, to all and to one', () => {
    expect(
      heard([
        '18DB33F1 02 01 0D',
        '18DAF110 03 41 0D 3C',
        '18DAF118 03 41 0D 3D',
        '18DA10F1 03 22 F1 90',
        '18DAF110 04 62 F1 90 31',
      ]).lines,
    ).toEqual([
      '18DB33F1 010D > 18DAF110 410D3C',
      '18DB33F1 010D > 18DAF118 410D3D',
      '18DA10F1 22F190 > 18DAF110 62F19031',
    ]);
  });

  test('waits for the answer that "response pending" announces', () => {
    expect(
      heard(['0@7E0 03 22 F1 90', '40@7E8 03 7F 22 78', '4000@7E8 03 7F 22 78', '8000@7E8 04 62 F1 90 31']).lines,
    ).toEqual(['7E0 22F190 > 7E8 62F19031']);
    expect(heard(['0@7E0 03 22 F1 90', '40@7E8 03 7F 22 78', '6000@7DF 02 3E 80']).lines).toEqual([
      '7E0 22F190 > nothing (pending 7E8)',
    ]);
  });

  test('reports refusals, requests without an answer and answers without a request', () => {
    const { lines } = heard([
      '0@7E0 03 22 F1 90',
      '10@7E8 03 7F 22 31',
      '20@7E1 02 21 01',
      '30@7E8 03 41 0D 3C',
      '40@7E0 02 3E 80',
      '6000@7E0 02 3E 00',
      '6010@7E8 02 7E 00',
    ]);
    expect(lines).toEqual(['7E0 22F190 > 7E8 7F2231', '- > 7E8 410D3C', '7E1 2101 > nothing', '7E0 3E00 > 7E8 7E00']);
  });

  test('does not take an answer to another parameter, or to an older request of the same, for the answer', () => {
    expect(heard(['7E0 02 01 0C', '7E8 03 41 0D 3C', '7E0 02 01 0C', '7E8 04 41 0C 0F A0']).lines).toEqual([
      '- > 7E8 410D3C',
      '7E0 010C > 7E8 410C0FA0',
      '7E0 010C > nothing',
    ]);
  });

  test.each([
    [
      'a lost frame',
      ['7E8 10 14 62 F1 90 01 02 03', '7E8 22 01 02 03 04 05 06 07'],
      { 'frames are missing or out of order': 1 },
    ],
    ['a cut log', ['7E8 10 14 62 F1 90 01 02 03', '7E8 21 01 02 03 04 05 06 07'], { 'the log ends within it': 1 }],
    ['a pause', ['0@7E8 10 0A 62 F1 90 01 02 03', '1500@7E8 21 04 05 06 07'], { 'a frame came too late': 1 }],
    [
      'the next request',
      ['7E8 10 0A 62 F1 90 01 02 03', '7E0 03 22 F1 90', '7E8 21 04 05 06 07'],
      { 'the next request came first': 1 },
    ],
    ['a new first frame', ['7E8 10 0A 62 F1 90 01 02 03', '7E8 04 62 F1 90 31'], { 'a new message began': 1 }],
    ['no room', ['7E8 10 0A 62 F1 90 01 02 03', '7E0 32 00 00'], { 'its receiver had no room': 1 }],
  ])('counts the message that %s costs', (_, frames, lost) => {
    const result = heard(frames);
    expect(result.lost).toEqual(lost);
    expect(result.lines.filter((line) => /(62F1900102|- > .*62F190.{6})/.test(line))).toEqual([]);
  });

  test('skips frames that a second logger repeats', () => {
    const { lines, repeated, lost } = heard([
      '7E8 10 0A 62 F1 90 01 02 03',
      '7E8 10 0A 62 F1 90 01 02 03',
      '7E8 21 04 05 06 07',
      '7E8 21 04 05 06 07',
    ]);
    expect(lines).toEqual(['- > 7E8 62F19001020304050607']);
    expect({ repeated, lost }).toEqual({ repeated: 2, lost: {} });
  });

  test('takes frames of other identifiers only if a signal set names them', () => {
    const frames = ['7A0 03 22 C0 0B', '7A8 04 62 C0 0B 01'];
    expect(heard(frames).lines).toEqual([]);
    expect(heard(frames, [{ hdr: '7A0', rax: '7A8', cmd: { '22': 'C00B' } }]).lines).toEqual([
      '7A0 22C00B > 7A8 62C00B01',
    ]);
  });
});
