/** Keys made from known seeds, so that every run signs the same bytes (Ed25519 signatures are deterministic). */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { keyIdOf } from '../../adapters/keys/index.ts';
import { trustEntries } from '../../adapters/keys/trust-file.ts';
import { EDDSA, encodeSigned } from '../../protocol/cose.ts';
import { hex } from '../../protocol/hex.ts';
import { remoteTypes } from '../../protocol/remote/table.ts';

/** PrivateKeyInfo of an Ed25519 key up to its 32 bytes (RFC 8410 §7). */
const HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');

export class WorldKey {
  readonly id: Uint8Array;
  readonly name: string;
  readonly publicKey: KeyObject;
  readonly #privateKey: KeyObject;

  constructor(name: string) {
    this.name = name;
    const secret = createHash('sha256').update(`vigie world ${name}`).digest();
    this.#privateKey = createPrivateKey({ key: Buffer.concat([HEAD, secret]), type: 'pkcs8', format: 'der' });
    this.publicKey = createPublicKey(this.#privateKey);
    this.id = keyIdOf(this.publicKey);
  }

  get hex(): string {
    return hex(this.id);
  }

  /** COSE_Sign1 of a payload. */
  sign(payload: Uint8Array): Uint8Array {
    return encodeSigned(payload, { algorithm: EDDSA, keyId: this.id }, (bytes) => sign(null, bytes, this.#privateKey));
  }
}

/** May change keys, and nothing else. */
export const root = new WorldKey('root');
/** May send every command to the car. */
export const operators = [new WorldKey('operator-1'), new WorldKey('operator-2'), new WorldKey('operator-3')] as const;
/** Added to cars by command. */
export const spares = [new WorldKey('spare-1'), new WorldKey('spare-2'), new WorldKey('spare-3')] as const;
/** All keys that may send commands now or later. */
export const signers: readonly WorldKey[] = [...operators, ...spares];
/** Key of the hub. */
export const hubKey = new WorldKey('hub');
/** May start collections. Trusted in worlds whose cars have custom signals. */
export const collector = new WorldKey('collector');
const { name, hex: kid, publicKey } = collector;
const ofCollector = { name, kid, algorithm: 'Ed25519' as const, publicKey };
/** A key that no car trusts. */
export const stranger = new WorldKey('stranger');

const ofHub = { name: hubKey.name, kid: hubKey.hex, algorithm: 'Ed25519' as const, publicKey: hubKey.publicKey };

/** Trusted keys in the form of a trust file, for a world with collections, or with fleet monitors from the hub. */
export function trustedIn(world: {
  readonly signals?: boolean;
  readonly fleet?: boolean;
  readonly callbacks?: boolean;
  readonly rollouts?: boolean;
}): ReturnType<typeof trustEntries> {
  const { signals, fleet, callbacks, rollouts } = world;
  const ofFleet = fleet === true ? (['Monitor'] as const) : [];
  return trustEntries([
    { name: root.name, kid: root.hex, algorithm: 'Ed25519', kinds: ['Trust'], publicKey: root.publicKey },
    {
      ...ofHub,
      kinds: [
        'Resend',
        ...ofFleet,
        ...(callbacks === true ? remoteTypes : []),
        ...(rollouts === true ? (['Configuration'] as const) : []),
      ],
    },
    ...operators.map((key) => ({
      name: key.name,
      kid: key.hex,
      algorithm: 'Ed25519' as const,
      publicKey: key.publicKey,
      kinds: [...remoteTypes],
    })),
    ...(signals === true ? [{ ...ofCollector, kinds: ['Collect'] as const }] : []),
  ]);
}
