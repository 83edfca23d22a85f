/** Tests the parser of network descriptions, and decoding with arbitrary descriptions. */
import { readFileSync } from 'node:fs';
import { DbcDecoder, DbcFrameReader, parseDbc } from '../../../adapters/can/dbc/index.ts';
import { append, createBatch } from '../../../adapters/can/frames.ts';
import type { ReadingSink } from '../../../agent/ports.ts';
import { Contradiction, type FuzzTarget, texts } from '../target.ts';

const bench = new URL('../../../config/vehicles/bench/bench.dbc', import.meta.url);

const small = `VERSION "1"
NS_ :
BS_:
BU_: A B
VAL_TABLE_ Doors 2 "open" 1 "ajar" 0 "closed" ;
BO_ 100 Engine: 8 A
 SG_ Speed : 0|16@1+ (0.5,-10) [0|0] "km/h" B
 SG_ Gear : 23|4@0- (1,0) [0|0] "" B
 SG_ Load : 24|32@1- (1,0) [0|0] "" B
BO_ 2566844672 Long: 64 A
 SG_ Mux M : 0|8@1+ (1,0) [0|0] "" B
 SG_ Inner m1M : 8|8@1+ (1,0) [0|0] "" B
 SG_ Wide m0 : 8|64@1+ (1e-3,0) [0|0] "" B
 SG_ Deep m5 : 16|32@1- (1,0) [0|0] "" B
CM_ SG_ 100 Speed "of the \\"engine\\"
over two lines";
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","J1939PG";
BA_DEF_ SG_ "SystemSignalLongSymbol" STRING ;
BA_DEF_DEF_ "VFrameFormat" "StandardCAN";
BA_ "VFrameFormat" BO_ 2566844672 2;
VAL_ 100 Gear 1 "first" 15 "SNA" ;
SIG_VALTYPE_ 2566844672 Deep : 1;
SG_MUL_VAL_ 2566844672 Deep Inner 5-6, 9-9;
`;

/** Returns half of the bench car's network, which is large enough to reveal costs that grow too fast. */
function half(): Uint8Array {
  const bytes = readFileSync(bench);
  return bytes.subarray(0, bytes.length >> 1);
}

const silent: ReadingSink = { reading: () => undefined, settled: () => undefined, alive: () => undefined };

export const dbc: FuzzTarget = {
  name: 'dbc',
  seeds: () => [...texts(small), half()],
  words: [
    'BO_ ',
    ' SG_ ',
    'CM_ ',
    'VAL_ ',
    'BA_ ',
    'BA_DEF_ ',
    'SG_MUL_VAL_ ',
    'SIG_VALTYPE_ ',
    'VAL_TABLE_ ',
    'EV_ ',
    '"',
    '\\"',
    ';',
    ':',
    ' m0 ',
    ' M ',
    ' m1M ',
    '@0-',
    '@1+',
    '(0,0)',
    '(1e999,-1)',
    '[0|0]',
    '64',
    '65',
    '//',
    'constructor',
    '__proto__',
    '3221225472',
    '\r\n',
    '\r',
  ],
  run(input) {
    const { database, diagnostics } = parseDbc(input, 'fuzz.dbc');
    for (const { line, message } of diagnostics) {
      if (!(line >= 0) || message === '') throw new Contradiction('a finding without a line or words');
    }
    const wanted = database.messages.flatMap(({ name, signals }) =>
      signals.map((signal) => ({ message: name, signal: signal.name })),
    );
    const some = database.messages.slice(0, 8);
    const batch = createBatch(2 * some.length + 1, 64 * (2 * some.length + 1));
    const payload = new Uint8Array(64).fill(0x5a);
    for (const { id, length } of some) {
      append(batch, 0, id, 0, 0, payload, Math.min(64, length));
      append(batch, 1, id, 0, 0, payload.fill(id & 0xff), Math.min(length, id & 7));
    }
    const bound = [{ database }];
    new DbcDecoder(wanted.slice(0, 200), bound, ['can0']).decode(batch, silent);
    const reader = new DbcFrameReader(bound, ['can0'], { choices: true });
    for (let i = 0; i < batch.count; i++) reader.decode(batch, i);
    return wanted.length > 0;
  },
};
