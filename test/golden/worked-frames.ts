/** Frames of the networks in `dbc/` with values computed by hand; names for named values. */
export interface WorkedFrame {
  readonly file: string;
  readonly why: string;
  /** Identifier with the bit that marks 29 bits. */
  readonly id: number;
  readonly data: string;
  readonly signals: Readonly<Record<string, number | string>>;
}

const extended = (id: number): number => 0x8000_0000 + id;

export const worked: readonly WorkedFrame[] = [
  {
    file: 'byte-orders.dbc',
    why: 'an Intel word has its low byte first, a Motorola word its high byte',
    id: 18,
    data: '3412123450a67b00',
    signals: {
      IntelWord: 0x1234,
      MotorolaWord: 0x1234,
      // Bits 36 to 47: the upper half of byte 4 is the low end, 5; byte 5 is above it.
      IntelAcrossBytes: 0xa65,
      // Bits 51 to 48, then byte 7: the lower half of byte 6, b, is the high end.
      MotorolaAcrossBytes: 0xb00,
    },
  },
  {
    file: 'byte-orders.dbc',
    why: 'eight bytes are one number',
    id: 19,
    data: '0100000000000000',
    signals: { Everything: 1 },
  },
  {
    file: 'byte-orders.dbc',
    why: 'eight bytes are one number, the other way round',
    id: 20,
    data: '0000000000000001',
    signals: { Everything: 1 },
  },
  {
    file: 'signed.dbc',
    why: "two's complement: all bits set are -1 at every width",
    id: 32,
    data: 'ffffffffffffffff',
    signals: { OneBit: -1, TwoBits: -1, SevenBits: -1, FifteenBits: -1, ThirtyTwoBits: -1, Rest: -0.5 },
  },
  {
    file: 'signed.dbc',
    why: 'the smallest number of 64 bits',
    id: 35,
    data: '8000000000000000',
    signals: { Whole: '-9223372036854775808' },
  },
  {
    file: 'floats.dbc',
    // IEEE 754: 1.5 is 0 01111111 1000…, -2 is 1 10000000 0…
    why: 'IEEE 754 of 32 bits in both byte orders',
    id: 48,
    data: '0000c03fc0000000',
    signals: { IntelSingle: 1.5, MotorolaSingle: -2 },
  },
  {
    file: 'floats.dbc',
    // Exponent all ones: infinity if the fraction is 0, otherwise NaN.
    why: 'IEEE 754 that is not a finite number',
    id: 48,
    data: '0000807f7fc00000',
    signals: { IntelSingle: 'inf', MotorolaSingle: 'nan' },
  },
  {
    file: 'floats.dbc',
    // 0.1 is 3FB999999999999A.
    why: 'IEEE 754 of 64 bits',
    id: 49,
    data: '9a9999999999b93f',
    signals: { IntelDouble: 0.1 },
  },
  {
    file: 'floats.dbc',
    // 1 is 3C00, the smallest number above 0 is 2^-24.
    why: 'IEEE 754 of 16 bits',
    id: 53,
    data: '003c000100000000',
    signals: { IntelHalf: 1, MotorolaHalf: 2 ** -24 },
  },
  {
    file: 'value-tables.dbc',
    why: 'names of values, where there are some',
    id: 64,
    data: '33fffe0001051000',
    signals: {
      Inline: 'Drive',
      ByTable: 'Not available',
      Negative: 'minus one',
      Scaled: 'Error',
      Empty: 0,
      EmptyTable: 1,
      Odd: 'constructor',
      Wide: 'sixteen',
    },
  },
  {
    file: 'multiplexed.dbc',
    why: 'only what the multiplexor selects is there',
    id: 80,
    data: 'a0e803ff00000000',
    signals: { Selector: 0, Always: 10, WhenZero: 100, WhenZeroToo: -1 },
  },
  {
    file: 'multiplexed.dbc',
    why: 'a page that is not described has the rest',
    id: 80,
    data: '0500000000000000',
    signals: { Selector: 5, Always: 0 },
  },
  {
    file: 'multiplexed.dbc',
    // 1110 is -2 signed; the page is counted without sign.
    why: 'a multiplexor with a sign selects by its bits',
    id: 82,
    data: '0e05000000000000',
    signals: { Sign: -2, High: 11 },
  },
  {
    file: 'multiplexed.dbc',
    why: 'a multiplexor with a scale selects by its raw value',
    id: 83,
    data: '14ff0700',
    signals: { Scaled: 20, Twenty: 7 },
  },
  {
    file: 'multiplexed-cascaded.dbc',
    why: 'a multiplexor below a multiplexor below a multiplexor',
    id: extended(96),
    data: '1200059cff000009',
    signals: { Outer: 2, Inner: 1, Innermost: 5, Deepest: -1, Free: 9 },
  },
  {
    file: 'multiplexed-ranges.dbc',
    why: 'a page within a range',
    id: 97,
    data: '0411223344000000',
    signals: { Page: 4, Apart: 17 },
  },
  {
    file: 'multiplexed-ranges.dbc',
    why: 'a page between two ranges',
    id: 97,
    data: '0611223344000000',
    signals: { Page: 6 },
  },
  {
    file: 'multiplexed-independent.dbc',
    why: 'each of two multiplexors selects its own',
    id: 98,
    data: '21ff341200000000',
    signals: { Left: 1, Right: 2, LeftOne: -1, RightTwo: 0x1234 },
  },
  {
    file: 'j1939.dbc',
    // J1939-71, SPN 190: 0.125 rpm per bit, bytes 4 and 5: 0x1368 × 0.125. SPN 513: 1 % per bit, offset -125 %.
    why: 'EEC1 (PGN 61444) of source 0 with another priority',
    id: extended(0x0cf00400),
    data: 'f17d7d6813ffffff',
    signals: { EngineTorqueMode: 1, ActualEngineTorque: 0, EngineSpeed: 621 },
  },
  {
    file: 'j1939.dbc',
    // J1939-71, SPN 84: 1/256 km/h per bit, bytes 2 and 3: 0x2D80 / 256. SPN 70: bits 3 and 4 of byte 1.
    why: 'CCVS (PGN 65265) of source 23',
    id: extended(0x18fef117),
    data: 'f7802dffffffffff',
    signals: { ParkingBrakeSwitch: 1, WheelBasedVehicleSpeed: 45.5 },
  },
  {
    file: 'j1939.dbc',
    // J1939-71, SPN 110: 1 °C per bit, offset -40 °C; SPN 175: 1/32 °C per bit, offset -273 °C: 0x2AE0 / 32 - 273.
    why: 'ET1 (PGN 65262)',
    id: extended(0x18feee00),
    data: '82ffe02affffffff',
    signals: { EngineCoolantTemperature: 90, EngineOilTemperature1: 70 },
  },
  {
    file: 'j1939.dbc',
    // J1939-21 §5.2: below PDU format 240 the next byte is a destination, here 33, and not part of the group.
    why: 'a group with a destination, whichever it is',
    id: extended(0x18ea21f9),
    data: 'eefe00',
    signals: { Requested: 0xfeee },
  },
  {
    file: 'j1939.dbc',
    // J1939-71, SPN 91: 0.4 % per bit, byte 2: 0x7D × 0.4.
    why: 'EEC2 (PGN 61443): from PDU format 240 on the next byte is part of the group',
    id: extended(0x0cf00300),
    data: 'ff7dffffffffffff',
    signals: { AcceleratorPedalPosition1: 50 },
  },
  {
    file: 'j1939.dbc',
    // J1939-21 §5.2: PDU format 239 is the last one with a destination.
    why: 'proprietary A (PGN 61184) to any destination',
    id: extended(0x18efab10),
    data: '2a',
    signals: { Secret: 42 },
  },
  {
    file: 'j1939.dbc',
    why: 'one group from two sources: each has its own message, whatever the priority',
    id: extended(0x1cfee500),
    data: '2a',
    signals: { OfZero: 42 },
  },
  {
    file: 'j1939.dbc',
    // J1939-81: 254 is the null address; a description that names it means any source.
    why: 'a source without a message of its own has that of any source',
    id: extended(0x18fee409),
    data: '2a',
    signals: { OfAny: 42 },
  },
  {
    file: 'big-numbers.dbc',
    why: 'an integer beyond 2^53 keeps its last digit',
    id: 144,
    data: '0100000000002000',
    signals: { Unsigned: '9007199254740993' },
  },
  {
    file: 'big-numbers.dbc',
    why: 'the largest integer of 64 bits',
    id: 144,
    data: 'ffffffffffffffff',
    signals: { Unsigned: '18446744073709551615' },
  },
  {
    file: 'scaling.dbc',
    why: 'a factor below 0 turns the scale around',
    id: 160,
    data: 'ff01fe0000000000',
    signals: { Downwards: -255, DownwardsFrom: 127, SignedDownwards: 5, MotorolaDownwards: 655.35 },
  },
  {
    file: 'flexible-data-rate.dbc',
    why: 'the last byte of 64',
    id: 128,
    data: `${'00'.repeat(63)}7f`,
    signals: {
      First: 0,
      AcrossTheEighthByte: 0,
      MotorolaMiddle: -100,
      IntelDoubleMiddle: 0,
      NearTheEnd: 0,
      Last: 127,
    },
  },
  {
    file: 'variable-length.dbc',
    why: 'a frame that ends early has what lies before its end',
    id: 208,
    data: '120304',
    signals: { InFirst: 0x12, AcrossFirst: 0x31 },
  },
];
