import { type FaultRecord, faultSchema } from '../../schema/fault.ts';
import { type Members, writerOf } from './writer.ts';

const write = writerOf<FaultRecord>(faultSchema);

/** Records of fault codes; with `more` there are further ones. */
export function faultsJson(records: readonly FaultRecord[], more: boolean): Members {
  return { faults: records.map(write), more };
}
