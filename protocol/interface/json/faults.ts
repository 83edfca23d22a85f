import { defined } from '../../defined.ts';
import { type FaultRecord, faultSchema } from '../../schema/fault.ts';
import { type Members, writerOf } from './writer.ts';

const write = writerOf<FaultRecord>(faultSchema);

export interface FaultOfCar {
  /** Present if codes of several cars are shown. */
  readonly vin?: string;
  readonly record: FaultRecord;
}

/** Returns records of fault codes; `more` means that there are further ones. */
export function faultsJson(faults: readonly FaultOfCar[], more: boolean): Members {
  return {
    faults: faults.map(({ vin, record }) => ({ ...defined({ vin }), ...write(record) })),
    more,
  };
}
