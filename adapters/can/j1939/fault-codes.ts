/**
 * Fault codes of a control unit: active (DM1) and previously active (DM2), according to SAE J1939-73 §5.7.1 and §5.7.2.
 *
 *     0  lamps: malfunction, red stop, amber warning, protect, 2 bits each   1  how they flash, likewise
 *     2  codes of 4 bytes: SPN, 19 bits   FMI, 5 bits   kind of conversion, 1 bit   count, 7 bits
 */

export const DM1 = 0xfeca;
export const DM2 = 0xfecb;
const LAMPS = ['malfunction', 'redStop', 'amberWarning', 'protect'] as const;
const CODE_BYTES = 4;
/** Values for a count that is not available, an SPN that is not available, and a missing lamp. */
const NO_COUNT = 127;
const NO_SPN = 0x7ffff;
const NO_LAMP = 3;

export type FaultLamp = 'off' | 'on' | 'slowFlash' | 'fastFlash';

export interface J1939Fault {
  /** Suspect parameter number and failure mode. */
  readonly spn: number;
  readonly fmi: number;
  /** Number of activations; undefined if not counted. */
  readonly count?: number;
  /** True if the SPN is in one of three older forms, which cannot be distinguished. */
  readonly olderSpn?: true;
}

export interface J1939Faults {
  /** Lamps that the control unit has. */
  readonly lamps: Partial<Record<(typeof LAMPS)[number], FaultLamp>>;
  readonly faults: readonly J1939Fault[];
}

/** @returns undefined if there is less data than the lamps and one code */
export function readFaultCodes(data: Uint8Array): J1939Faults | undefined {
  const [state = 0, flash = 0] = data;
  if (data.length < 2 + CODE_BYTES) return undefined;
  const lamps: Partial<Record<(typeof LAMPS)[number], FaultLamp>> = {};
  for (const [i, name] of LAMPS.entries()) {
    const shift = 6 - 2 * i;
    const lamp = lampOf((state >>> shift) & 3, (flash >>> shift) & 3);
    if (lamp !== undefined) lamps[name] = lamp;
  }
  const faults: J1939Fault[] = [];
  for (let at = 2; at + CODE_BYTES <= data.length; at += CODE_BYTES) {
    const [low = 0, middle = 0, high = 0, last = 0] = data.subarray(at, at + CODE_BYTES);
    const spn = low | (middle << 8) | ((high >>> 5) << 16);
    const fmi = high & 0x1f;
    // Zeros or ones mean no fault.
    if ((spn === 0 && fmi === 0) || spn === NO_SPN) continue;
    const count = last & 0x7f;
    faults.push({
      spn,
      fmi,
      ...(count === NO_COUNT ? {} : { count }),
      ...(last >= 0x80 ? { olderSpn: true as const } : {}),
    });
  }
  return { lamps, faults };
}

function lampOf(state: number, flash: number): FaultLamp | undefined {
  if (state === NO_LAMP) return undefined;
  if (state !== 1) return 'off';
  return flash === 0 ? 'slowFlash' : flash === 1 ? 'fastFlash' : 'on';
}
