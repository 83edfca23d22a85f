/** Files that come with a configuration: compressed in the command, whole on the unit. */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SentFile } from '../adapters/service/generation-files.ts';
import { VigieError } from '../protocol/errors.ts';
import type { ConfigurationOrder } from '../protocol/schema/order.ts';

/** All files of one configuration, in bytes: a unit has no room for whatever a command can be blown up to. */
const MOST = 4 * 1024 * 1024;

type PackedFile = NonNullable<ConfigurationOrder['files']>[number];

export function packFile({ path, contents }: SentFile): PackedFile {
  return { path, deflated: new Uint8Array(deflateRawSync(contents, { level: 9 })) };
}

/** @throws VigieError `configuration.wrong` for what cannot be unpacked, or is too much */
export function unpackFiles(packed: readonly PackedFile[]): SentFile[] {
  let room = MOST;
  return packed.map(({ path, deflated }) => {
    try {
      const contents = new Uint8Array(inflateRawSync(deflated, { maxOutputLength: Math.max(1, room) }));
      room -= contents.byteLength;
      return { path, contents };
    } catch (cause) {
      const tooMuch = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
      const why = tooMuch
        ? `the files have more than ${MOST} bytes in all`
        : `it is not deflated: ${(cause as Error).message}`;
      throw new VigieError('configuration.wrong', `the file cannot be unpacked: ${why}`, { where: path, cause });
    }
  });
}

/** Digest that identifies a sent configuration for the cloud, which has the body of the command too. */
export function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 32);
}
