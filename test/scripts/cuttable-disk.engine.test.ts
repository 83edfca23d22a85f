import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { CuttableDisk } from '../../scripts/broker-loss/disk.ts';
import { describeNeeding } from '../needs.ts';
import { describePeers } from '../rig/peers.ts';

describePeers(['/dev/loop-control', 'python3'], 'a disk whose power is cut', () => {
  describeNeeding(process.getuid?.() === 0, 'mounting needs root', 'as root', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cuttable-disk-'));
    let disk: CuttableDisk | undefined;
    afterEach(async () => {
      await disk?.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    test('loses what was not synced, and nothing else', async () => {
      disk = new CuttableDisk(folder);
      await expect(disk.prove()).resolves.toBeUndefined();
    });
  });
});
