/** Settings of the emulated adapter, and their values after a reset. */
export interface Settings {
  echo: boolean;
  lineFeeds: boolean;
  spaces: boolean;
  headers: boolean;
  formatting: boolean;
  flowControl: boolean;
  responses: boolean;
  protocol: string;
  header: string | undefined;
  priority: string;
  filter: readonly [number, number] | undefined;
  flowHeader: number | undefined;
  flowData: readonly number[] | undefined;
  flowMode: string;
  target: number | undefined;
  tester: number;
}

export function defaults(): Settings {
  return {
    echo: true,
    lineFeeds: false,
    spaces: true,
    headers: false,
    formatting: true,
    flowControl: true,
    responses: true,
    protocol: '0',
    header: undefined,
    priority: '18',
    filter: undefined,
    flowHeader: undefined,
    flowData: undefined,
    flowMode: '0',
    target: undefined,
    tester: 0xf1,
  };
}

const VERBS =
  'ATFCSH ATFCSD ATFCSM STCSEGT STPTO ATCRA ATCAF ATCFC ATCEA ATCF ATCM ATCP ATSH ATSP ATST ATTP ATTA ATAL ATAT ATE ATL ATS ATH ATM ATR'.split(
    ' ',
  );

/** Splits a command into verb and argument. */
export function split(line: string): [string, string] {
  const verb = VERBS.find((name) => line.startsWith(name)) ?? line;
  return [verb, line.slice(verb.length)];
}
