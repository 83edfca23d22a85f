import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { messageNamed, parseDbc, signalNamed } from '../../../../adapters/can/dbc/index.ts';
import { readNaively } from '../../../golden/naive-dbc.ts';
import { describeShared, sharedData } from '../../../shared.ts';
import { text } from './frames.ts';

const parse = (statements: string) => parseDbc(text(statements), 'car.dbc');
const said = (statements: string) =>
  parse(statements).diagnostics.map((one) => `${one.line} ${one.severity} ${one.message}`);

describe('a valid network description', () => {
  const { database, diagnostics } = parse(`
BO_ 100 Engine: 8 A
 SG_ Speed : 7|16@0+ (0.25,-10) [0|8000] "rpm" B,A
 SG_ Mode M : 16|4@1+ (1,0) [0|0] "" Vector__XXX
 SG_ Cold m0 : 24|8@1- (-0.5,+40) [-40|+87.5] "°C" Vector__XXX
 SG_ Ratio m1M : 24|32@1- (1,0) [0|0] "" Vector__XXX
 SG_ Deep m2 : 56|8@1+ (1,0) [0|0] "" Vector__XXX
BO_ 2566844926 Ccvs: 8 B
 SG_ Wheel : 8|16@1+ (0.00390625,0) [0|0] "km/h" Vector__XXX
EV_ Ambient: 1 [-180|400] "deg" 3 12 DUMMY_NODE_VECTOR0 Vector__XXX;
BO_TX_BU_ 100 : A,B;
CM_ "the network";
CM_ BU_ A "a node";
CM_ SG_ 100 Speed "two
lines with \\"quotes\\"";
BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","reserved","J1939PG";
BA_DEF_ BO_ "GenMsgCycleTime" INT 0 65535;
BA_DEF_ SG_ "SystemSignalLongSymbol" STRING ;
BA_DEF_ SG_ "GenSigStartValue" FLOAT 0 100;
BA_DEF_ BU_ "Station" HEX 0 255;
BA_DEF_DEF_ "VFrameFormat" "StandardCAN";
BA_DEF_DEF_ "GenMsgCycleTime" 50;
BA_DEF_DEF_ "SystemSignalLongSymbol" "";
BA_ "VFrameFormat" BO_ 2566844926 3;
BA_ "GenMsgCycleTime" BO_ 100 20;
BA_ "Station" BU_ A 17;
BA_ "GenSigStartValue" SG_ 100 Speed 12.5;
BA_ "SystemSignalLongSymbol" SG_ 100 Speed "SpeedOfTheEngineWithAVeryLongName";
VAL_TABLE_ OnOff 1 "On" 0 "Off" ;
VAL_ 100 Mode 0 "Cold" 1 "Warm" ;
VAL_ 100 Deep OnOff ;
VAL_ Ambient 3 "three" ;
SIG_VALTYPE_ 100 Ratio : 1;
SIG_GROUP_ 100 Both 1 : Speed Mode;
SG_MUL_VAL_ 100 Deep Ratio 0-3, 7-9;`);
  const engine = messageNamed(database, 'Engine')!;

  test('causes no diagnostic', () => {
    expect(diagnostics).toEqual([]);
  });

  test('has its messages with identifier, length and sender', () => {
    expect(engine).toMatchObject({ id: 100, length: 8, senders: ['A', 'B'], cycleTime: 20, fd: false, j1939: false });
    expect(messageNamed(database, 'Ccvs')).toMatchObject({ id: 2566844926, j1939: true, cycleTime: 50 });
    expect(engine.groups).toEqual([{ name: 'Both', repetitions: 1, signals: ['Speed', 'Mode'] }]);
  });

  test('has its signals with layout, scale, range, unit and receivers', () => {
    expect(signalNamed(engine, 'Speed')).toMatchObject({
      name: 'SpeedOfTheEngineWithAVeryLongName',
      symbol: 'Speed',
      start: 7,
      length: 16,
      byteOrder: 'big',
      type: 'unsigned',
      factor: 0.25,
      offset: -10,
      range: [0, 8000],
      unit: 'rpm',
      receivers: ['B', 'A'],
      comment: 'two\nlines with "quotes"',
    });
    expect(signalNamed(engine, 'SpeedOfTheEngineWithAVeryLongName')).toBe(signalNamed(engine, 'Speed'));
    expect(signalNamed(engine, 'Speed')?.attributes.get('GenSigStartValue')).toBe(12.5);
    expect(signalNamed(engine, 'Cold')).toMatchObject({
      type: 'signed',
      factor: -0.5,
      offset: 40,
      range: [-40, 87.5],
      unit: '°C',
    });
    expect(signalNamed(engine, 'Ratio')).toMatchObject({ type: 'float', multiplexor: true });
  });

  test('has simple and extended multiplexing', () => {
    const by = (name: string) => {
      const selection = signalNamed(engine, name)?.selection;
      return selection && { multiplexor: selection.multiplexor.name, ranges: selection.ranges };
    };
    expect(by('Speed')).toBeUndefined();
    expect(by('Cold')).toEqual({ multiplexor: 'Mode', ranges: [[0, 0]] });
    expect(by('Deep')).toEqual({
      multiplexor: 'Ratio',
      ranges: [
        [0, 3],
        [7, 9],
      ],
    });
  });

  test('has value names, nodes, comments and attributes', () => {
    expect(signalNamed(engine, 'Mode')?.choices).toEqual(
      new Map([
        [0, 'Cold'],
        [1, 'Warm'],
      ]),
    );
    expect(signalNamed(engine, 'Deep')?.choices).toBe(database.valueTables.get('OnOff'));
    expect(database.nodes[0]).toMatchObject({ name: 'A', comment: 'a node', attributes: new Map([['Station', 17]]) });
    expect(database.comment).toBe('the network');
    expect(database.environmentVariables[0]).toMatchObject({ name: 'Ambient', unit: 'deg', initial: 3 });
    expect(database.environmentVariables[0]?.choices?.get(3)).toBe('three');
  });
});

describe('encodings', () => {
  const unit = (encoded: Uint8Array) => parseDbc(encoded, 'x').database.messages[0]?.signals[0]?.unit;
  const source = 'BO_ 1 M: 1 A\n SG_ S : 0|8@1+ (1,0) [0|0] "µ°€" A\n';

  test('UTF-8 with and without byte order mark, UTF-16 and Windows-1252 are decoded', () => {
    expect(unit(new TextEncoder().encode(source))).toBe('µ°€');
    expect(unit(new TextEncoder().encode(`\ufeff${source}`))).toBe('µ°€');
    expect(unit(Uint8Array.from(Buffer.from(`\ufeff${source}`, 'utf16le')))).toBe('µ°€');
    const single = Uint8Array.from(source, (c) => (c === '€' ? 0x80 : c.charCodeAt(0)));
    expect(unit(single)).toBe('µ°€');
  });
});

// The header that `text` writes has ten lines.
describe('an unusual file loads with a diagnostic', () => {
  const one = (signal: string, length = 8) => `BO_ 1 M: ${length} A\n ${signal}`;
  const signal = 'SG_ S : 0|8@1+ (1,0) [0|0] "" A';
  test.each<[string, string, RegExp]>([
    [
      'name with a digit first',
      one('SG_ 4WD : 0|8@1+ (1,0) [0|0] "" A'),
      /12 warning signal '4WD' is not a valid symbol/,
    ],
    [
      'overlapping signals',
      one(`${signal}\n SG_ T : 4|8@1+ (1,0) [0|0] "" A`),
      /13 warning signals S and T of message M overlap/,
    ],
    [
      'signal past the end',
      one('SG_ S : 4|8@1+ (1,0) [0|0] "" A', 1),
      /12 warning signal S needs 2 bytes but message M has 1/,
    ],
    ['message of no bytes', 'BO_ 1 M: 0 A', /11 info message M has a length of 0 bytes/],
    ['message without signals', 'BO_ 1 M: 8 A', /11 info message M has no signals/],
    [
      'comment of an unknown id',
      `${one(signal)}\nCM_ BO_ 7 "x";`,
      /13 info a comment belongs to message 7, which does not exist/,
    ],
    [
      'values of an unknown signal',
      `${one(signal)}\nVAL_ 1 T 0 "x" ;`,
      /13 warning a value table belongs to signal T of message 1/,
    ],
    [
      'same id twice',
      `${one(signal)}\nBO_ 1 N: 8 A\n SG_ U : 0|8@1+ (1,0) [0|0] "" A`,
      /13 warning messages M .* same id 1; .* the later one/,
    ],
    [
      'same signal twice',
      one(`${signal}\n ${signal}`),
      /13 warning signal S of message M is declared twice; it was left out/,
    ],
    [
      'id too large for 11 bits',
      'BO_ 2048 M: 8 A\n SG_ S : 0|8@1+ (1,0) [0|0] "" A',
      /11 warning message M has the id 2048/,
    ],
    [
      'multiplexed without multiplexor',
      one('SG_ S m3 : 0|8@1+ (1,0) [0|0] "" A'),
      /12 warning .* its message has no multiplexor/,
    ],
    [
      'selected by itself',
      `${one('SG_ S m0M : 0|8@1+ (1,0) [0|0] "" A')}\nSG_MUL_VAL_ 1 S S 0-0;`,
      /12 warning signal S is selected by itself/,
    ],
    ['quotes inside a comment', `${one(signal)}\nCM_ SG_ 1 S "the "red" one";`, /13 warning a text has quotes inside/],
    [
      'text without an end',
      `${one(signal)}\nCM_ SG_ 1 S "open;\nVAL_ 1 S 1 "x" ;`,
      /13 warning a text has no closing quote/,
    ],
    ['statement without an end', `${one(signal)}\nVAL_ 1 S 1 "x"\nCM_ "y";`, /13 info a statement has no ';'/],
    ['unknown statement', `HELLO world\n${one(signal)}`, /11 warning 'HELLO world' is not a statement/],
    [
      'float of an odd width',
      `${one(signal)}\nSIG_VALTYPE_ 1 S : 1;`,
      /12 warning signal S is called IEEE 754 but has 8 bits/,
    ],
    ['limit that is not a number', one('SG_ S : 0|8@1+ (1,0) [-1.#INF|2] "" A'), /12 info a limit/],
    ['no signal at all', one('SG_ S : 0|8@7+ (1,0) [0|0] "" A'), /12 warning byte order is '7', not 0 or 1/],
    ['too wide', one('SG_ S : 0|65@1+ (1,0) [0|0] "" A'), /12 warning signal S of message M has 65 bits/],
  ])('%s', (_, statements, expected) => {
    const found = said(statements);
    expect(
      found.some((line) => expected.test(line)),
      found.join('\n'),
    ).toBe(true);
    expect(found.some((line) => line.includes(' error '))).toBe(false);
  });

  test('a fault costs only its own statement', () => {
    const { database } = parse(
      `${one('SG_ S : broken')}\n ${signal.replace('S ', 'T ')}\nVAL_ 1 T 1 "one" ;\nVAL_ oops\nVAL_ 1 T 2 "two" ;`,
    );
    expect(database.messages[0]?.signals.map((s) => s.symbol)).toEqual(['T']);
    expect(database.messages[0]?.signals[0]?.choices).toEqual(new Map([[2, 'two']]));
  });

  test('an unknown statement after a signal is reported, and is not a receiver of the signal', () => {
    const { database, diagnostics } = parse(`${one(signal)}\nHELLO world;\nCM_ "of the network";`);
    expect(diagnostics.map(({ line, message }) => [line, message])).toEqual([
      [13, "'HELLO world;' is not a statement; left out up to the next statement"],
    ]);
    expect(database.messages[0]?.signals[0]?.receivers).toEqual(['A']);
    expect(database.comment).toBe('of the network');
  });

  test('line breaks instead of blanks, tabs, plus signs and missing blanks are accepted', () => {
    const { database, diagnostics } = parse(
      'BO_\n1\nM:\n8\tA\nSG_\nS:0|8@1-(+1,+0)[-1|+1]""A,\nB\nVAL_ 1 S -1\n"minus" ;',
    );
    expect(diagnostics).toEqual([]);
    expect(database.messages[0]?.signals[0]).toMatchObject({ type: 'signed', receivers: ['A', 'B'], range: [-1, 1] });
    expect(database.messages[0]?.signals[0]?.choices?.get(-1)).toBe('minus');
  });

  test('names such as `constructor` and `__proto__` are ordinary names', () => {
    const { database } = parse(
      'BO_ 1 constructor: 8 A\n SG_ __proto__ : 0|8@1+ (1,0) [0|0] "" A\nCM_ SG_ 1 __proto__ "x";',
    );
    expect(database.messages[0]?.signals[0]).toMatchObject({ name: '__proto__', comment: 'x' });
  });

  test('a file that is not a network description is an error', () => {
    for (const bytes of [new Uint8Array(0), new TextEncoder().encode('%PDF-1.7\nBO'), new Uint8Array(100)]) {
      const { database, diagnostics } = parseDbc(bytes, 'car.pdf');
      expect(database.messages).toEqual([]);
      expect(diagnostics.filter((one) => one.severity === 'error')).toMatchObject([{ file: 'car.pdf', line: 0 }]);
    }
  });

  test('a message is CAN FD by its attribute or by its length', () => {
    const { database } = parse(`BO_ 1 Long: 12 A\n SG_ S : 0|8@1+ (1,0) [0|0] "" A\nBO_ 2 Short: 8 A`);
    expect(database.messages.map((message) => message.fd)).toEqual([true, false]);
    const formats = `BA_DEF_ BO_ "VFrameFormat" ENUM "StandardCAN","ExtendedCAN","StandardCAN_FD";\nBA_DEF_DEF_ "VFrameFormat" "StandardCAN";`;
    const labelled = parse(`BO_ 1 Long: 12 A\nBO_ 2 Short: 8 A\n${formats}\nBA_ "VFrameFormat" BO_ 2 2;`);
    expect(labelled.database.messages.map((message) => message.fd)).toEqual([false, true]);
  });
});

/** Checks that every declaration in a file is in the database or explained by a diagnostic. */
function loads(file: string): void {
  const source = readFileSync(file);
  const { database, diagnostics } = parseDbc(source, file);
  expect(diagnostics.filter((one) => one.severity === 'error')).toEqual([]);
  const declared = readNaively(source);
  expect(database.messages.map(({ name, length }) => [name, length])).toEqual(
    declared.map(({ name, length }) => [name, length]),
  );
  for (const [index, { signals }] of database.messages.entries()) {
    expect(signals.map(({ symbol, start, length }) => [symbol, start, length])).toEqual(
      declared[index]?.signals.map(({ symbol, start, length }) => [symbol, start, length]),
    );
  }
}

const networks = fileURLToPath(new URL('../../../golden/dbc/', import.meta.url));

describe('files of every kind', () => {
  const files = readdirSync(networks).map((name) => join(networks, name));

  test.each(files)('%s loads', (file) => {
    expect(readNaively(readFileSync(file)).flatMap(({ signals }) => signals).length).toBeGreaterThan(0);
    loads(file);
  });

  test('a diagnostic names the line of the unusual statement', () => {
    const said = parseDbc(readFileSync(join(networks, 'unusual.dbc')), 'unusual.dbc').diagnostics;
    expect(said.map(({ line, severity, message }) => [line, severity, message])).toEqual([
      [12, 'warning', 'signals Whole and UpperHalf of message Overlapping overlap; both are decoded'],
      [
        15,
        'warning',
        'signal Needs2Bytes needs 2 bytes but message TooShort has 1; it is decoded only from frames that are long enough',
      ],
      [17, 'info', 'message NoSignals has no signals'],
      [19, 'info', 'message NoBytes has a length of 0 bytes'],
      [21, 'warning', "message '4Wheels' is not a valid symbol of the format; it was kept as it is"],
      [22, 'warning', "signal '4WheelDrive' is not a valid symbol of the format; it was kept as it is"],
      [23, 'warning', "signal '2ndGear' is not a valid symbol of the format; it was kept as it is"],
      [25, 'warning', expect.stringContaining('too large for 11 bits; it was taken as a 29-bit id')],
      [30, 'warning', 'signal Same of message Twice is declared twice; it was left out'],
      [33, 'warning', expect.stringContaining('its message has no multiplexor; it is decoded from every frame')],
      [36, 'warning', 'signal TwentyFourBits is called IEEE 754 but has 24 bits; taken as an integer'],
      [41, 'info', 'a comment belongs to signal Absent of message 224, which does not exist; left out'],
      [42, 'warning', expect.stringContaining('a text has quotes inside')],
      [43, 'warning', expect.stringContaining("'HELLO world;' is not a statement")],
      [44, 'warning', 'a value table belongs to signal Absent of message 224, which does not exist; left out'],
    ]);
  });

  test('a file without unusual statements causes no diagnostic', () => {
    const silent = ['floats', 'j1939', 'long-names', 'multiplexed-cascaded', 'spacing', 'value-tables', 'cp1252'];
    for (const name of silent) {
      expect(parseDbc(readFileSync(join(networks, `${name}.dbc`)), name).diagnostics, name).toEqual([]);
    }
  });

  test('Windows-1252 text is preserved in comments, units and value names', () => {
    const { database } = parseDbc(readFileSync(join(networks, 'cp1252.dbc')), 'cp1252');
    expect(database.nodes[0]?.comment).toBe('€‚ƒ„…†‡ˆ‰Š‹Œ‘’“”•–—˜™š›œŸ');
    expect(database.messages[0]?.signals.map(({ unit }) => unit)).toEqual(['°C', '€', 'µm/m²']);
    expect(database.messages[0]?.signals[2]?.choices?.get(0)).toBe('ungültig');
  });
});

describeShared('files beside the project', () => {
  const folder = join(sharedData, 'dbc');
  const files = readdirSync(folder).flatMap((set) =>
    readdirSync(join(folder, set)).map((file) => join(folder, set, file)),
  );

  test.each(files)('%s loads', loads);

  const diagnosticsOf = (name: string) => parseDbc(readFileSync(join(folder, 'cantools', name)), name).diagnostics;

  test('a message that is too short for its signal is reported', () => {
    expect(diagnosticsOf('bad_message_length.dbc')).toMatchObject([
      {
        line: 40,
        severity: 'warning',
        message: expect.stringContaining('Signal1 needs 2 bytes but message Message1 has 1'),
      },
    ]);
  });

  test('a message without signals is reported', () => {
    expect(diagnosticsOf('issue_163_newline.dbc')).toMatchObject([
      { line: 39, severity: 'info', message: 'message dummy_msg has no signals' },
    ]);
  });

  test('Windows-1252 text written by another tool is preserved', () => {
    const { database } = parseDbc(readFileSync(join(folder, 'cantools', 'cp1252.dbc')), 'cp1252');
    expect(database.nodes[0]?.comment).toContain('€‚ƒ„…†‡ˆ‰Š‹Œ');
  });
});
