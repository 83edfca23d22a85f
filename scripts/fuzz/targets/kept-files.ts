/** Tests files that the agent wrote and reads at startup. The store must open whatever the state of its journal. */
import { readTrustChanges } from '../../../adapters/keys/trust-changes.ts';
import { algorithmOf, keyIdOf, parseTrust, readEntries, trustEntries } from '../../../adapters/keys/trust-file.ts';
import { openStore } from '../../../adapters/store/index.ts';
import { VigieError } from '../../../protocol/errors.ts';
import { outboxEntry } from '../../../test/adapters/store/entries.ts';
import { segmentWith } from '../../../test/adapters/store/segment-bytes.ts';
import { SimulatedDisk } from '../../../test/adapters/store/simulated-disk.ts';
import { WorldKey } from '../../../test/world/keys.ts';
import { Contradiction, type FuzzTarget, texts } from '../target.ts';

const decoder = new TextDecoder();

function entries(): readonly object[] {
  const { publicKey } = new WorldKey('fuzz');
  const kid = Buffer.from(keyIdOf(publicKey)).toString('hex');
  return trustEntries([
    {
      name: 'fuzz',
      kid,
      algorithm: algorithmOf(publicKey) ?? 'Ed25519',
      kinds: ['Doors', 'Trust'],
      publicKey,
      notAfter: 2e12,
    },
  ]);
}

export const trustFile: FuzzTarget = {
  name: 'trust-file',
  seeds: () => texts(JSON.stringify({ version: 1, keys: entries() }), JSON.stringify({ version: 1, keys: [] })),
  words: ['"notBefore"', '"__proto__"', '"ES256"', '2030-01-01T00:00:00Z'],
  run(input) {
    parseTrust(decoder.decode(input), 'trust.json');
    return true;
  },
};

/** Tests the list of changes that commands made to the trusted keys. */
export const trustChanges: FuzzTarget = {
  name: 'trust-changes',
  seeds: () =>
    texts(
      JSON.stringify({ generation: 3, keys: entries(), revoked: ['9f86d081884c7d65'] }),
      JSON.stringify({ unconfirmed: { why: 'the file was damaged', file: '00' } }),
    ),
  words: ['"unconfirmed"', '"generation"', '"__proto__"', 'null'],
  run(input) {
    let data: unknown;
    try {
      data = JSON.parse(decoder.decode(input));
    } catch {
      return false;
    }
    const changes = readTrustChanges(data);
    if (changes === undefined) return false;
    readEntries(changes.keys ?? [], (what) => new VigieError('configuration.wrong', what));
    return true;
  },
};

const FOLDER = '/outbox';

/** Returns a segment as a store leaves it on disk, with messages, acknowledgements, records and states. */
async function written(): Promise<Uint8Array> {
  const disk = new SimulatedDisk();
  const store = await openStore(FOLDER, { files: disk, settleWithin: 1e9 });
  for (let seq = 0; seq < 4; seq++) store.outbox.append(outboxEntry(seq % 2, seq >> 1));
  store.memory.keep(() => [['trip', { open: true }]]);
  store.records.put('trips', { id: 'a', at: 1, record: { distance: 2 } });
  await store.outbox.commit();
  store.outbox.acknowledge(0, 0);
  await store.outbox.commit();
  await store.close();
  return disk.read(`${FOLDER}/00000001.journal`);
}
const journalSeeds = [
  await written(),
  segmentWith((records) => {
    records.add([1, 0, 0, 'event', 1, false, new Uint8Array(8)]);
  }),
];

export const journal: FuzzTarget = {
  name: 'journal',
  seeds: () => journalSeeds,
  async run(input) {
    const disk = new SimulatedDisk();
    disk.plant(`${FOLDER}/00000001.journal`, input);
    const failed = (error: unknown): never => {
      throw new Contradiction(`a store must open and take messages whatever its files have: ${String(error)}`);
    };
    const store = await openStore(FOLDER, { files: disk, settleWithin: 1e9 }).catch(failed);
    try {
      const found = [...store.outbox.entries()];
      for (const one of found) store.outbox.load(one.class, one.seq);
      const before = store.outbox.nextSeq(1);
      store.outbox.append(outboxEntry(1, before));
      await store.outbox.commit();
      if (store.outbox.load(1, before) === undefined) failed('a message that was committed cannot be read');
      return found.length > 0;
    } catch (error) {
      return failed(error);
    } finally {
      await store.close();
    }
  },
};
