/** Tests the parsers of adapter output, of ECU answers, and of signal sets, with which these answers are decoded. */
import {
  calibrationIdentifications,
  calibrationVerificationNumbers,
  ObdDecoder,
  parseSignalSet,
  readResponse,
  readTroubleCodes,
  readUdsTroubleCodes,
  supportedParameters,
  vehicleIdentificationNumber,
} from '../../../adapters/obd/index.ts';
import { IsotpAssembler } from '../../../adapters/obd/isotp.ts';
import { readStandardAnswers } from '../../../adapters/obd/j1979/index.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { Contradiction, type FuzzTarget, latin1, texts } from '../target.ts';

const set = JSON.stringify(
  {
    commands: [
      {
        hdr: '7E0',
        rax: '7E8',
        cmd: { '01': '0C' },
        freq: 0.25,
        signals: [{ id: 'RPM', name: 'Speed', fmt: { len: 16, max: 16384, div: 4, unit: 'rpm' } }],
      },
      {
        hdr: '7E0',
        cmd: { '09': '02' },
        freq: 3600,
        dbg: true,
        filter: { from: 2012, to: 2020, years: [2022] },
        signals: [{ id: 'VIN', name: 'VIN', fmt: { bix: 8, len: 136, unit: 'ascii' } }],
      },
      {
        hdr: '750',
        rax: '758',
        eax: '2A',
        fcm1: true,
        tst: 'F1',
        cmd: { '21': '30' },
        freq: 1,
        signals: [
          {
            id: 'T',
            name: 'T',
            fmt: { bix: 8, len: 8, sign: true, blsb: true, mul: 2, add: -40, nullmin: 255, unit: 'celsius' },
          },
          { id: 'M', name: 'M', fmt: { bix: 20, len: 4, map: { '0': { value: 'OFF' }, '1': { value: 'ON' } } } },
        ],
      },
    ],
  },
  null,
  1,
);

const answers = [
  '7E8 03 41 0D 32\r\r>',
  '7E804410C1AF8\r>',
  '18 DA F1 10 04 41 0C 1A F8',
  'SEARCHING...\r41 0C 32 10\r\r>',
  '010C\r7E8 03 7F 01 78\r7E8 04 41 0C 32 10\r>',
  '014\r0: 49 02 01 31 44 34\r1: 47 50 30 30 52 35 35\r2: 42 31 32 33 34 35 36',
  '7E8 10 14 49 02 01 31 44 34\r7E8 21 47 50 30 30 52 35 35\r7E8 22 42 31 32 33 34 35 36',
  '7582A10076130999A9D\r7582A219C0000000000',
  '48 6B 10 41 0C 32 10 43',
  '7E8 06 41 0C 1A F8\r7E9 04 41 0C 00 00\rNO DATA\r>',
  '7E8 06 43 02 03 01 04 20\r7E9 02 47 00\r7EA 07 59 02 FF 03 01 1C 09',
];

/** Runs an action that may refuse its input. Returns true if the action accepted it. */
function reads(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (error instanceof VigieError) return false;
    throw error;
  }
}

const decoder = new ObdDecoder([parseSignalSet(set, 'seed.json')]);
const commands = [undefined, '7E0.010C', '750.758.2130|e=2A', '7E0.0902'];

export const elm327: FuzzTarget = {
  name: 'elm327-text',
  seeds: () => texts(...answers),
  words: [
    '\r',
    '\n',
    '>',
    ' ',
    ':',
    '0:',
    '1:',
    'F:',
    '7E8',
    '18DAF110',
    '10 14',
    '21',
    '30 00 00',
    '7F 01 78',
    '\0',
    'NO DATA',
    'BUFFER FULL',
    'STOPPED',
    '<RX ERROR',
    '<DATA ERROR',
    'SEARCHING...',
    'BUS INIT: OK',
    'CAN ERROR',
    'UNABLE TO CONNECT',
    '?',
    'ELM327 v1.5',
    'OK',
  ],
  run(input) {
    const text = latin1(input);
    const { messages } = readResponse(text, (_, first) => first === 0x2a);
    readResponse(text, () => true, false);
    const command = commands[input.length % commands.length];
    reads(() => readStandardAnswers(messages, command));
    const accepted = reads(() => {
      const { values } = decoder.decode(command === undefined ? { response: text } : { command, response: text });
      for (const value of Object.values(values)) {
        if (typeof value === 'number' && !Number.isFinite(value)) throw new Contradiction('a value that is no number');
      }
    });
    return accepted || messages.length > 0;
  },
};

/** Tests consecutive frames, each with sender, length and data. */
export const isotp: FuzzTarget = {
  name: 'isotp-reassembly',
  seeds: () =>
    [
      '00 08 0341 0d32 0000 0000',
      '00 08 1014 4902 0131 4434 00 08 2147 5030 3052 3535 00 08 2242 3132 3334 3536',
      '01 08 1008 0102 0304 0506 02 03 0241 0d 01 04 2107 0809',
      '00 0a 1000 0000 0009 0102 0304 00 08 2105 0607 0809',
    ].map((hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex')),
  run(input) {
    const assembler = new IsotpAssembler();
    let given = 0;
    for (let at = 0; at + 2 <= input.length; ) {
      const length = (input[at + 1] as number) & 63;
      const data = input.subarray(at + 2, at + 2 + length);
      assembler.frame(`7E${(input[at] as number) & 15}`, data);
      given += data.length;
      at += 2 + length;
    }
    assembler.end();
    let taken = 0;
    for (const { data } of assembler.messages) taken += data.length;
    if (taken > given) throw new Contradiction(`${taken} bytes of messages out of ${given} bytes of frames`);
    return assembler.messages.length > 0;
  },
};

/** Tests ECU answers to the services of the standard. */
export const services: FuzzTarget = {
  name: 'obd-services',
  seeds: () =>
    [
      '43020133c100',
      '4700',
      '590208 013311 2f',
      '4902 01 3144344750303052353542313233343536',
      '4904013337383035393530463030303030304130',
      '4100be3eb813',
    ].map((hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex')),
  run(input) {
    const tried = [
      reads(() => readTroubleCodes(input)),
      reads(() => readUdsTroubleCodes(input)),
      reads(() => supportedParameters(input)),
      reads(() => vehicleIdentificationNumber([input])),
      reads(() => calibrationIdentifications([input])),
      reads(() => calibrationVerificationNumbers([input, input.slice()])),
    ];
    return tried.includes(true);
  },
};

export const signalSet: FuzzTarget = {
  name: 'signal-set',
  seeds: () => texts(set),
  words: [
    '{',
    '}',
    '[',
    ']',
    '"',
    ',',
    ':',
    'null',
    'true',
    '-1',
    '1e999',
    '"commands"',
    '"signals"',
    '"fmt"',
    '"len"',
    '"bix"',
    '"map"',
    '"filter"',
    '"years"',
    '"__proto__"',
    '"constructor"',
    '"div": 0',
    '"mul": 1e308',
    '\\u0000',
  ],
  run(input) {
    const parsed = parseSignalSet(new TextDecoder().decode(input), 'fuzz.json');
    const own = new ObdDecoder([parsed]);
    for (const response of answers) reads(() => own.decode({ response }));
    return true;
  },
};
