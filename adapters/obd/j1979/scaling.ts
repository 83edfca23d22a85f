/** Scaling of a test result of service 06: value = raw × scale + offset. */
export interface Scaling {
  readonly scale: number;
  readonly offset: number;
  readonly signed: boolean;
  /** Empty for a plain number. */
  readonly unit: string;
}

type Row = readonly [id: number, unit: string, scale: number, offset?: number];

/** Unit and scaling identifiers 01 to 7F, unsigned (SAE J1979-DA, Table E.1). */
const UNSIGNED: readonly Row[] = [
  [0x01, '', 1],
  [0x02, '', 0.1],
  [0x03, '', 0.01],
  [0x04, '', 0.001],
  [0x05, '', 0.0000305],
  [0x06, '', 0.000305],
  [0x07, 'rpm', 0.25],
  [0x08, 'km/h', 0.01],
  [0x09, 'km/h', 1],
  [0x0a, 'V', 0.000122],
  [0x0b, 'V', 0.001],
  [0x0c, 'V', 0.01],
  [0x0d, 'mA', 0.00390625],
  [0x0e, 'A', 0.001],
  [0x0f, 'A', 0.01],
  [0x10, 's', 0.001],
  [0x11, 's', 0.1],
  [0x12, 's', 1],
  [0x13, 'Ohm', 0.001],
  [0x14, 'Ohm', 1],
  [0x15, 'kOhm', 1],
  [0x16, '°C', 0.1, -40],
  [0x17, 'kPa', 0.01],
  [0x18, 'kPa', 0.0117],
  [0x19, 'kPa', 0.079],
  [0x1a, 'kPa', 1],
  [0x1b, 'kPa', 10],
  [0x1c, '°', 0.01],
  [0x1d, '°', 0.5],
  [0x1e, 'lambda', 0.0000305],
  [0x1f, 'A/F', 0.05],
  [0x20, '', 0.00390625],
  [0x21, 'Hz', 0.001],
  [0x22, 'Hz', 1],
  [0x23, 'kHz', 1],
  [0x24, 'counts', 1],
  [0x25, 'km', 1],
  [0x26, 'V/ms', 0.0001],
  [0x27, 'g/s', 0.01],
  [0x28, 'g/s', 1],
  [0x29, 'kPa/s', 0.00025],
  [0x2a, 'kg/h', 0.001],
  [0x2b, 'switches', 1],
  [0x2c, 'g/cyl', 0.01],
  [0x2d, 'mg/stroke', 0.01],
  [0x2e, 'true/false', 1],
  [0x2f, '%', 0.01],
  [0x30, '%', 0.001526],
  [0x31, 'L', 0.001],
  [0x32, 'mm', 0.0007747],
  [0x33, 'lambda', 0.00024414],
  [0x34, 'min', 1],
  [0x35, 's', 0.01],
  [0x36, 'g', 0.01],
  [0x37, 'g', 0.1],
  [0x38, 'g', 1],
  [0x39, '%', 0.01, -327.68],
  [0x3a, 'g', 0.001],
  [0x3b, 'g', 0.0001],
  [0x3c, 'µs', 0.1],
  [0x3d, 'mA', 0.01],
  [0x3e, 'mm²', 0.00006103516],
  [0x3f, 'L', 0.01],
  [0x40, 'ppm', 1],
  [0x41, 'µA', 0.01],
];

/** Identifiers 80 to FE, two's complement. */
const SIGNED: readonly Row[] = [
  [0x81, '', 1],
  [0x82, '', 0.1],
  [0x83, '', 0.01],
  [0x84, '', 0.001],
  [0x85, '', 0.0000305],
  [0x86, '', 0.000305],
  [0x87, 'ppm', 1],
  [0x8a, 'V', 0.000122],
  [0x8b, 'V', 0.001],
  [0x8c, 'V', 0.01],
  [0x8d, 'mA', 0.00390625],
  [0x8e, 'A', 0.001],
  [0x90, 's', 0.001],
  [0x96, '°C', 0.1],
  [0x99, 'kPa', 0.1],
  [0x9c, '°', 0.01],
  [0x9d, '°', 0.5],
  [0xa8, 'g/s', 1],
  [0xa9, 'Pa/s', 0.25],
  [0xad, 'mg/stroke', 0.01],
  [0xae, 'mg/stroke', 0.1],
  [0xaf, '%', 0.01],
  [0xb0, '%', 0.003052],
  [0xb1, 'mV/s', 2],
  [0xfc, 'kPa', 0.01],
  [0xfd, 'kPa', 0.001],
  [0xfe, 'Pa', 0.25],
];

const SCALINGS: ReadonlyMap<number, Scaling> = new Map(
  [...UNSIGNED, ...SIGNED].map(([id, unit, scale, offset = 0]) => [id, { scale, offset, signed: id >= 0x80, unit }]),
);

/** Returns the scaling of a unit and scaling identifier, 0..255; undefined for a reserved identifier. */
export function scalingOf(id: number): Scaling | undefined {
  return SCALINGS.get(id);
}
