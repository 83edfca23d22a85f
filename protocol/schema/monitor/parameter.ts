/**
 * A monitor, in the same form for wire and disk: MonitorParameter of both lines (3.19.2, 4.17.2),
 * spelled as published, with additions. compile.ts checks it with more rules than a schema can express.
 */
import { enumeration, list, optional, quantity, record, required, type Static, text } from '../fields.ts';
import { dataCodes, dataOperators, previousOperators } from './data.ts';
import { extensionPattern } from './extensions.ts';
import { recurrences, weekdays } from './schedule.ts';

const value = (description: string) => list(description, text('One value.'), { maxItems: 128 });

const dataTriggerSchema = record('DataTrigger', 'Something of the car that is watched. Interface 3.19.2 DataTrigger.', {
  data: required(1, enumeration('Data of the trigger. Interface 3.19.2 DataTrigger.data.', dataCodes)),
  op: required(2, enumeration('How. Interface 3.19.2 DataTrigger.op.', dataOperators)),
  value: optional(3, value('Values of the comparison. Interface 3.19.2 DataTrigger.value.')),
  previous: optional(
    4,
    record('DataTriggerPrevious', 'Value before the change. Interface 4.17.2 DataTrigger.previous.', {
      value: required(1, value('Interface 4.17.2 DataTrigger.previous.value.')),
      op: required(2, enumeration('Interface 4.17.2 DataTrigger.previous.op.', previousOperators)),
    }),
  ),
  hysteresis: optional(
    5,
    quantity(
      'that of the data',
      0,
      [0],
      'Distance that a number must come back before the trigger is false. An addition.',
    ),
  ),
  signal: optional(6, text('Name of the custom signal, where `data` is `signal`. An addition.')),
});

const degrees = (bound: number, description: string) => quantity('deg', 0, [-bound, bound], description);

const zoneTriggerSchema = record('ZoneTrigger', 'Where the car is. Interface 3.19.2 ZoneTrigger.', {
  transition: required(1, enumeration('Side of the circle. Interface 3.19.2 ZoneTrigger.transition.', ['In', 'Out'])),
  place: required(
    2,
    record('Circle', 'A circle on the earth. Interface 3.19.2 ZoneTrigger.place.', {
      radius: required(1, quantity('km', 1, [1, 20_000], 'Interface 3.19.2 radius.')),
      center: required(
        2,
        record('Center', 'Middle of the circle. Interface 3.19.2 ZoneTrigger.place.center.', {
          longitude: required(1, degrees(180, 'WGS 84, positive to the east.')),
          latitude: required(2, degrees(90, 'WGS 84, positive to the north.')),
        }),
      ),
    }),
  ),
});

const timeTriggerSchema = record('TimeTrigger', 'When the car is used. Interface 3.19.2 TimeTrigger.', {
  times: required(
    1,
    list(
      'Any of them counts. Interface 3.19.2 TimeTrigger.times.',
      record('TimeTriggerEntry', 'One interval, or one of each day. Interface 3.19.2 TimeTriggerEntry.', {
        recurrence: required(1, enumeration('Interface 3.19.2 Program.recurrence.', recurrences)),
        start: required(2, text('None: RFC 3339; Daily: since midnight, e.g. PT14H30M.', { maxLength: 64 })),
        duration: optional(3, text('ISO 8601 duration; absent with None: for ever.', { maxLength: 64 })),
        occurence: optional(
          4,
          record('TimeOccurence', 'On which days; absent: on all. Interface 3.19.2 TimeTriggerEntry.occurence.', {
            day: optional(1, list('Days.', enumeration('A day.', weekdays), { maxItems: 7 })),
            week: optional(2, list('Weeks of ISO 8601.', text('w1, or w40-w50.', { maxLength: 16 }), { maxItems: 52 })),
          }),
        ),
      }),
      { minItems: 1, maxItems: 64 },
    ),
  ),
  timeZone: required(2, text('IANA time zone. Interface 3.19.2 TimeTrigger.timeZone.', { maxLength: 64 })),
});

export const triggerNamePattern = '^[a-zA-Z]+[._-]?[0-9]*$';

const triggerSchema = record('MonitorTrigger', 'Exactly one of data, zone, time. Interface 3.19.2 MonitorTrigger.', {
  name: required(1, text('Interface 3.19.2 MonitorTrigger.name.', { maxLength: 64, pattern: triggerNamePattern })),
  data: optional(2, dataTriggerSchema),
  zone: optional(3, zoneTriggerSchema),
  time: optional(4, timeTriggerSchema),
  holdFor: optional(5, quantity('s', 0.001, [1, 86_400], 'Time for which the condition must hold. An addition.')),
});

const around = (description: string) => quantity('s', 0.001, [0, 60], description);

/** Conditions and contents of a monitor. */
export const monitorParameterSchema = record(
  'MonitorParameter',
  'Rule and events of a monitor. Interface 3.19.2 and 4.17.2 MonitorParameter.',
  {
    label: required(1, text('Name for people. Interface 3.19.2 MonitorParameter.label.')),
    subscribeParam: optional(
      2,
      record('MonitorSubscribe', 'Settings that the car needs. Interface 3.19.2 MonitorCallbackSubscribe.', {
        refreshEvent: optional(
          1,
          quantity(
            's',
            1,
            [60, 31_536_000],
            'Time after which a monitor that is still true sends its event again. Interface 3.19.2 refreshEvent.',
          ),
        ),
      }),
    ),
    extendedEventParam: optional(
      3,
      list(
        'Further data of an event.',
        text('Interface 3.19.2 MonitorParameter.extendedEventParam.', { maxLength: 64, pattern: extensionPattern }),
        { maxItems: 32 },
      ),
    ),
    triggerParam: required(
      4,
      record('TriggerParam', 'When it is true. Interface 3.19.2 MonitorParameter.triggerParam.', {
        triggers: required(
          1,
          list('Interface 3.19.2 MonitorParameter.triggerParam.triggers.', triggerSchema, { minItems: 1, maxItems: 5 }),
        ),
        boolExp: required(2, text('Expression over their names (docs/monitors.md).', { maxLength: 512 })),
      }),
    ),
    context: optional(
      5,
      record('EventContext', 'Seconds of changes around the event that belong to it. An addition.', {
        before: optional(1, around('Before the event.')),
        after: optional(2, around('After the event.')),
      }),
    ),
    delivery: optional(
      6,
      text('JSON of the members for delivery: the rest of subscribeParam, and attributes.', { maxLength: 16_384 }),
    ),
  },
);
export type MonitorParameter = Static<typeof monitorParameterSchema>;
export type MonitorTrigger = MonitorParameter['triggerParam']['triggers'][number];
