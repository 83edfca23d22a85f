/** Writes frames in the log format of can-utils. */
import {
  BIT_RATE_SWITCH,
  ERROR,
  ERROR_STATE,
  EXTENDED,
  FD,
  type FrameBatch,
  REMOTE,
  SENT,
} from '../../../agent/ports.ts';

const hex = Array.from({ length: 256 }, (_, i) => i.toString(16).toUpperCase().padStart(2, '0'));

/**
 * Formats frame `index` of a batch as a line of `candump -l`, without line end. {@link openLog} reads the same frame
 * from it, with its time to the microsecond. The line of a sent frame ends with `T`.
 * @param buses bus names that the batch's bus column indexes, without blanks
 */
export function formatCandump(batch: FrameBatch, index: number, buses: readonly string[]): string {
  const at = Math.max(0, Math.round((batch.at[index] as number) * 1000));
  const seconds = Math.floor(at / 1_000_000);
  const micro = at - seconds * 1_000_000;
  const id = batch.id[index] as number;
  const flags = batch.flags[index] as number;
  const length = batch.length[index] as number;
  let frame: string;
  if ((id & (EXTENDED | ERROR)) !== 0) {
    const shown = (id & ERROR) !== 0 ? id & 0x3fff_ffff : id & 0x1fff_ffff;
    frame = `${shown.toString(16).toUpperCase().padStart(8, '0')}#`;
  } else frame = `${(id & 0x7ff).toString(16).toUpperCase().padStart(3, '0')}#`;
  if ((id & REMOTE) !== 0) frame += length === 0 ? 'R' : `R${length}`;
  else {
    if ((flags & FD) !== 0) {
      frame += `#${((flags & BIT_RATE_SWITCH) !== 0 ? 1 : 0) | ((flags & ERROR_STATE) !== 0 ? 2 : 0)}`;
    }
    const start = batch.offset[index] as number;
    for (let i = start; i < start + length; i++) frame += hex[batch.data[i] as number];
  }
  const time = `${String(seconds).padStart(10, '0')}.${String(micro).padStart(6, '0')}`;
  const bus = buses[batch.bus[index] as number] ?? `can${batch.bus[index]}`;
  return `(${time}) ${bus} ${frame}${(flags & SENT) !== 0 ? ' T' : ''}`;
}
