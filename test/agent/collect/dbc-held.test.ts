/** A DBC is read for a collect command and then released from memory. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { START } from './car.ts';

/** V8 copies short slices of a string but keeps the whole text for long ones, so the names are long. */
function large(): string {
  const lines = ['VERSION ""', 'BU_: ECU'];
  for (let m = 0; m < 500; m++) {
    lines.push(`BO_ ${100 + m} MESSAGE_OF_A_LARGE_UNIT_${m}: 8 ECU`);
    for (let s = 0; s < 8; s++)
      lines.push(` SG_ SignalOfTheUnit_${s} : ${s * 8}|8@1+ (1,0) [0|0] "revolutions/min" ECU`);
    for (let s = 0; s < 8; s++)
      lines.push(`CM_ SG_ ${100 + m} SignalOfTheUnit_${s} "${'Says how it is. '.repeat(60)}";`);
  }
  return `${lines.join('\n')}\n`;
}

test('while a signal is collected, the agent keeps neither the DBC text nor its parsed form in memory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vigie-dbc-held-'));
  try {
    const file = join(folder, 'large.dbc');
    const text = large();
    writeFileSync(file, text);
    const child = fileURLToPath(new URL('./held-child.ts', import.meta.url));
    const signal = (m: number): string => `MESSAGE_OF_A_LARGE_UNIT_${m}.SignalOfTheUnit_0`;
    const said = execFileSync(process.execPath, ['--expose-gc', child, file, signal(1), signal(2), '102'], {
      encoding: 'utf8',
    });
    const { kept, readings } = JSON.parse(said) as { kept: number; readings: [at: number, value: number][] };
    expect(readings.map(([at, value]) => [at >= START, value])).toEqual([[true, 7]]);
    expect(kept).toBeLessThan(text.length / 2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
