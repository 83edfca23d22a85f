/** Links and pages. Interface 3.19.2 and 4.17.2 Link, Tab_Links, CollectionResult; draft-kelly-json-hal-08. */
import { array, boolean, integer, type JsonSchema, object, string } from './json.ts';

export const link = object('Link', 'A link. Interface 3.19.2 Link.', ['href'], {
  href: string('Target: a URI, or a URI template (RFC 6570) when `templated`.'),
  templated: boolean('The address has parameters in braces.'),
  type: string('Media type that is to be expected there.'),
  deprecation: string('Address of the reason why the link is deprecated.'),
  name: string('Distinguishes links of the same relation.'),
  title: string('Text for people.'),
  profile: string('Further data of the target.'),
  hreflang: string('Language of the target. RFC 5646.'),
});

/** Returns the links of a resource: `self`, and others that are present if their target exists. */
export function links(
  title: string,
  names: readonly string[],
  more: Readonly<Record<string, JsonSchema>> = {},
): JsonSchema {
  return object(title, 'Links to it and its neighbours.', ['self'], {
    self: link,
    ...Object.fromEntries(names.map((name) => [name, link])),
    ...more,
  });
}

/** Returns the links of a response to a write, which is not a resource and has no `self`. */
export function relations(title: string, names: readonly string[]): JsonSchema {
  return object(
    title,
    'Address of the resource of the request.',
    [],
    Object.fromEntries(names.map((name) => [name, link])),
  );
}

const pageLinks = object('Tab_Links', 'This page and its neighbours. Interface 3.19.2 Tab_Links.', ['self', 'first'], {
  self: link,
  first: link,
  next: link,
  prev: link,
  last: link,
});

/** Returns a page of entries, which are in `_embedded` under `name`. */
export function collection(title: string, name: string, items: JsonSchema, description: string): JsonSchema {
  return object(title, description, ['_links', 'total', 'totalPage', 'currentPage', '_embedded'], {
    _links: pageLinks,
    total: integer('Entries of the whole collection.', { minimum: 0 }),
    totalPage: integer('Pages of the whole collection.', { minimum: 0 }),
    currentPage: integer('Number of this page.', { minimum: 0 }),
    _embedded: object(`${title}Embedded`, 'Content of the page.', [name], {
      [name]: array(items, 'The entries of this page.'),
    }),
  });
}
