/** The published models with their references resolved, to compare with schemas. */
import { factsOf, type Model } from '../interface/published/facts.ts';

export interface Published {
  /** Name of the enumeration, e.g. `BaseSafety.autoECallTriggering`. */
  readonly key: string;
  /** JSON type. A string with a published format is `string/date-time`, or `string/` and its pattern. */
  readonly type: string | undefined;
  readonly members: ReadonlyMap<string, { readonly required: boolean; readonly schema: Published }>;
  readonly items: Published | undefined;
  readonly values: readonly string[] | undefined;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
}

export function publishedEnumerations(release: string): Readonly<Record<string, readonly string[]>> {
  return factsOf(release).enumerations;
}

/** A model of a release such as `fleet-3.19.2`. */
export function published(release: string, name: string): Published {
  const { models } = factsOf(release);
  const resolve = (model: Model, key: string): Published => {
    const parts: Published[] = [];
    if (model.$ref !== undefined) parts.push(named(model.$ref.slice('#/$defs/'.length)));
    if (model.allOf !== undefined) {
      parts.push(
        merge(
          key,
          model.allOf.map((part) => resolve(part, `${key}.allOf`)),
        ),
      );
    }
    const { type, format, properties = {}, required = [], items } = model;
    parts.push({
      key,
      type: format === undefined ? type : `${type}/${format}`,
      members: new Map(
        Object.entries(properties).map(([member, schema]) => [
          member,
          { required: required.includes(member), schema: resolve(schema, `${key}.${member}`) },
        ]),
      ),
      items: items && resolve(items, key),
      values: model.enum,
      minimum: model.minimum,
      maximum: model.maximum,
    });
    return merge(key, parts);
  };
  const named = (key: string): Published => {
    const model = models[key];
    if (model === undefined) throw new Error(`${release} has no model ${key}`);
    return resolve(model, key);
  };
  return named(name);
}

function merge(key: string, parts: readonly Published[]): Published {
  const values = parts.find((part) => part.values !== undefined);
  return {
    key: values?.key ?? key,
    type: parts.find((part) => part.type !== undefined)?.type,
    members: new Map(parts.flatMap((part) => [...part.members])),
    items: parts.find((part) => part.items !== undefined)?.items,
    values: values?.values,
    minimum: parts.find((part) => part.minimum !== undefined)?.minimum,
    maximum: parts.find((part) => part.maximum !== undefined)?.maximum,
  };
}
