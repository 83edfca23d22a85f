/** Files that are sent with a configuration, compressed in the command and uncompressed on the unit. */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { SentFile } from '../adapters/service/generation-files.ts';
import { VigieError } from '../protocol/errors.ts';
import type { ConfigurationOrder } from '../protocol/schema/order.ts';

/** Maximum total size of a configuration's files in bytes: a small command could unpack to more than fits on a unit. */
const MOST = 4 * 1024 * 1024;

type PackedFile = NonNullable<ConfigurationOrder['files']>[number];

export function packFile({ path, contents }: SentFile): PackedFile {
  return { path, deflated: new Uint8Array(deflateRawSync(contents, { level: 9 })) };
}

/** @throws VigieError `configuration.wrong` if the files cannot be unpacked or are too large */
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

/** Returns the digest by which the cloud, which also has the command's body, identifies a sent configuration. */
export function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 32);
}
