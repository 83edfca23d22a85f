/** The callback and the monitor that the page creates so that a device receives the incidents of a car. */

interface DataTrigger {
  readonly name: string;
  readonly data: {
    readonly data: string;
    readonly op: 'onChange' | 'includedIn';
    readonly value?: readonly string[];
    readonly previous?: { readonly op: 'equalsTo'; readonly value: readonly string[] };
  };
}

/** Triggers with the scopes that they require: an event contains the whole record, including its position. */
const triggers: readonly { readonly scopes: readonly string[]; readonly triggers: readonly DataTrigger[] }[] = [
  {
    scopes: ['data:telemetry'],
    triggers: [
      {
        name: 'alarm',
        data: {
          data: 'vehicle.alarm.trigger.type',
          op: 'onChange',
          previous: { op: 'equalsTo', value: ['NoBreakIn'] },
        },
      },
      {
        name: 'theft',
        data: { data: 'stolen.state', op: 'onChange', previous: { op: 'equalsTo', value: ['false'] } },
      },
    ],
  },
  {
    scopes: ['data:alert', 'data:position'],
    triggers: [{ name: 'alert', data: { data: 'vehicle.alert', op: 'onChange' } }],
  },
  {
    scopes: ['data:collision', 'data:position'],
    triggers: [
      {
        name: 'side',
        data: { data: 'vehicle.collision.side', op: 'includedIn', value: ['Front', 'Rear', 'Lateral'] },
      },
      {
        name: 'severity',
        data: { data: 'vehicle.collision.severity', op: 'includedIn', value: ['Minimal', 'Minor', 'Major'] },
      },
    ],
  },
];

/**
 * Returns a MonitorParameter (user 4.17.2) for the incidents that the reader may see, or undefined if there are none.
 * @param has returns true if the reader has the scope
 */
export function monitorOfIncidents(label: string, title: string, has: (scope: string) => boolean): object | undefined {
  const allowed = triggers.filter(({ scopes }) => scopes.every(has)).flatMap((one) => one.triggers);
  if (allowed.length === 0) return undefined;
  return {
    label,
    triggerParam: { triggers: allowed, boolExp: allowed.map(({ name }) => name).join(' | ') },
    attributes: [
      { type: 'Body', key: 'vin', value: '$Vin' },
      { type: 'Body', key: 'car', value: title },
    ],
  };
}

/** Returns a CallbackSubscribe (user 4.17.2) for one browser. */
export function callbackOfDevice(label: string, subscription: object): object {
  return { label, type: ['Monitor'], callback: { pushnotif: { devices: [JSON.stringify(subscription)] } } };
}
