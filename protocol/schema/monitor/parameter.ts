/**
 * What a monitor is, in the one form in which it travels and is kept: MonitorParameter of both lines (3.19.2, 4.17.2),
 * spelled as published, with our additions. Checked by compile.ts, whose rules say more than a schema can.
 */
import { enumeration, list, optional, quantity, record, required, type Static, text } from '../fields.ts';
import { dataCodes, dataOperators, previousOperators } from './data.ts';
import { extensionPattern } from './extensions.ts';
import { recurrences, weekdays } from './schedule.ts';

const value = (description: string) => list(text({ description: 'One value.' }), { maxItems: 128, description });

const dataTriggerSchema = record(
  'DataTrigger',
  {
    data: required(
      1,
      enumeration(dataCodes, { description: 'Data of the trigger. Interface 3.19.2 DataTrigger.data.' }),
    ),
    op: required(2, enumeration(dataOperators, { description: 'How. Interface 3.19.2 DataTrigger.op.' })),
    value: optional(3, value('Values of the comparison. Interface 3.19.2 DataTrigger.value.')),
    previous: optional(
      4,
      record(
        'DataTriggerPrevious',
        {
          value: required(1, value('Interface 4.17.2 DataTrigger.previous.value.')),
          op: required(2, enumeration(previousOperators, { description: 'Interface 4.17.2 DataTrigger.previous.op.' })),
        },
        { description: 'Value before the change. Interface 4.17.2 DataTrigger.previous.' },
      ),
    ),
    hysteresis: optional(
      5,
      quantity({
        unit: 'that of the data',
        resolution: 0,
        minimum: 0,
        description: 'Distance that a number must come back before the trigger is false. An addition.',
      }),
    ),
    signal: optional(6, text({ description: 'Name of the custom signal, where `data` is `signal`. An addition.' })),
  },
  { description: 'Something of the car that is watched. Interface 3.19.2 DataTrigger.' },
);

const degrees = (bound: number, description: string) =>
  quantity({ unit: 'deg', resolution: 0, minimum: -bound, maximum: bound, description });

const zoneTriggerSchema = record(
  'ZoneTrigger',
  {
    transition: required(
      1,
      enumeration(['In', 'Out'], { description: 'Side of the circle. Interface 3.19.2 ZoneTrigger.transition.' }),
    ),
    place: required(
      2,
      record(
        'Circle',
        {
          radius: required(
            1,
            quantity({
              unit: 'km',
              resolution: 1,
              minimum: 1,
              maximum: 20_000,
              description: 'Interface 3.19.2 radius.',
            }),
          ),
          center: required(
            2,
            record(
              'Center',
              {
                longitude: required(1, degrees(180, 'WGS 84, positive to the east.')),
                latitude: required(2, degrees(90, 'WGS 84, positive to the north.')),
              },
              { description: 'Middle of the circle. Interface 3.19.2 ZoneTrigger.place.center.' },
            ),
          ),
        },
        { description: 'A circle on the earth. Interface 3.19.2 ZoneTrigger.place.' },
      ),
    ),
  },
  { description: 'Where the car is. Interface 3.19.2 ZoneTrigger.' },
);

const timeTriggerSchema = record(
  'TimeTrigger',
  {
    times: required(
      1,
      list(
        record(
          'TimeTriggerEntry',
          {
            recurrence: required(1, enumeration(recurrences, { description: 'Interface 3.19.2 Program.recurrence.' })),
            start: required(
              2,
              text({ maxLength: 64, description: 'None: RFC 3339; Daily: since midnight, e.g. PT14H30M.' }),
            ),
            duration: optional(
              3,
              text({ maxLength: 64, description: 'ISO 8601 duration; absent with None: for ever.' }),
            ),
            occurence: optional(
              4,
              record(
                'TimeOccurence',
                {
                  day: optional(
                    1,
                    list(enumeration(weekdays, { description: 'A day.' }), { maxItems: 7, description: 'Days.' }),
                  ),
                  week: optional(
                    2,
                    list(text({ maxLength: 16, description: 'w1, or w40-w50.' }), {
                      maxItems: 52,
                      description: 'Weeks of ISO 8601.',
                    }),
                  ),
                },
                { description: 'On which days; absent: on all. Interface 3.19.2 TimeTriggerEntry.occurence.' },
              ),
            ),
          },
          { description: 'One interval, or one of each day. Interface 3.19.2 TimeTriggerEntry.' },
        ),
        { minItems: 1, maxItems: 64, description: 'Any of them counts. Interface 3.19.2 TimeTrigger.times.' },
      ),
    ),
    timeZone: required(
      2,
      text({ maxLength: 64, description: 'IANA time zone. Interface 3.19.2 TimeTrigger.timeZone.' }),
    ),
  },
  { description: 'When the car is used. Interface 3.19.2 TimeTrigger.' },
);

export const triggerNamePattern = '^[a-zA-Z]+[._-]?[0-9]*$';

const triggerSchema = record(
  'MonitorTrigger',
  {
    name: required(
      1,
      text({ maxLength: 64, pattern: triggerNamePattern, description: 'Interface 3.19.2 MonitorTrigger.name.' }),
    ),
    data: optional(2, dataTriggerSchema),
    zone: optional(3, zoneTriggerSchema),
    time: optional(4, timeTriggerSchema),
    holdFor: optional(
      5,
      quantity({
        unit: 's',
        resolution: 0.001,
        minimum: 1,
        maximum: 86_400,
        description: 'Time for which the condition must hold. An addition.',
      }),
    ),
  },
  { description: 'Exactly one of data, zone, time. Interface 3.19.2 MonitorTrigger.' },
);

const around = (description: string) =>
  quantity({ unit: 's', resolution: 0.001, minimum: 0, maximum: 60, description });

/** What a monitor watches and tells. */
export const monitorParameterSchema = record(
  'MonitorParameter',
  {
    label: required(1, text({ description: 'Name for people. Interface 3.19.2 MonitorParameter.label.' })),
    subscribeParam: optional(
      2,
      record(
        'MonitorSubscribe',
        {
          refreshEvent: optional(
            1,
            quantity({
              unit: 's',
              resolution: 1,
              minimum: 60,
              maximum: 31_536_000,
              description:
                'Time after which a monitor that is still true sends its event again. Interface 3.19.2 refreshEvent.',
            }),
          ),
        },
        { description: 'Settings that the car needs. Interface 3.19.2 MonitorCallbackSubscribe.' },
      ),
    ),
    extendedEventParam: optional(
      3,
      list(
        text({
          maxLength: 64,
          pattern: extensionPattern,
          description: 'Interface 3.19.2 MonitorParameter.extendedEventParam.',
        }),
        { maxItems: 32, description: 'Further data of an event.' },
      ),
    ),
    triggerParam: required(
      4,
      record(
        'TriggerParam',
        {
          triggers: required(
            1,
            list(triggerSchema, {
              minItems: 1,
              maxItems: 5,
              description: 'Interface 3.19.2 MonitorParameter.triggerParam.triggers.',
            }),
          ),
          boolExp: required(
            2,
            text({ maxLength: 512, description: 'Expression over their names (docs/monitors.md).' }),
          ),
        },
        { description: 'When it is true. Interface 3.19.2 MonitorParameter.triggerParam.' },
      ),
    ),
    context: optional(
      5,
      record(
        'EventContext',
        { before: optional(1, around('Before the event.')), after: optional(2, around('After the event.')) },
        { description: 'Seconds of changes around the event that belong to it. An addition.' },
      ),
    ),
    delivery: optional(
      6,
      text({
        maxLength: 16_384,
        description: 'JSON of the members for delivery: the rest of subscribeParam, and attributes.',
      }),
    ),
  },
  { description: 'Rule and events of a monitor. Interface 3.19.2 and 4.17.2 MonitorParameter.' },
);
export type MonitorParameter = Static<typeof monitorParameterSchema>;
export type MonitorTrigger = MonitorParameter['triggerParam']['triggers'][number];
